package server_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/console"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

const passkeyOrigin = "https://console.test"

// device keeps one passkey, as an authenticator does.
type device struct {
	t      *testing.T
	key    *ecdsa.PrivateKey
	id     []byte
	handle []byte
	count  uint32
	origin string
	flags  byte
}

const (
	present  = 0x01
	verified = 0x04
	attested = 0x40
)

func newDevice(t *testing.T) *device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	id := make([]byte, 32)
	_, _ = rand.Read(id)
	return &device{t: t, key: key, id: id, origin: passkeyOrigin, flags: present | verified}
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func (d *device) said(kind, challenge string) []byte {
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": d.origin, "crossOrigin": false})
	require.NoError(d.t, err)
	return text
}

func (d *device) data(flags byte, more ...byte) []byte {
	host := sha256.Sum256([]byte("console.test"))
	d.count++
	return append(binary.BigEndian.AppendUint32(append(host[:], flags), d.count), more...)
}

// make answers what the console asks of a device for a new passkey.
func (d *device) make(asked answer) string {
	d.t.Helper()
	ask := asked.json(d.t)["ask"].(map[string]any)
	handle, err := base64.RawURLEncoding.DecodeString(ask["user"].(map[string]any)["id"].(string))
	require.NoError(d.t, err)
	d.handle = handle
	public, err := d.key.PublicKey.Bytes()
	require.NoError(d.t, err)
	cose := append([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, public[1:33]...)
	cose = append(append(cose, 0x22, 0x58, 32), public[33:]...)
	more := append(make([]byte, 16), 0, byte(len(d.id)))
	data := d.data(d.flags|attested, append(append(more, d.id...), cose...)...)
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))

	return fmt.Sprintf(`{"id":%q,"rawId":%[1]q,"type":"public-key","clientExtensionResults":{},"response":{"clientDataJSON":%q,"attestationObject":%q,"transports":["internal"]}}`,
		b64(d.id), b64(d.said("webauthn.create", ask["challenge"].(string))), b64(append(object, data...)))
}

// sign answers what the console asks of a device that has a passkey.
func (d *device) sign(asked answer) string {
	d.t.Helper()
	said, data := d.said("webauthn.get", asked.json(d.t)["ask"].(map[string]any)["challenge"].(string)), d.data(d.flags)
	hash := sha256.Sum256(said)
	digest := sha256.Sum256(append(bytes.Clone(data), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, digest[:])
	require.NoError(d.t, err)
	return fmt.Sprintf(`{"id":%q,"rawId":%[1]q,"type":"public-key","clientExtensionResults":{},"response":{"clientDataJSON":%q,"authenticatorData":%q,"signature":%q,"userHandle":%q}}`,
		b64(d.id), b64(said), b64(data), b64(signature), b64(d.handle))
}

func (v *visitor) passkey(path, more string) answer {
	v.t.Helper()
	return v.post("/console/passkey/"+path, "{"+more+"}")
}

// add gives a user the passkey of a device.
func (v *visitor) add(d *device, name string) answer {
	v.t.Helper()
	return v.passkey("add", `"name":`+quote(name)+`,"answer":`+d.make(v.passkey("add", "")))
}

func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func openPasskeys(t *testing.T, url, at string) (*house, *user.Users) {
	t.Helper()
	var users *user.Users
	p := openConsoleWith(t, url, func(c *console.Options, o *server.Options) {
		users = user.New(o.Reader.(*store.Store), nil)
		c.Passkeys, c.URL = administration.UsersOf(o.Admin), at
	})
	return p, users
}

// TestPasskeys: a user who came by a link, and has no password, adds a passkey, signs in and
// proves who they are by it; each is audited, and an owner takes them off. Whatever of a
// signature does not hold opens nothing, and nothing opens twice.
func TestPasskeys(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p, _ := openPasskeys(t, url, passkeyOrigin)
		v := p.enter("sample.owner", loyalty.RoleOwner, true)
		d := newDevice(t)
		require.Equal(t, http.StatusBadRequest, v.add(d, "  ").status, "a passkey has a name")
		made := d.make(v.passkey("add", ""))
		require.Equal(t, http.StatusOK, v.passkey("add", `"name":"Laptop","answer":`+made).status)
		require.Equal(t, 190654, v.passkey("add", `"name":"Laptop","answer":`+made).fault(t).Code, "nothing is good twice")
		require.Equal(t, 190654, v.passkey("add", `"name":"Laptop","answer":{"id":"x"}`).fault(t).Code)
		stranger := newDevice(t)
		stranger.origin = "https://console.example"
		require.Equal(t, 190654, v.add(stranger, "Other").fault(t).Code, "made for another name")
		unseen := newDevice(t)
		unseen.flags = present
		require.Equal(t, 190654, v.add(unseen, "Other").fault(t).Code, "the device did not look who holds it")
		me := v.get(bridged + "/admin/me").json(t)["data"].(map[string]any)
		require.Equal(t, []any{json.Number("1"), false}, []any{me["passkeys"], me["password"]})

		other := &visitor{house: p}
		enter := func(answer string) answer { return other.passkey("enter", `"answer":`+answer) }
		signed := d.sign(other.passkey("enter", ""))
		require.Equal(t, http.StatusOK, enter(signed).status)
		require.Equal(t, http.StatusOK, other.get(bridged+"/admin/users").status)
		require.Equal(t, 190668, enter(signed).fault(t).Code, "a signature opens once")
		require.Equal(t, 190668, enter(d.sign(v.passkey("confirm", ""))).fault(t).Code, "what was asked as a proof opens nothing")
		require.Equal(t, 190668, enter(`{}`).fault(t).Code)
		for name, change := range map[string]func(*device){
			"another key":    func(d *device) { d.key = newDevice(t).key },
			"another origin": func(d *device) { d.origin = "https://console.example" },
			"not verified":   func(d *device) { d.flags = present },
			"another user":   func(d *device) { d.handle = make([]byte, 16) },
			"no user":        func(d *device) { d.handle = nil },
			"unknown":        func(d *device) { d.id = newDevice(t).id },
			"a copy":         func(d *device) { d.count = 0 },
		} {
			forged := *d
			change(&forged)
			require.Equal(t, 190668, enter(forged.sign(other.passkey("enter", ""))).fault(t).Code, name)
		}

		// A link proves nothing of who has a passkey, and lets no password be chosen past it.
		token := p.invite("sample.owner")
		linked := &visitor{house: p}
		require.Equal(t, http.StatusOK, linked.post("/console/enter", `{"token":"`+token+`"}`).status)
		require.Equal(t, 190641, linked.post("/console/self/password", `{"password":"correct horse"}`).fault(t).Code)
		require.Equal(t, 190641, linked.passkey("add", "").fault(t).Code)
		require.Equal(t, 190641, linked.passkey("remove", `"id":"`+b64(d.id)+`"`).fault(t).Code)
		require.Equal(t, http.StatusOK, linked.passkey("confirm", `"answer":`+d.sign(linked.passkey("confirm", ""))).status)
		require.Equal(t, http.StatusCreated, linked.post(bridged+"/admin/keys", `{"label":"Till"}`).status)

		require.Equal(t, http.StatusOK, linked.add(newDevice(t), "Phone").status)
		list := linked.passkey("list", "").json(t)["data"].([]any)
		require.Len(t, list, 2)
		first := list[0].(map[string]any)
		require.Equal(t, []any{"Laptop", b64(d.id)}, []any{first["name"], first["id"]})
		require.NotEmpty(t, first["used_at"])
		require.Equal(t, 190655, linked.passkey("remove", `"id":"AAAA"`).fault(t).Code)
		require.Equal(t, http.StatusOK, linked.passkey("remove", `"id":"`+b64(d.id)+`"`).status)
		require.Equal(t, http.StatusUnauthorized, other.get(bridged+"/admin/me").status, "the other sessions end with it")
		require.Equal(t, 190668, enter(d.sign(other.passkey("enter", ""))).fault(t).Code, "taken off")
		for n := range user.MostPasskeys - 1 {
			require.Equal(t, http.StatusOK, linked.add(newDevice(t), fmt.Sprint(n)).status)
		}

		require.Equal(t, 190656, linked.passkey("add", "").fault(t).Code)

		trail := p.get("/admin/audit?limit=100").body
		for _, action := range []string{"user.add_passkey", "user.remove_passkey"} {
			require.Contains(t, trail, action)
		}

		require.Contains(t, trail, `"key_id":"sample.owner"`)
		require.Equal(t, http.StatusOK, p.post("/admin/users/sample.owner/reset-second-factor", "").status)
		require.Contains(t, p.get("/admin/users/sample.owner").body, `"passkeys":0`)
		require.Equal(t, http.StatusUnauthorized, linked.get(bridged+"/admin/me").status, "its sessions end with them")
	})
}

// invite gives the token of a new link for a user.
func (p *house) invite(login string) string {
	p.t.Helper()
	done, err := administration.UsersOf(p.admin).Invite(p.t.Context(), administration.Call{KeyID: administration.CommandLine}, login, time.Hour)
	require.NoError(p.t, err)
	return done.Value.Token
}

// TestPasskeysOfOthers: who comes by the company's provider proves by a passkey who they are,
// and does not enter by it; who was shut out does neither.
func TestPasskeysOfOthers(t *testing.T) {
	p, users := openPasskeys(t, storetest.SQLite(t), passkeyOrigin)
	owners := administration.UsersOf(p.admin)
	u, err := owners.FromOutside(t.Context(), user.Outside{Issuer: "https://login.test", Subject: "7", Login: "sample.person", Role: loyalty.RoleOwner})
	require.NoError(t, err)
	p.user("second.owner", loyalty.RoleOwner, true)
	entry, err := users.EnterOutside(t.Context(), u, true, user.From{})
	require.NoError(t, err)
	v, d := &visitor{house: p, cookie: entry.Session, mark: "__Host-"}, newDevice(t) // the console has an https address
	require.Equal(t, http.StatusOK, v.add(d, "Laptop").status)
	require.Equal(t, http.StatusOK, v.passkey("confirm", `"answer":`+d.sign(v.passkey("confirm", ""))).status)
	other := &visitor{house: p}
	require.Equal(t, 190657, other.passkey("enter", `"answer":`+d.sign(other.passkey("enter", ""))).fault(t).Code)
	require.Empty(t, other.cookie)

	w, e := p.enter("third.owner", loyalty.RoleOwner, true), newDevice(t)
	require.Equal(t, http.StatusOK, w.add(e, "Laptop").status)
	require.Equal(t, http.StatusOK, p.post("/admin/users/third.owner/disable", "").status)
	require.Equal(t, 190668, other.passkey("enter", `"answer":`+e.sign(other.passkey("enter", ""))).fault(t).Code)
}

// TestPasskeyEndsTheCount: who signs in, or proves who they are, by a passkey has the next tries free again, as after a
// password.
func TestPasskeyEndsTheCount(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p, _ := openPasskeys(t, url, passkeyOrigin)
		v, d := p.enter("sample.owner", loyalty.RoleOwner, true), newDevice(t)
		require.Equal(t, http.StatusOK, v.post("/console/self/password", `{"password":"correct horse"}`).status)
		require.Equal(t, http.StatusOK, v.add(d, "Laptop").status)
		other := &visitor{house: p}
		fails := func() {
			t.Helper()
			for range 5 {
				require.Equal(t, 190661, other.post("/console/session", `{"login":"sample.owner","password":"wrong horse"}`).fault(t).Code)
			}
		}

		fails()
		require.Equal(t, http.StatusOK, other.passkey("enter", `"answer":`+d.sign(other.passkey("enter", ""))).status)
		fails()
		require.Equal(t, http.StatusOK, v.passkey("confirm", `"answer":`+d.sign(v.passkey("confirm", ""))).status)
		fails()
	})
}

// TestPasskeysNeedAName: under an IP address there is no name that a passkey could be bound to.
func TestPasskeysNeedAName(t *testing.T) {
	for _, at := range []string{"", "http://127.0.0.1:8080"} {
		p, _ := openPasskeys(t, storetest.SQLite(t), at)
		require.Equal(t, 190669, (&visitor{house: p}).passkey("enter", "").fault(t).Code, at)
	}
}

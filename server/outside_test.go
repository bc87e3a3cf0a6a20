package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/console"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

const (
	consoleURL   = "https://loyalty.test"
	clientID     = "the-console"
	clientSecret = "between us"
)

// issuer is an OpenID Connect provider: discovery, keys, and codes that are good once, for
// the verifier whose challenge they were asked with.
type issuer struct {
	*httptest.Server
	t      *testing.T
	rsa    *rsa.PrivateKey
	ec     *ecdsa.PrivateKey
	mu     sync.Mutex
	codes  map[string]url.Values    // what they were asked with
	person map[string]any           // who is signed in there
	info   map[string]any           // what it tells besides; nil: it has no such endpoint
	forge  func(map[string]any)     // changes the claims of a token
	sign   func(payload []byte) any // makes the token
	down   bool
}

func openIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t, codes: map[string]url.Values{}}
	var err error
	i.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	i.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	i.sign = i.signer(jose.RS256, i.rsa, "r")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		if i.down {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		about := map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"end_session_endpoint": i.URL + "/end", "id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"},
		}
		if i.info != nil {
			about["userinfo_endpoint"] = i.URL + "/userinfo"
		}
		i.json(w, about)
	})

	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.json(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
			{Key: i.rsa.Public(), KeyID: "r", Algorithm: "RS256", Use: "sig"}, {Key: i.ec.Public(), KeyID: "e", Algorithm: "ES256", Use: "sig"},
		}})
	})

	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer access" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		i.json(w, i.info)
	})

	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) json(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (i *issuer) signer(alg jose.SignatureAlgorithm, key any, id string) func([]byte) any {
	return func(payload []byte) any {
		s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
		require.NoError(i.t, err)
		signed, err := s.Sign(payload)
		require.NoError(i.t, err)
		text, err := signed.CompactSerialize()
		require.NoError(i.t, err)
		return text
	}
}

// authorize is what a person does at the provider: it gives the address they are sent back to.
func (i *issuer) authorize(at string) string {
	to, err := url.Parse(at)
	require.NoError(i.t, err)
	q := to.Query()
	require.Equal(i.t, []string{i.URL + "/authorize", "code", clientID, consoleURL + "/console/oidc/callback", "S256", "openid profile email"},
		[]string{to.Scheme + "://" + to.Host + to.Path, q.Get("response_type"), q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge_method"), q.Get("scope")})
	require.NotEmpty(i.t, q.Get("nonce"))
	code := rand.Text()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.codes[code] = q
	return "/console/oidc/callback?" + url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	asked, known := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	name, secret, _ := r.BasicAuth()
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || name != clientID || secret != url.QueryEscape(clientSecret) || base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		i.json(w, map[string]string{"error": "invalid_grant"})
		return
	}

	claims := map[string]any{
		"iss": i.URL, "aud": clientID, "nonce": asked.Get("nonce"), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	}
	if asked.Get("max_age") == "0" {
		claims["auth_time"] = time.Now().Unix()
	}

	for name, value := range i.person {
		claims[name] = value
	}

	if i.forge != nil {
		i.forge(claims)
	}

	payload, err := json.Marshal(claims)
	require.NoError(i.t, err)
	i.json(w, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": i.sign(payload)})
}

// openOutside is a console with a provider.
func openOutside(t *testing.T, at string, i *issuer) *house {
	t.Helper()
	mapping, err := user.ParseMapping([]string{"admins=owner+personal", "marketing=editor", "cn=till,ou=shops=operator"})
	require.NoError(t, err)
	return openConsoleWith(t, at, func(o *console.Options, house *server.Options) {
		o.URL = consoleURL
		o.Outside = &console.Outside{
			Issuer: i.URL, ClientID: clientID, ClientSecret: clientSecret, Scopes: []string{"profile", "email"}, Name: "Sample Inc.",
			Claim: "realm.groups", Mapping: mapping, Accounts: administration.UsersOf(house.Admin),
		}
	})
}

var refresh = regexp.MustCompile(`http-equiv="refresh" content="0;url=([^"]+)"`)

// through goes to the provider and back, as far as it gets.
func (v *visitor) through(i *issuer, purpose string) answer {
	v.t.Helper()
	a := v.get("/console/oidc/start?for=" + purpose)
	require.Equal(v.t, http.StatusFound, a.status, a.body)
	return v.back(i.authorize(a.header.Get("Location")))
}

// back follows the way back from the provider. The first step comes from another site, and
// so without the session.
func (v *visitor) back(at string) answer {
	v.t.Helper()
	session := v.cookie
	v.cookie = ""
	a := v.get(at)
	v.cookie = session
	require.Equal(v.t, http.StatusOK, a.status, a.body)
	next := refresh.FindStringSubmatch(a.body)
	require.NotNil(v.t, next, a.body)
	return v.get(strings.ReplaceAll(next[1], "&amp;", "&"))
}

// hidden finds what the form of a page sends.
var hidden = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)

// says answers yes to the question of a page.
func (v *visitor) says(page answer) answer {
	v.t.Helper()
	require.Equal(v.t, http.StatusOK, page.status, page.body)
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(page.body, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	return v.post("/console/oidc/link", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func (v *visitor) me() map[string]any {
	v.t.Helper()
	a := v.get(bridged + "/admin/me")
	require.Equal(v.t, http.StatusOK, a.status, a.body)
	return a.json(v.t)["data"].(map[string]any)
}

// TestOutside: who comes from the provider gets the role that their groups give, made the
// first time and brought up to date each time; no group, no entry; a login that is taken is
// not taken over, a user of ours may tie their account to theirs.
func TestOutside(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, at string) {
		i := openIssuer(t)
		p := openOutside(t, at, i)
		groups := func(names ...string) map[string]any { return map[string]any{"groups": names} }
		i.person = map[string]any{"sub": "1", "preferred_username": "Ada Lovelace", "name": "Ada", "email": "ada@shop.test", "realm": groups("staff", "marketing")}
		v := &visitor{house: p}
		a := v.through(i, "")
		require.Equal(t, []any{http.StatusSeeOther, "/console/"}, []any{a.status, a.header.Get("Location")}, a.body)
		me := v.me()
		require.Equal(t, []any{"ada-lovelace", "Ada", "editor", false, true, false}, []any{me["login"], me["name"], me["role"], me["personal"], me["outside"], me["password"]})
		require.Equal(t, 190653, v.post("/console/self/password", `{"password":"correct horse"}`).fault(t).Code)
		require.Nil(t, me["confirmed_until"], "the provider does not say when they proved who they are")

		i.sign = i.signer(jose.ES256, i.ec, "e")
		i.person["realm"] = groups("marketing", "admins")
		other := &visitor{house: p}
		require.Equal(t, http.StatusSeeOther, other.through(i, "").status)
		require.Equal(t, []any{"ada-lovelace", "owner", true}, []any{other.me()["login"], other.me()["role"], other.me()["personal"]})
		require.Equal(t, http.StatusUnauthorized, v.get(bridged+"/admin/me").status, "a session does not outlive a change of role")
		require.Contains(t, p.get("/admin/audit").body, `"user.create"`)

		require.Equal(t, 190641, other.post(bridged+"/admin/keys", `{"label":"x"}`).fault(t).Code)
		require.Contains(t, other.through(i, "confirm").body, "Your identity is confirmed")
		require.Equal(t, http.StatusCreated, other.post(bridged+"/admin/keys", `{"label":"x"}`).status)
		require.Equal(t, i.URL+"/end?client_id=the-console&post_logout_redirect_uri=https%3A%2F%2Floyalty.test%2Fconsole%2F",
			other.post("/console/session/end", "{}").json(t)["elsewhere"])

		i.person = map[string]any{"sub": "2", "preferred_username": "ada-lovelace", "realm": groups("cn=till,ou=shops")}
		second := &visitor{house: p}
		require.Equal(t, http.StatusSeeOther, second.through(i, "").status)
		require.Equal(t, []any{"ada-lovelace.2", "operator"}, []any{second.me()["login"], second.me()["role"]})
		i.person["realm"] = groups("staff")
		a = (&visitor{house: p}).through(i, "")
		require.Equal(t, http.StatusForbidden, a.status)
		note(t, a, 190674)

		own := p.enter("sample.owner", loyalty.RoleOwner, true)
		i.person = map[string]any{"sub": "2", "realm": groups("admins")}
		note(t, own.says(own.through(i, "link")), 190652)
		i.person["sub"] = "3"
		p.forgetProof(own)
		note(t, own.through(i, "link"), 190641)
		require.Equal(t, http.StatusOK, own.post("/console/self/password", `{"password":"correct horse"}`).status)
		require.Equal(t, http.StatusOK, own.post("/console/session/confirm", `{"password":"correct horse"}`).status)
		a = own.through(i, "link")
		require.Contains(t, a.body, "to the login sample.owner?")
		require.Equal(t, false, own.me()["outside"], "nothing is linked before the user says yes")
		a = own.says(a)
		require.Equal(t, "/console/#/self", a.header.Get("Location"), a.body)
		again := &visitor{house: p}
		require.Equal(t, http.StatusSeeOther, again.through(i, "").status)
		require.Equal(t, "sample.owner", again.me()["login"])
		require.Equal(t, http.StatusOK, p.post("/admin/users/sample.owner/disable", "").status)
		note(t, (&visitor{house: p}).through(i, ""), 190646)
	})
}

// note holds a page that tells of a failure.
func note(t *testing.T, a answer, code int) {
	t.Helper()
	require.Contains(t, a.header.Get("Content-Type"), "text/html", a.body)
	require.Contains(t, a.body, `role="alert"`)
	at := regexp.MustCompile(`/docs/errors/(\d+)`).FindStringSubmatch(a.body)
	require.NotNil(t, at, a.body)
	require.Equal(t, strconv.Itoa(code), at[1])
	answer{a.status, http.Header{}, `{"error":{"code":` + at[1] + `}}`}.note()
}

// TestOutsideTellsMore: a role that is not in the token is asked for, of the same person.
func TestOutsideTellsMore(t *testing.T) {
	i := openIssuer(t)
	i.info = map[string]any{"sub": "1", "name": "Ada", "realm": map[string]any{"groups": "admins"}}
	p := openOutside(t, storetest.SQLite(t), i)
	i.person = map[string]any{"sub": "1", "email": "ada@shop.test"}
	v := &visitor{house: p}
	require.Equal(t, http.StatusSeeOther, v.through(i, "").status)
	require.Equal(t, []any{"ada@shop.test", "Ada", "owner"}, []any{v.me()["login"], v.me()["name"], v.me()["role"]})
	i.info["sub"] = "2"
	note(t, (&visitor{house: p}).through(i, ""), 190673)
}

// TestOutsideIsDistrusted: nothing that can be forged, repeated or mixed up lets a person in.
func TestOutsideIsDistrusted(t *testing.T) {
	i := openIssuer(t)
	i.down = true
	p := openOutside(t, storetest.SQLite(t), i)
	note(t, (&visitor{house: p}).get("/console/oidc/start"), 190672)
	i.down = false
	require.Eventually(t, func() bool { return (&visitor{house: p}).get("/console/oidc/start").status == http.StatusFound }, time.Minute, time.Second)
	i.person = map[string]any{"sub": "1", "realm": map[string]any{"groups": []string{"admins"}}}
	good := i.sign
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	modulus, err := json.Marshal(jose.JSONWebKey{Key: i.rsa.Public()})
	require.NoError(t, err)
	claim := func(name string, value any) func(map[string]any) { return func(c map[string]any) { c[name] = value } }
	for name, try := range map[string]struct {
		forge func(map[string]any)
		sign  func([]byte) any
	}{
		"another nonce":         {forge: claim("nonce", "x")},
		"no nonce":              {forge: func(c map[string]any) { delete(c, "nonce") }},
		"another audience":      {forge: claim("aud", "shop")},
		"made for another":      {forge: func(c map[string]any) { c["aud"], c["azp"] = []string{clientID, "shop"}, "shop" }},
		"two audiences":         {forge: claim("aud", []string{clientID, "shop"})},
		"another issuer":        {forge: claim("iss", "https://elsewhere.test")},
		"over":                  {forge: claim("exp", time.Now().Add(-time.Minute).Unix())},
		"no subject":            {forge: claim("sub", "")},
		"a long subject":        {forge: claim("sub", strings.Repeat("x", 256))},
		"another key":           {sign: i.signer(jose.RS256, stranger, "r")},
		"the secret as key":     {sign: i.signer(jose.HS256, []byte(clientSecret+clientSecret+clientSecret+clientSecret), "r")},
		"the public key as key": {sign: i.signer(jose.HS256, modulus, "r")},
		"no signature": {sign: func(payload []byte) any {
			return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
		}},
		"no token":  {sign: func([]byte) any { return nil }},
		"not a JWT": {sign: func([]byte) any { return 5 }},
	} {
		t.Run(name, func(t *testing.T) {
			i.forge, i.sign = try.forge, good
			if try.sign != nil {
				i.sign = try.sign
			}
			v := &visitor{house: p}
			note(t, v.through(i, ""), 190673)
			require.Empty(t, v.cookie)
		})
	}

	i.forge, i.sign = nil, good

	v, other := &visitor{house: p}, &visitor{house: p}
	back := i.authorize(v.get("/console/oidc/start").header.Get("Location"))
	note(t, other.back(back), 190670) // another browser
	require.Equal(t, http.StatusSeeOther, v.back(back).status)
	note(t, v.back(back), 190670) // twice
	code := i.authorize(other.get("/console/oidc/start").header.Get("Location"))
	mine := v.get("/console/oidc/start")
	state, err := url.Parse(mine.header.Get("Location"))
	require.NoError(t, err)
	stolen, err := url.ParseQuery(strings.TrimPrefix(code, "/console/oidc/callback?"))
	require.NoError(t, err)
	stolen.Set("state", state.Query().Get("state"))
	note(t, v.back("/console/oidc/callback?"+stolen.Encode()), 190673) // a code that another browser asked for
	at := v.get("/console/oidc/start").header.Get("Location")
	state, err = url.Parse(at)
	require.NoError(t, err)
	a := v.back("/console/oidc/callback?error=access_denied%3Cb%3E&state=" + state.Query().Get("state"))
	note(t, a, 190671)
	require.Contains(t, a.body, "access_denied")
	require.NotContains(t, a.body, "<b>")
	at = v.get("/console/oidc/start").header.Get("Location")
	note(t, v.back(i.authorize(at)+"&iss=https://elsewhere.test"), 190673)

	i.forge = claim("auth_time", time.Now().Add(-time.Hour).Unix())
	note(t, v.through(i, "confirm"), 190673) // an old proof
	i.forge = claim("sub", "9")
	note(t, v.through(i, "confirm"), 190661) // another person's proof
	i.forge = claim("realm", map[string]any{"groups": []string{"marketing"}})
	note(t, (&visitor{house: p}).through(i, ""), 190645) // the only owner
}

// TestPlantedWay: a way to the provider that an attacker began, planted in a browser in which an owner is
// signed in, links nothing; and a link that the owner began shows whose account it is before it is made.
func TestPlantedWay(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, at string) {
		i := openIssuer(t)
		p := openOutside(t, at, i)
		owner, attacker := p.enter("sample.owner", loyalty.RoleOwner, true), p.enter("sample.viewer", loyalty.RoleViewer, false)
		i.person = map[string]any{"sub": "evil", "name": "Eve", "email": "eve@shop.test", "preferred_username": "eve", "realm": map[string]any{"groups": []string{"admins"}}}
		linked := func(v *visitor) any { return v.me()["outside"] }

		note(t, (&visitor{house: p}).get("/console/oidc/start?for=link"), 190660) // no user is signed in
		for _, purpose := range []string{"link", "confirm"} {
			back := i.authorize(attacker.get("/console/oidc/start?for=" + purpose).header.Get("Location"))
			owner.flow = attacker.flow
			note(t, owner.back(back), 190670) // the state is of another session
		}

		back := i.authorize(attacker.get("/console/oidc/start").header.Get("Location"))
		owner.flow = strings.Replace(attacker.flow, "enter.", "link.", 1)
		note(t, owner.back(back), 190670) // it was begun to sign in
		require.Equal(t, false, linked(owner))

		page := owner.through(i, "link")
		require.Contains(t, page.body, "Eve · eve@shop.test · eve")
		require.Equal(t, false, linked(owner))
		note(t, attacker.says(page), 190670) // the question was put to another session
		forged := page
		forged.body = strings.ReplaceAll(page.body, "Eve", "Ada")
		note(t, owner.says(forged), 190670) // it showed another name
		require.Equal(t, http.StatusForbidden, owner.post("/console/oidc/link", "subject=evil", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site").status)
		require.Equal(t, http.StatusSeeOther, owner.says(page).status)
		require.Equal(t, true, linked(owner))
		note(t, owner.says(page), 190670) // a yes is good once

		// a state is good once, whichever cookie comes with it again
		v := &visitor{house: p}
		back = i.authorize(v.get("/console/oidc/start").header.Get("Location"))
		kept := v.flow
		require.Equal(t, http.StatusSeeOther, v.back(back).status)
		v.flow = kept
		note(t, v.back(back), 190670)
	})
}

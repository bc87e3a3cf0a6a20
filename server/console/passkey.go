package console

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// Passkeys stores the passkeys of users, with an entry in the audit trail.
type Passkeys interface {
	AddPasskey(ctx context.Context, id loyalty.ID, k loyalty.Passkey) error
	RemovePasskey(ctx context.Context, id loyalty.ID, passkey []byte) error
}

// localHost is the one host name for passkeys if the console has no address: browsers treat it as this machine, and as
// no other.
const localHost = "localhost"

// passkeyHost is the host name that passkeys are bound to; empty if there can be none, because the console's address is
// an IP address.
func (o Options) passkeyHost() string {
	if o.Passkeys == nil {
		return ""
	}
	if o.URL == "" {
		return localHost
	}

	at, err := url.Parse(o.URL)
	if err != nil {
		return ""
	}
	if _, err := netip.ParseAddr(at.Hostname()); err == nil {
		return ""
	}

	return at.Hostname()
}

// party is the console as passkeys know it. The host of the request counts only on this machine.
func (c *console) party(r *http.Request) (user.Party, error) {
	host := c.passkeyHost()
	if c.URL != "" && host != "" {
		return user.Party{Host: host, Origin: c.URL}, nil
	}

	asked, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		asked = r.Host
	}

	source, secure := c.Peer(r)
	if host == "" || asked != host || !source.IsLoopback() {
		return user.Party{}, elsewhere{host}
	}

	scheme := "http://"
	if secure {
		scheme = "https://"
	}

	return user.Party{Host: host, Origin: scheme + r.Host}, nil
}

// elsewhere is the error of a request for a passkey under another host name.
type elsewhere struct{ host string }

func (e elsewhere) Error() string { return "passkeys do not work under this name" }

// passkey is an endpoint of passkeys: a body without an answer of a device asks for a challenge.
func (c *console) passkey(
	do func(http.ResponseWriter, *http.Request, user.Party, passkeyBody) error,
) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !c.closed(r) {
			return errInsecure
		}

		at, err := c.party(r)
		if err != nil {
			return err
		}

		var in passkeyBody
		if err := read(w, r, &in); err != nil {
			return err
		}
		if err := c.slow(w, r); err != nil {
			return err
		}

		return do(w, r, at, in)
	}
}

type passkeyBody struct {
	Name   string          `json:"name"`
	Answer json.RawMessage `json:"answer"` // of the device, as browsers encode it
}

func (b passkeyBody) asks() bool { return len(b.Answer) == 0 || string(b.Answer) == "null" }

// asked answers the challenge for a device.
func asked(w http.ResponseWriter, options any, err error) error {
	if err == nil {
		answer(w, http.StatusOK, map[string]any{"ask": options})
	}
	return err
}

// passkeyEnter begins a session by a passkey.
func (c *console) passkeyEnter(w http.ResponseWriter, r *http.Request, at user.Party, in passkeyBody) error {
	if in.asks() {
		options, err := c.Users.AskPasskey(r.Context(), nil, at)
		return asked(w, options, err)
	}
	e, err := c.Users.EnterByPasskey(r.Context(), at, in.Answer, c.from(r))
	if err != nil {
		return err
	}
	return c.begin(w, r, e)
}

// passkeyConfirm accepts a passkey as a fresh proof of identity.
func (c *console) passkeyConfirm(w http.ResponseWriter, r *http.Request, at user.Party, in passkeyBody) error {
	if in.asks() {
		me, err := c.self(r)
		if err != nil {
			return err
		}
		options, err := c.Users.AskPasskey(r.Context(), me, at)
		return asked(w, options, err)
	}
	if err := c.Users.ConfirmByPasskey(r.Context(), c.token(r), at, in.Answer); err != nil {
		return err
	}
	answer(w, http.StatusOK, struct{}{})
	return nil
}

// passkeyAdd adds a passkey of the user's device.
func (c *console) passkeyAdd(w http.ResponseWriter, r *http.Request, at user.Party, in passkeyBody) error {
	me, err := c.self(r)
	if err != nil {
		return err
	}

	if in.asks() {
		options, err := c.Users.NewPasskey(r.Context(), me, at)
		return asked(w, options, err)
	}

	made, err := c.Users.MadePasskey(r.Context(), me, at, in.Answer)
	if err != nil {
		return err
	}

	made.Name = in.Name
	if err := c.Passkeys.AddPasskey(r.Context(), me.ID, made); err != nil {
		return err
	}

	answer(w, http.StatusOK, passkeyOf(made))
	return nil
}

type passkeyAnswer struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Copied    bool       `json:"copied"`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"`
}

func passkeyOf(k loyalty.Passkey) passkeyAnswer {
	out := passkeyAnswer{base64.RawURLEncoding.EncodeToString(k.ID), k.Name, k.Copied, k.CreatedAt, nil}
	if !k.UsedAt.IsZero() {
		out.UsedAt = &k.UsedAt
	}
	return out
}

// passkeyList lists the user's passkeys.
func (c *console) passkeyList(w http.ResponseWriter, r *http.Request) error {
	me, err := c.self(r)
	if err != nil {
		return err
	}
	list := make([]passkeyAnswer, len(me.Passkeys))
	for i, k := range me.Passkeys {
		list[i] = passkeyOf(k)
	}
	answer(w, http.StatusOK, map[string]any{"data": list})
	return nil
}

// passkeyRemove removes a passkey, also under another host name. All sessions except this one end, because another
// person may have the device.
func (c *console) passkeyRemove(w http.ResponseWriter, r *http.Request) error {
	var in struct{ ID string }
	if err := read(w, r, &in); err != nil {
		return err
	}

	me, err := c.self(r)
	if err != nil {
		return err
	}

	id, err := base64.RawURLEncoding.DecodeString(in.ID)
	if err != nil {
		return loyalty.ErrPasskeyUnknown
	}
	if err := c.Users.MayRemovePasskey(me); err != nil {
		return err
	}
	if err := c.Passkeys.RemovePasskey(r.Context(), me.ID, id); err != nil {
		return err
	}
	if err := c.Users.EndOthers(r.Context(), me, c.token(r)); err != nil {
		return err
	}
	if err := c.remember(w, r, me); err != nil {
		return err
	}

	answer(w, http.StatusOK, struct{}{})
	return nil
}

package console

import (
	"errors"
	"net/http"
	"net/netip"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// attemptsPerMinute bounds the attempts of one address to sign in or to confirm.
const attemptsPerMinute = 20

// slow counts an attempt for its address. A browser that has signed in before has a count of its own, so that strangers
// behind the same address cannot use up its attempts.
func (c *console) slow(w http.ResponseWriter, r *http.Request) error {
	source, _ := c.Peer(r)
	browser := c.cookie(r, browserCookie)
	known, err := c.Users.KnownBrowser(r.Context(), browser)
	if err != nil {
		return err
	}

	counted := "console " + network(source)
	if known {
		counted = "console browser " + browser
	}

	verdict, err := c.Limiter.Allow(r.Context(), counted, attemptsPerMinute, 1)
	if err != nil || verdict.Allowed {
		return err
	}

	verdict.SetHeaders(w.Header())
	return errSlow
}

// network is the key that attempts are counted by: an address, or the network of an IPv6 caller.
func network(a netip.Addr) string {
	if p, err := a.Prefix(64); err == nil && a.Is6() {
		return p.String()
	}
	return a.String()
}

func (c *console) from(r *http.Request) user.From {
	source, _ := c.Peer(r)
	return user.From{Address: source.String(), Agent: r.UserAgent(), Browser: c.cookie(r, browserCookie)}
}

// begin answers a new session.
func (c *console) begin(w http.ResponseWriter, r *http.Request, e user.Entry) error {
	if err := c.replace(w, r, e); err != nil {
		return err
	}
	answer(w, http.StatusOK, struct{}{})
	return nil
}

// replace gives the browser the cookies of a new session. The session before it, if any, ends.
func (c *console) replace(w http.ResponseWriter, r *http.Request, e user.Entry) error {
	if old := c.token(r); old != "" {
		if err := c.Users.End(r.Context(), old); err != nil {
			return err
		}
	}
	c.setCookie(w, r, sessionCookie, e.Session)
	c.setCookie(w, r, browserCookie, e.Browser)
	return nil
}

// remember marks the browser as known again after its user has changed a password or factor.
func (c *console) remember(w http.ResponseWriter, r *http.Request, me *loyalty.Caller) error {
	token, err := c.Users.Remember(r.Context(), me)
	if err == nil {
		c.setCookie(w, r, browserCookie, token)
	}
	return err
}

// signIn begins a session by login, password and, if the user has one, a second factor.
func (c *console) signIn(w http.ResponseWriter, r *http.Request) error {
	var in struct{ Login, Password, Code string }
	if !c.closed(r) {
		return errInsecure
	}
	if err := read(w, r, &in); err != nil {
		return err
	}
	if err := c.slow(w, r); err != nil {
		return err
	}

	e, err := c.Users.SignIn(r.Context(), in.Login, in.Password, in.Code, c.from(r))
	if err != nil {
		return err
	}

	return c.begin(w, r, e)
}

// enter begins a session by a one-time link. In a browser with a signed-in user the session stays and the link remains
// valid: a stranger's link must not replace the reader's account with the stranger's.
func (c *console) enter(w http.ResponseWriter, r *http.Request) error {
	var in struct{ Token string }
	if !c.closed(r) {
		return errInsecure
	}
	if err := read(w, r, &in); err != nil {
		return err
	}
	if err := c.slow(w, r); err != nil {
		return err
	}

	switch me, err := c.self(r); {
	case err == nil:
		return signedIn{me.Login}
	case !errors.Is(err, user.ErrNoSession):
		return err
	}

	e, err := c.Users.Enter(r.Context(), in.Token, c.from(r))
	if err != nil {
		return err
	}

	return c.begin(w, r, e)
}

// signOut ends the session, or all sessions of the user.
func (c *console) signOut(w http.ResponseWriter, r *http.Request) error {
	var in struct{ Everywhere bool }
	if err := read(w, r, &in); err != nil {
		return err
	}

	end := c.Users.End
	if in.Everywhere {
		end = c.Users.EndAll
	}

	token := c.token(r)
	out := map[string]string{}
	if elsewhere := c.elsewhere(r, token); elsewhere != "" {
		out["elsewhere"] = elsewhere
	}

	if token != "" {
		if err := end(r.Context(), token); err != nil {
			return err
		}
	}

	c.setCookie(w, r, sessionCookie, "")
	if in.Everywhere {
		c.setCookie(w, r, browserCookie, "")
	}

	answer(w, http.StatusOK, out)
	return nil
}

// confirm accepts a fresh proof of identity.
func (c *console) confirm(w http.ResponseWriter, r *http.Request) error {
	var in struct{ Password, Code string }
	if err := read(w, r, &in); err != nil {
		return err
	}
	if err := c.slow(w, r); err != nil {
		return err
	}
	if err := c.Users.Confirm(r.Context(), c.token(r), in.Password, in.Code); err != nil {
		return err
	}
	answer(w, http.StatusOK, struct{}{})
	return nil
}

// self finds the user of a request to the console's own endpoints.
func (c *console) self(r *http.Request) (*loyalty.Caller, error) {
	return c.Users.Session(r.Context(), c.token(r))
}

// password sets the user's new password.
func (c *console) password(w http.ResponseWriter, r *http.Request) error {
	var in struct{ Password string }
	if err := read(w, r, &in); err != nil {
		return err
	}

	me, err := c.self(r)
	if err != nil {
		return err
	}

	hash, err := c.Users.NewPassword(r.Context(), me, in.Password)
	if err != nil {
		return err
	}
	if err := c.Proofs.SetPassword(r.Context(), me.ID, hash); err != nil {
		return err
	}
	// Other sessions end: they may have been opened with the old password.
	if err := c.Users.EndOthers(r.Context(), me, c.token(r)); err != nil {
		return err
	}
	if err := c.remember(w, r, me); err != nil {
		return err
	}

	answer(w, http.StatusOK, struct{}{})
	return nil
}

// secondFactor shows a new secret, or with a code of it puts it to use and shows the recovery codes.
func (c *console) secondFactor(w http.ResponseWriter, r *http.Request) error {
	var in struct{ Secret, Code string }
	if err := read(w, r, &in); err != nil {
		return err
	}

	me, err := c.self(r)
	if err != nil {
		return err
	}

	if in.Secret == "" {
		enrolment, err := c.Users.NewSecondFactor(me)
		if err != nil {
			return err
		}
		shown, err := drawn(enrolment.URI)
		if err != nil {
			return err
		}
		answer(w, http.StatusOK, struct {
			user.Enrolment
			Picture picture `json:"picture"`
		}{enrolment, shown})
		return nil
	}

	factor, codes, err := c.Users.ProvedSecondFactor(me, in.Secret, in.Code)
	if err != nil {
		return err
	}
	if err := c.Proofs.SetSecondFactor(r.Context(), me.ID, factor); err != nil {
		return err
	}
	// Sessions that began without the factor end.
	if err := c.Users.EndOthers(r.Context(), me, c.token(r)); err != nil {
		return err
	}
	if err := c.remember(w, r, me); err != nil {
		return err
	}

	answer(w, http.StatusOK, map[string][]string{"recovery": codes})
	return nil
}

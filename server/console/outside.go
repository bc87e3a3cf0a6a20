package console

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// The purposes of a visit to the provider.
const (
	forEntry   = "enter"
	forLink    = "link"    // to link the account there with the user who is signed in here
	forConfirm = "confirm" // to prove the user's identity again
)

// forTie is an account that the provider vouched for, waiting for the user to confirm the link.
const forTie = "tie"

// flow is one visit to the provider and back. It is stored in a cookie of the browser that began it, so that a flow of
// another browser is useless. The database has a hash of its state with its session, so that it can be used once, on
// any node, and in that session alone.
type flow struct{ purpose, state, nonce, verifier string }

// wayLife is how long a visit to the provider may take.
const wayLife = 10 * time.Minute

func newFlow(purpose string) flow {
	if purpose != forLink && purpose != forConfirm {
		purpose = forEntry
	}
	return flow{purpose, rand.Text(), rand.Text(), oauth2.GenerateVerifier()}
}

func (f flow) text() string {
	return strings.Join([]string{f.purpose, f.state, f.nonce, f.verifier}, ".")
}

func (c *console) flow(r *http.Request) (f flow, ok bool) {
	parts := strings.Split(c.cookie(r, wayCookie), ".")
	if len(parts) != 4 || slices.Contains(parts, "") {
		return f, false
	}
	return flow{parts[0], parts[1], parts[2], parts[3]}, true
}

// sessionFor is the session that a visit is bound to; a sign-in has none yet.
func (c *console) sessionFor(r *http.Request, purpose string) string {
	if purpose == forEntry {
		return ""
	}
	return c.token(r)
}

// outsideStart sends the browser to the provider.
func (c *console) outsideStart(w http.ResponseWriter, r *http.Request) error {
	if !c.closed(r) {
		return errInsecure
	}
	if err := c.slow(w, r); err != nil {
		return err
	}

	f := newFlow(r.URL.Query().Get("for"))
	if f.purpose != forEntry {
		if _, err := c.self(r); err != nil {
			return err
		}
	}

	e, err := c.provider.find(r.Context())
	if err != nil {
		return away{err}
	}

	with := []oauth2.AuthCodeOption{oidc.Nonce(f.nonce), oauth2.S256ChallengeOption(f.verifier)}
	if f.purpose == forConfirm {
		with = append(with, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	if err := c.Users.AskOutside(r.Context(), f.purpose, c.sessionFor(r, f.purpose), f.state); err != nil {
		return err
	}

	c.setCookie(w, r, wayCookie, f.text())
	http.Redirect(w, r, e.oauth.AuthCodeURL(f.state, with...), http.StatusFound)
	return nil
}

// outsideBack takes the browser back. The request comes from another site, so it lacks the session's cookie. The answer
// is a page of ours that continues, and its request has the cookie.
func (c *console) outsideBack(w http.ResponseWriter, r *http.Request) error {
	sent, kept := r.URL.Query(), url.Values{}
	for _, name := range []string{"code", "state", "error", "iss"} {
		if value := sent.Get(name); value != "" {
			kept.Set(name, value)
		}
	}
	c.page(w, r, http.StatusOK, notice{Next: root + "oidc/finish?" + kept.Encode()})
	return nil
}

// outsideFinish finishes what outsideStart began.
func (c *console) outsideFinish(w http.ResponseWriter, r *http.Request) error {
	if err := c.slow(w, r); err != nil {
		return err
	}

	f, ok := c.flow(r)
	sent := r.URL.Query()
	if !ok || subtle.ConstantTimeCompare([]byte(f.state), []byte(sent.Get("state"))) != 1 {
		return errOutsideState
	}

	c.setCookie(w, r, wayCookie, "")
	good, err := c.Users.TakeOutside(r.Context(), f.purpose, c.sessionFor(r, f.purpose), f.state)
	switch {
	case err != nil:
		return err
	case !good: // used, expired, or begun by another session
		return errOutsideState
	}

	if iss := sent.Get("iss"); iss != "" && iss != c.provider.Issuer {
		return distrust{errors.New("the answer comes from another provider")}
	}
	if said := sent.Get("error"); said != "" {
		return saidNo{said}
	}

	who, err := c.provider.redeem(r.Context(), sent.Get("code"), f)
	if err != nil {
		return err
	}

	fresh := !who.proved.IsZero() && time.Since(who.proved) < user.ConfirmLife && time.Until(who.proved) < time.Minute
	switch f.purpose {
	case forConfirm:
		return c.outsideConfirm(w, r, who, fresh)
	case forLink:
		return c.outsideLink(w, r, who)
	}

	found, err := c.Outside.Accounts.FromOutside(r.Context(), who.Outside)
	if err != nil {
		return err
	}

	e, err := c.Users.EnterOutside(r.Context(), found, fresh, c.from(r))
	if err != nil {
		return err
	}
	if err := c.replace(w, r, e); err != nil {
		return err
	}

	http.Redirect(w, r, root, http.StatusSeeOther)
	return nil
}

func (c *console) outsideConfirm(w http.ResponseWriter, r *http.Request, who vouched, fresh bool) error {
	if !fresh {
		return distrust{errors.New("the provider does not confirm that the user has just signed in (auth_time)")}
	}
	if err := c.Users.ConfirmOutside(r.Context(), c.token(r), who.Outside); err != nil {
		return err
	}
	c.page(w, r, http.StatusOK, notice{Title: "console_outside_confirmed"})
	return nil
}

// outsideLink shows the account that the provider vouched for and asks whether it is the user's: the user may be signed
// in there with another account without knowing it.
func (c *console) outsideLink(w http.ResponseWriter, r *http.Request, who vouched) error {
	me, err := c.self(r)
	if err != nil {
		return err
	}
	if err := c.Users.MayLink(me); err != nil {
		return err
	}
	t := tie{Subject: who.Subject, Account: accountOf(who), Login: me.Login}
	if err := c.Users.AskOutside(r.Context(), forTie, c.token(r), t.text()); err != nil {
		return err
	}
	c.page(w, r, http.StatusOK, notice{Title: "console_outside_link", Tie: &t})
	return nil
}

// tie is the account at the provider that is to be linked, as the question shows it.
type tie struct {
	Subject, Account, Login string

	Yes string // the text of the button
}

func (t tie) text() string { return t.Subject + "\n" + t.Account }

// accountOf names an account at the provider by all names that it has.
func accountOf(who vouched) string {
	var names []string
	for _, name := range []string{who.Name, who.Email, who.Login} {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " · ")
}

// outsideTie links the account after the user has confirmed. The form is bound to this session and to the account that
// it shows.
func (c *console) outsideTie(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := c.slow(w, r); err != nil {
		return err
	}

	me, err := c.self(r)
	if err != nil {
		return err
	}
	if err := c.Users.MayLink(me); err != nil {
		return err
	}

	t := tie{Subject: r.PostFormValue("subject"), Account: r.PostFormValue("account")}
	good, err := c.Users.TakeOutside(r.Context(), forTie, c.token(r), t.text())
	switch {
	case err != nil:
		return err
	case !good:
		return errOutsideState
	}

	if err := c.Outside.Accounts.LinkOutside(r.Context(), me.ID,
		user.Outside{Issuer: c.provider.Issuer, Subject: t.Subject}); err != nil {
		return err
	}

	http.Redirect(w, r, root+"#/self", http.StatusSeeOther)
	return nil
}

// elsewhere is the address where a user who came from the provider signs out there; empty: none.
func (c *console) elsewhere(r *http.Request, token string) string {
	if c.provider == nil || token == "" {
		return ""
	}

	me, err := c.Users.Session(r.Context(), token)
	if err != nil || me.Issuer != c.provider.Issuer {
		return ""
	}

	e := c.provider.known() // signing out does not wait for a provider
	if e == nil || e.end == "" {
		return ""
	}

	to, err := url.Parse(e.end)
	if err != nil {
		return ""
	}

	q := to.Query()
	q.Set("client_id", c.provider.ClientID)
	q.Set("post_logout_redirect_uri", c.URL+root)
	to.RawQuery = q.Encode()
	return to.String()
}

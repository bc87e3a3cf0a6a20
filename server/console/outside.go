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

// What people go to the provider for.
const (
	forEntry   = "enter"
	forLink    = "link"    // to tie the account there to the user who is signed in here
	forConfirm = "confirm" // to prove again who they are
)

// flow is one way to the provider and back. It stands in a cookie of the browser that began
// it, so that what another browser began ends nowhere.
type flow struct{ purpose, state, nonce, verifier string }

// flowLife is how long one may take at the provider.
const flowLife = 10 * time.Minute

func newFlow(purpose string) flow {
	if purpose != forLink && purpose != forConfirm {
		purpose = forEntry
	}
	return flow{purpose, rand.Text(), rand.Text(), oauth2.GenerateVerifier()}
}

func (c *console) setFlow(w http.ResponseWriter, r *http.Request, f *flow) {
	name, secure := c.cookieOf(r)
	cookie := &http.Cookie{Name: name + "-oidc", Path: root + "oidc", MaxAge: -1, HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode}
	if f != nil {
		cookie.Value, cookie.MaxAge = strings.Join([]string{f.purpose, f.state, f.nonce, f.verifier}, "."), int(flowLife.Seconds())
	}
	http.SetCookie(w, cookie)
}

func (c *console) flow(r *http.Request) (f flow, ok bool) {
	name, _ := c.cookieOf(r)
	cookie, err := r.Cookie(name + "-oidc")
	if err != nil || name == "" {
		return f, false
	}
	parts := strings.Split(cookie.Value, ".")
	if len(parts) != 4 || slices.Contains(parts, "") {
		return f, false
	}
	return flow{parts[0], parts[1], parts[2], parts[3]}, true
}

// outsideStart sends the browser to the provider.
func (c *console) outsideStart(w http.ResponseWriter, r *http.Request) error {
	if name, _ := c.cookieOf(r); name == "" {
		return errInsecure
	}
	e, err := c.provider.find(r.Context())
	if err != nil {
		return away{err}
	}
	f := newFlow(r.URL.Query().Get("for"))
	with := []oauth2.AuthCodeOption{oidc.Nonce(f.nonce), oauth2.S256ChallengeOption(f.verifier)}
	if f.purpose == forConfirm {
		with = append(with, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	c.setFlow(w, r, &f)
	http.Redirect(w, r, e.oauth.AuthCodeURL(f.state, with...), http.StatusFound)
	return nil
}

// outsideBack takes the browser back. It comes from another site, and so without the
// session's cookie: a page of ours goes on from here, and what it asks for has the cookie.
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

// outsideFinish ends what outsideStart began.
func (c *console) outsideFinish(w http.ResponseWriter, r *http.Request) error {
	if err := c.slow(w, r); err != nil {
		return err
	}
	f, ok := c.flow(r)
	sent := r.URL.Query()
	if !ok || subtle.ConstantTimeCompare([]byte(f.state), []byte(sent.Get("state"))) != 1 {
		return errOutsideState
	}
	c.setFlow(w, r, nil) // it is good once
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
	token, err := c.Users.EnterOutside(r.Context(), found, fresh, c.from(r))
	if err != nil {
		return err
	}
	if err := c.replace(w, r, token); err != nil {
		return err
	}
	http.Redirect(w, r, root, http.StatusSeeOther)
	return nil
}

func (c *console) outsideConfirm(w http.ResponseWriter, r *http.Request, who vouched, fresh bool) error {
	if !fresh {
		return distrust{errors.New("the provider does not say that the user has just proved who they are (auth_time)")}
	}
	if err := c.Users.ConfirmOutside(r.Context(), c.token(r), who.Outside); err != nil {
		return err
	}
	c.page(w, r, http.StatusOK, notice{Title: "console_outside_confirmed"})
	return nil
}

func (c *console) outsideLink(w http.ResponseWriter, r *http.Request, who vouched) error {
	me, err := c.self(r)
	if err != nil {
		return err
	}
	if err := c.Users.MayLink(me); err != nil {
		return err
	}
	if err := c.Outside.Accounts.LinkOutside(r.Context(), me.ID, who.Outside); err != nil {
		return err
	}
	http.Redirect(w, r, root+"#/self", http.StatusSeeOther)
	return nil
}

// elsewhere is where a user who came from the provider signs out of it too; empty: nowhere.
func (c *console) elsewhere(r *http.Request, token string) string {
	if c.provider == nil || token == "" {
		return ""
	}
	me, err := c.Users.Session(r.Context(), token)
	if err != nil || me.Issuer != c.provider.Issuer {
		return ""
	}
	e := c.provider.known() // signing out waits for no provider
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

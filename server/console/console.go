// Package console serves the console: it signs users in, gives their browsers the pages, and passes the pages' requests
// on to the API unchanged. The console can do nothing that the API cannot.
package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
)

// Options are the parts of a console.
type Options struct {
	Users     *user.Users
	Catalogue *i18n.Catalogue
	Limiter   ratelimit.Limiter // counts sign-ins by address
	Logger    *slog.Logger
	// API answers the operations of the contract.
	API http.Handler
	// Peer returns the address of the client, and whether the connection is encrypted.
	Peer func(*http.Request) (source netip.Addr, secure bool)
	// URL is the address of the console for its users, without a path; empty: any.
	URL string
	// Outside is the sign-in by the company's provider; nil: none.
	Outside *Outside
	// Proofs stores the passwords and second factors of users.
	Proofs Proofs
	// Passkeys stores passkeys; nil: there are none.
	Passkeys Passkeys
	// Images are the hosts whose pictures the console shows (cdn.example.com, *.example.com); a picture on another host
	// is a link.
	Images []string
}

// Proofs stores passwords and second factors that users chose, with an entry in the audit trail.
type Proofs interface {
	SetPassword(ctx context.Context, id loyalty.ID, hash string) error
	SetSecondFactor(ctx context.Context, id loyalty.ID, f user.SecondFactor) error
}

// console answers all requests under /console/.
type console struct {
	Options
	mux      *http.ServeMux
	headers  http.Header
	origin   *http.CrossOriginProtection
	files    *pages
	provider *provider // nil: there is none
}

// root is the path of the console, and apiPath the prefix of requests for the API.
const (
	root    = "/console/"
	apiPath = "/console/api/"
)

// New makes the handler of all requests under /console/.
func New(o Options) (http.Handler, error) {
	c := &console{Options: o, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection()}
	c.headers = headers(o.Images)
	ways := map[string]string{}
	if len(o.Images) > 0 {
		ways["images"] = strings.Join(o.Images, " ")
	}

	if o.Outside != nil {
		c.provider = newProvider(*o.Outside, o.URL)
		ways["outside"] = o.Outside.Name
		for p, do := range map[string]func(http.ResponseWriter, *http.Request) error{
			"start": c.outsideStart, "callback": c.outsideBack, "finish": c.outsideFinish,
		} {
			c.mux.Handle("GET "+root+"oidc/"+p, c.outside(do))
		}
		c.mux.Handle("POST "+root+"oidc/link", c.outside(c.outsideTie))
	}

	if o.Passkeys != nil {
		ways["passkeys"] = o.passkeyHost()
		for p, do := range map[string]func(http.ResponseWriter, *http.Request) error{
			"enter": c.passkey(c.passkeyEnter), "confirm": c.passkey(c.passkeyConfirm), "add": c.passkey(c.passkeyAdd),
			"list": c.passkeyList, "remove": c.passkeyRemove,
		} {
			c.mux.Handle("POST "+root+"passkey/"+p, c.guarded(do))
		}
	}

	var err error
	if c.files, err = newPages(ways); err != nil {
		return nil, err
	}

	c.mux.Handle(apiPath, http.HandlerFunc(c.bridge))
	for p, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"session": c.signIn, "session/end": c.signOut, "session/confirm": c.confirm, "enter": c.enter,
		"self/totp": c.secondFactor, "self/password": c.password,
	} {
		c.mux.Handle("POST "+root+p, c.guarded(do))
	}

	c.mux.Handle(root, c.files)
	return c, nil
}

// ServeHTTP sets the headers of every answer, and refuses requests from other sites.
func (c *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, value := range c.headers {
		h[name] = value
	}
	if r.URL.Path+"/" == root {
		http.Redirect(w, r, root, http.StatusSeeOther)
		return
	}
	if c.origin.Check(r) != nil || writes(r) && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" {
		c.fail(w, r, errCrossSite)
		return
	}
	c.mux.ServeHTTP(w, r)
}

// headers are the headers of every answer. A page may load nothing from other hosts except pictures of the named ones,
// and no text can become a script: no Trusted Types policy allows it.
func headers(images []string) http.Header {
	shown := "'self' data:"
	for _, host := range images {
		shown += " https://" + host
	}
	return http.Header{
		"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src " + shown +
			"; connect-src 'self'; " +
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Referrer-Policy":              {"no-referrer"},
		"X-Content-Type-Options":       {"nosniff"},
		"Cache-Control":                {"no-store"},
	}
}

func writes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// guarded is an endpoint that takes JSON.
func (c *console) guarded(do func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isJSON(r) {
			c.fail(w, r, errMediaType)
			return
		}
		if err := do(w, r); err != nil {
			c.fail(w, r, err)
		}
	})
}

// failed turns an error of the sign-in rules into an answer.
func failed(err error) error {
	if answer, outside := outsideFailure(err); outside {
		return answer
	}

	for _, known := range []struct {
		cause  error
		answer refusal
	}{
		{user.ErrSignIn, errSignIn}, {user.ErrCodeNeeded, errCodeNeeded}, {user.ErrSlow, errSlow}, {user.ErrBusy, errBusy},
		{user.ErrPasskey, errPasskey}, {user.ErrNoSession, errSession}, {user.ErrNoLink, errLink},
	} {
		if errors.Is(err, known.cause) {
			return known.answer
		}
	}

	return err
}

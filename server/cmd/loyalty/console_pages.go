//go:build !no_console

package main

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/console"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
	"github.com/loyalty-platform/loyalty/server/portal"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
)

// withConsole: this program was built with the console and the portal, which the build tag no_console leaves out.
const withConsole = true

// consoleOf makes the console over the server's own handler.
func consoleOf(
	s *settings, a *app, catalogue *i18n.Catalogue, limiter ratelimit.Limiter,
) func(http.Handler, func(*http.Request) (netip.Addr, bool)) (http.Handler, error) {
	return func(api http.Handler, peer func(*http.Request) (netip.Addr, bool)) (http.Handler, error) {
		return console.New(console.Options{
			Users: user.New(a.store, nil), Catalogue: catalogue, Limiter: limiter, Logger: a.logger, API: api, Peer: peer,
			URL: s.consoleURL, Outside: s.outside.options(a.admin), Proofs: admin.UsersOf(a.admin),
			Passkeys: admin.UsersOf(a.admin), Images: s.consoleImages,
		})
	}
}

// discover reads the description of an identity provider.
func discover(ctx context.Context, issuer string) error { return console.Discover(ctx, issuer) }

// options are the console's options for the provider; nil if there is none.
func (o *outside) options(accounts *admin.Admin) *console.Outside {
	if o.issuer == "" {
		return nil
	}
	mapping, _ := user.ParseMapping(o.roles) // checked already
	name := o.name
	if issuer, err := url.Parse(o.issuer); err == nil && name == "" {
		name = issuer.Host
	}
	return &console.Outside{
		Issuer: o.issuer, ClientID: o.clientID, ClientSecret: o.clientSecret, Scopes: o.scopes, Name: name,
		Claim: o.claim, Mapping: mapping,
		Accounts: admin.UsersOf(accounts),
	}
}

// newPortal makes the pages for developers; nil if they are off. On a loopback address requests can be tried from them,
// elsewhere only if the settings say so.
func newPortal(s *settings, a *app) http.Handler {
	host, _, _ := hostPort(s.listen) // checked already
	switch {
	case s.docs == docsOff:
		return nil
	case s.docs == docsTry || s.docs == "" && isLoopback(host):
		pages := portal.New(s.region,
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.server.ServeHTTP(w, r) }), notices()...)
		if hasConsole(s) {
			return pages.BesideConsole()
		}
		return pages
	}
	return portal.New(s.region, nil, notices()...)
}

// notices are the platform's own messages to webhooks, for the portal.
func notices() []portal.Notice {
	var all []portal.Notice
	for _, n := range webhook.Notices() {
		all = append(all, portal.Notice(n))
	}
	return all
}

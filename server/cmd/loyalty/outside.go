package main

import (
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// outside is the sign-in by the company's provider, with OpenID Connect.
type outside struct {
	issuer, clientID, clientSecret, name, claim string
	scopes, roles                               []string
}

func (o *outside) flags(f *pflag.FlagSet) {
	f.StringVar(&o.issuer, "oidc-issuer", "",
		"https://… address of the OpenID Connect provider for signing in to the console")
	f.StringVar(&o.clientID, "oidc-client-id", "", "the client id that the provider gave the console")
	f.StringVar(&o.clientSecret, "oidc-client-secret", "",
		"the client secret that goes with it; empty: a public client, PKCE alone")
	f.StringSliceVar(&o.scopes, "oidc-scopes", []string{"profile", "email"},
		"scopes to ask the provider for besides openid, separated by commas")
	f.StringVar(&o.claim, "oidc-claim", "groups",
		"the claim whose values give a role; a path with dots looks into objects (realm_access.roles)")
	f.StringSliceVar(&o.roles, "oidc-roles", nil,
		"VALUE=ROLE of that claim, separated by commas; ROLE+personal also shows personal data; users without a role cannot sign in")
	f.StringVar(&o.name, "oidc-name", "", "name of the provider on the sign-in page (default: its host)")
}

// check checks the settings against each other; at is the address of the console.
func (o *outside) check(at string) error {
	if o.issuer == "" {
		if o.clientID != "" || len(o.roles) > 0 {
			return fault("oidc-issuer",
				"is missing, but LOYALTY_OIDC_CLIENT_ID or LOYALTY_OIDC_ROLES is set: set it too, or unset them")
		}
		return nil
	}

	if issuer, err := url.Parse(o.issuer); err != nil || !secureURL(issuer) || issuer.RawQuery != "" ||
		issuer.Fragment != "" {
		return fault("oidc-issuer", "%q must be https://…, as the provider writes it itself", o.issuer)
	}
	if o.clientID == "" {
		return fault("oidc-client-id", "is missing: register the console at the provider, which gives it a client id")
	}
	if len(o.roles) == 0 {
		return fault("oidc-roles", "is missing: give at least one VALUE=ROLE, because users without a role cannot sign in")
	}
	if _, err := user.ParseMapping(o.roles); err != nil {
		return fault("oidc-roles", "%w", err)
	}
	if at == "" {
		return fault("console-url",
			"is missing: set the console's https address, because the provider sends users back to /console/oidc/callback there")
	}

	return nil
}

// secureURL reports whether requests to a URL cannot be read on the way: https, or this machine.
func secureURL(u *url.URL) bool {
	return u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()))
}

// checkConsoleURL checks the address of the console: a scheme and a host.
func checkConsoleURL(text string) error {
	if text == "" {
		return nil
	}
	if u, err := url.Parse(text); err != nil || !secureURL(u) || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" ||
		u.Fragment != "" {
		return fault("console-url", "%q must be https://HOST, without a path", text)
	}
	return nil
}

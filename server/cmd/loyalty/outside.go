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
	f.StringVar(&o.issuer, "oidc-issuer", "", "https://… of the OpenID Connect provider by which people sign in to the console")
	f.StringVar(&o.clientID, "oidc-client-id", "", "the name under which the provider knows the console")
	f.StringVar(&o.clientSecret, "oidc-client-secret", "", "the secret that goes with it; empty: a public client, PKCE alone")
	f.StringSliceVar(&o.scopes, "oidc-scopes", []string{"profile", "email"}, "what the provider is asked for besides openid, separated by commas")
	f.StringVar(&o.claim, "oidc-claim", "groups", "the claim whose values give a role; a path with dots looks into objects (realm_access.roles)")
	f.StringSliceVar(&o.roles, "oidc-roles", nil, "VALUE=ROLE of that claim, separated by commas; ROLE+personal also shows personal data; without a role there is no entry")
	f.StringVar(&o.name, "oidc-name", "", "what people know the provider by (default: its host)")
}

// check checks the settings against each other; at is the address of the console.
func (o *outside) check(at string) error {
	if o.issuer == "" {
		if o.clientID != "" || len(o.roles) > 0 {
			return fault("oidc-issuer", "is missing: LOYALTY_OIDC_CLIENT_ID and LOYALTY_OIDC_ROLES go with it")
		}
		return nil
	}

	if issuer, err := url.Parse(o.issuer); err != nil || !secureURL(issuer) || issuer.RawQuery != "" || issuer.Fragment != "" {
		return fault("oidc-issuer", "%q must be https://…, as the provider writes it itself", o.issuer)
	}
	if o.clientID == "" {
		return fault("oidc-client-id", "is missing: the provider gives it to whoever registers the console")
	}
	if len(o.roles) == 0 {
		return fault("oidc-roles", "is missing: without a role nobody comes in")
	}
	if _, err := user.ParseMapping(o.roles); err != nil {
		return fault("oidc-roles", "%w", err)
	}
	if at == "" {
		return fault("console-url", "is missing: the provider sends people back to it, behind /console/oidc/callback")
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
	if u, err := url.Parse(text); err != nil || !secureURL(u) || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return fault("console-url", "%q must be https://HOST, without a path", text)
	}
	return nil
}

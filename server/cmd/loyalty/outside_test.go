//go:build !no_console

package main

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestOutsideSettings: each setting of the company's sign-in that cannot be used is named.
func TestOutsideSettings(t *testing.T) {
	good := map[string]string{
		"LOYALTY_CONSOLE_URL": "https://loyalty.test/", "LOYALTY_OIDC_ISSUER": "https://login.test/realms/staff", "LOYALTY_OIDC_CLIENT_ID": "loyalty",
		"LOYALTY_OIDC_ROLES": "admins=owner+personal,marketing=editor",
	}

	read := func(name, value string) (*settings, error) {
		s, f := &settings{}, pflag.NewFlagSet("", pflag.ContinueOnError)
		s.flags(f)
		return s, s.read(f, func(asked string) (string, bool) {
			if asked == name {
				return value, true
			}
			v, ok := good[asked]
			return v, ok
		})
	}

	s, err := read("", "")
	require.NoError(t, err)
	require.Equal(t, "https://loyalty.test", s.consoleURL)
	o := s.outside.options(nil)
	require.Equal(t, []any{"login.test", "groups", []string{"profile", "email"}}, []any{o.Name, o.Claim, o.Scopes})
	grant, known := o.Mapping.Of([]string{"staff", "marketing", "admins"})
	require.True(t, known)
	require.Equal(t, []any{"owner", true}, []any{string(grant.Role), grant.Personal})
	_, known = o.Mapping.Of([]string{"staff"})
	require.False(t, known)
	for _, bad := range [][2]string{
		{"LOYALTY_CONSOLE_URL", ""}, {"LOYALTY_CONSOLE_URL", "http://loyalty.test"}, {"LOYALTY_CONSOLE_URL", "https://loyalty.test/console/"},
		{"LOYALTY_OIDC_ISSUER", ""}, {"LOYALTY_OIDC_ISSUER", "http://login.test"}, {"LOYALTY_OIDC_ISSUER", "login.test"}, {"LOYALTY_OIDC_CLIENT_ID", ""},
		{"LOYALTY_OIDC_ROLES", ""}, {"LOYALTY_OIDC_ROLES", "admins"}, {"LOYALTY_OIDC_ROLES", "admins=king"}, {"LOYALTY_OIDC_ROLES", "a=owner,a=viewer"},
	} {
		_, err := read(bad[0], bad[1])
		require.ErrorContains(t, err, bad[0]+":", bad)
	}

	_, err = read("LOYALTY_OIDC_ISSUER", "http://127.0.0.1:9000")
	require.NoError(t, err, "a provider on this machine, for trying")
}

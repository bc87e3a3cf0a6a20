//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestRebuildCommand rebuilds beside a running server, with nothing but the
// database's address.
func TestRebuildCommand(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		s := g.start(t)
		c := newCaller(t, g.key)
		for _, customer := range []string{"member-1001", "member-1002"} {
			enrol(t, c, s.address, customer)
			a := c.post(s.address, "/events", `{"customer":"`+customer+`","action":"checkout","data":{"transaction_id":"T-`+customer+`","total":20}}`, "")
			require.Equal(t, 200, a.status, string(a.body))
		}

		only := []string{"LOYALTY_DATABASE_URL=" + g.url}
		rebuild := func(args ...string) result { return command(t, g.dir, only, append([]string{"rebuild"}, args...)...) }

		r := rebuild("--verify")
		require.Equal(t, 0, r.code, r.errors)
		require.Equal(t, "4 events of 2 customers give exactly what is stored.\n", r.out)
		require.Empty(t, r.errors, "how far it is is for terminals")

		r = rebuild()
		require.Equal(t, 2, r.code)
		require.Equal(t, "loyalty: rebuild needs --verify: it never replaces what is stored\n", r.errors)

		raw := storetest.Raw(t, g.url)
		damage := func(statement string) {
			_, err := raw.Exec(statement)
			require.NoError(t, err)
		}

		damage(`UPDATE transactions SET earned = 20, state = 'rejected' WHERE transaction_id = 'T-member-1002'`)
		r = rebuild("--verify")
		require.Equal(t, 1, r.code)
		lines := strings.Split(r.out, "\n")
		require.Len(t, lines, 3, r.out)
		require.Regexp(t, `^customer [0-9a-f-]{36} \(member-1002\): transaction T-member-1002: state: the journal says accepted, stored is rejected$`, lines[0])
		require.Regexp(t, `^customer [0-9a-f-]{36} \(member-1002\): transaction T-member-1002: earned: the journal says 0, stored is 20$`, lines[1])
		require.Contains(t, r.errors, "loyalty: 2 differences between the journal and what is stored\n")

		damage(`UPDATE transactions SET earned = 0, state = 'accepted' WHERE transaction_id = 'T-member-1002'`)
		for i := range maxDifferences + 5 {
			enrol(t, c, s.address, "member-"+strings.Repeat("x", i+1))
		}

		damage(`UPDATE balances SET score = score + 1`)
		r = rebuild("--verify")
		require.Equal(t, 1, r.code)
		require.Equal(t, maxDifferences+1, strings.Count(r.out, "\n"))
		require.True(t, strings.HasSuffix(r.out, "\nand 7 more\n"), r.out)
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// What could not be rebuilt proves nothing, and has its own exit code.
func TestRebuildOfNothing(t *testing.T) {
	for name, url := range map[string]string{
		"no file": "sqlite:nowhere.db", "nobody listens": "postgres://loyalty@127.0.0.1:1/loyalty?connect_timeout=5",
		"no schema": storetest.EmptyPostgres(t),
	} {
		r := command(t, t.TempDir(), []string{"LOYALTY_DATABASE_URL=" + url}, "rebuild", "--verify")
		require.Equal(t, 3, r.code, name)
		require.Empty(t, r.out, name)
		require.True(t, strings.HasPrefix(r.errors, "loyalty: could not rebuild: "), "%s: %s", name, r.errors)
		require.Equal(t, 1, strings.Count(r.errors, "\n"), "%s: %s", name, r.errors)
	}
}

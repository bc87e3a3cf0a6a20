package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestLedgerVerifyIsNoted: a proof by the command stands among the earlier ones with who asked
// for it and what did not hold.
func TestLedgerVerifyIsNoted(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			dir, url := t.TempDir(), d.Empty(t)
			env := []string{"LOYALTY_DATABASE_URL=" + url, "LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32)}
			succeeds(t, dir, env, "migrate", "up")
			succeeds(t, dir, env, "ledger", "verify")
			raw := storetest.Raw(t, url)
			id := map[string]string{"sqlite": "x'" + strings.Repeat("ab", 16) + "'", "postgres": "'" + strings.Repeat("ab", 16) + "'"}[d.Name]
			var actor, kind, broken string
			var held int
			look := func() {
				require.NoError(t, raw.QueryRow(`SELECT actor, actor_kind, coalesce(broken_ids, ''), held FROM ledger_proofs ORDER BY at DESC LIMIT 1`).Scan(&actor, &kind, &broken, &held))
			}
			look()
			require.Equal(t, []any{"command line", "system", "", 10}, []any{actor, kind, broken, held})
			_, err := raw.Exec(`UPDATE ledger_proofs SET at = 1000`)
			require.NoError(t, err)
			_, err = raw.Exec(`INSERT INTO postings (customer_id, event_id, lot_id, points, seq, from_account, to_account) VALUES (` + id + `, ` + id + `, ` + id + `, 5, 0, 1, 2)`)
			require.NoError(t, err)
			require.Equal(t, codeFailed, command(t, dir, env, "ledger", "verify").code)
			look()
			require.Equal(t, []any{"command line", "system"}, []any{actor, kind})
			require.Regexp(t, `^\["I\d+"`, broken)
		})
	}
}

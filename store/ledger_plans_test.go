package store_test

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestLedgerIsLinear: on SQLite, which only knows nested loops, no query of the
// verification looks for each row of a customer through all other rows of that
// customer. PostgreSQL hashes.
func TestLedgerIsLinear(t *testing.T) {
	raw := storetest.Raw(t, storetest.SQLite(t))
	for fault, text := range store.LedgerQueries() {
		rows, err := raw.Query("EXPLAIN QUERY PLAN " + text)
		require.NoError(t, err, fault)
		plan := planSteps(t, rows)
		require.NotEmpty(t, plan, fault)
		assert.Empty(t, rereads(plan), "%s\n%s", fault, text)
	}
}

// TestProofsAreNotCompiled: PostgreSQL compiles no query of a proof, however much the planner
// thinks of it: most are pages, of which each would be compiled anew.
func TestProofsAreNotCompiled(t *testing.T) {
	storetest.PlainOnly(t)
	raw := storetest.Raw(t, storetest.Postgres(t))
	compiles := func(settings string) bool {
		tx, err := raw.Begin()
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback()) }()
		_, err = tx.Exec("SET LOCAL jit_above_cost = 0; " + settings)
		require.NoError(t, err)
		rows, err := tx.Query("EXPLAIN (ANALYZE) SELECT sum(score) FROM balances")
		require.NoError(t, err)
		defer func() { require.NoError(t, rows.Close()) }()
		compiled := false
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			compiled = compiled || strings.HasPrefix(line, "JIT:")
		}

		require.NoError(t, rows.Err())
		return compiled
	}

	if !compiles("SET LOCAL jit = on") {
		t.Skip("this PostgreSQL has no compiler")
	}

	require.False(t, compiles(store.ProofSettings))
}

// planStep is a line of a plan of SQLite.
type planStep struct {
	id, parent int
	text       string
}

func planSteps(t *testing.T, rows *sql.Rows) (plan []planStep) {
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var s planStep
		var unused int
		require.NoError(t, rows.Scan(&s.id, &s.parent, &unused, &s.text))
		plan = append(plan, s)
	}
	require.NoError(t, rows.Err())
	return plan
}

// ofOneCustomer is a search that gives all rows of a customer, in a table that has
// many of them for one.
var ofOneCustomer = regexp.MustCompile(`USING .*\(customer_id=\?\)`)

// rereads are the steps that read more than a few rows for each row of the loop they
// are in: the first table of a loop may be read whole, the others only by key.
func rereads(plan []planStep) (wrong []string) {
	looped, repeated := map[int]bool{}, map[int]bool{}
	for _, s := range plan {
		inner := looped[s.parent] || repeated[s.parent]
		switch {
		case strings.HasPrefix(s.text, "CORRELATED"):
			repeated[s.id] = true
			continue
		case strings.HasPrefix(s.text, "SCAN "), strings.HasPrefix(s.text, "SEARCH "):
			looped[s.parent] = true
		default:
			continue
		}
		if inner && (strings.HasPrefix(s.text, "SCAN ") || ofOneCustomer.MatchString(s.text) && !singular.MatchString(s.text)) {
			wrong = append(wrong, s.text)
		}
	}

	return wrong
}

// singular are those with one row for a customer: balances and sums.
var singular = regexp.MustCompile(`^SEARCH (b|sums) `)

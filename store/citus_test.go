package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestOnCitus: what the other tests call PostgreSQL is spread, where they are told so.
func TestOnCitus(t *testing.T) {
	storetest.CitusOnly(t)
	url := storetest.Postgres(t)
	s, raw := storetest.Open(t, url), storetest.Raw(t, url)
	require.NoError(t, s.Distribute(t.Context(), 8), "again: it changes nothing")
	var machines int
	require.NoError(t, raw.QueryRow(`SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name = 'balances'::regclass`).Scan(&machines))
	require.Greater(t, machines, 1)
	enrol(t, s, "c-", 8)
	require.NoError(t, credit(s, "c-", 8))
	var open, known int
	require.NoError(t, raw.QueryRow(`SELECT (SELECT count(*) FROM pg_prepared_xacts), (SELECT count(*) FROM events)`).Scan(&open, &known))
	require.Equal(t, []int{0, 8}, []int{open, known})
}

// TestTablesArePlaced: a spread database of which a table stands on the coordinator alone is not served, and says which; Migrate puts
// it in its place.
func TestTablesArePlaced(t *testing.T) {
	storetest.CitusOnly(t)
	url := storetest.Postgres(t)
	s, raw := storetest.Open(t, url), storetest.Raw(t, url)
	require.NoError(t, s.Ready(t.Context()))
	_, err := raw.Exec(`SELECT undistribute_table('list_members')`)
	require.NoError(t, err)
	_, err = raw.Exec(`DROP TABLE emails`)
	require.NoError(t, err)

	err = s.Ready(t.Context())
	require.ErrorIs(t, err, store.ErrMigrationsPending)
	require.ErrorContains(t, err, "list_members, emails")
	require.NoError(t, s.Migrate(t.Context()))
	require.NoError(t, s.Ready(t.Context()))
}

// TestFindersAreProved: the ledger's check compares what customers are found by with the customers, and the command that spreads a
// database mends it.
func TestFindersAreProved(t *testing.T) {
	storetest.CitusOnly(t)
	url := storetest.Postgres(t)
	s, raw := storetest.Open(t, url), storetest.Raw(t, url)
	c := storetest.Member("ann", ledgerStart)
	c.Profile.Email = " Ann@Example.ORG "
	var w loyalty.Writes
	storetest.Enrol(&w, c)
	require.NoError(t, storetest.Put(s, ledgerStart, w))
	var email string
	require.NoError(t, raw.QueryRow(`SELECT email FROM emails`).Scan(&email))
	require.Equal(t, "ann@example.org", email, "in the form in which it is looked for")
	require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(verify(t, s), store.LedgerHeld))

	_, err := raw.Exec(`DELETE FROM emails`)
	require.NoError(t, err)
	_, err = raw.Exec(`INSERT INTO emails SELECT 'Ann@Example.ORG', id FROM customers`)
	require.NoError(t, err)
	require.Equal(t, "I5", withVerdict(verify(t, s), store.LedgerBroken))
	require.NoError(t, s.Distribute(t.Context(), 8))
	require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(verify(t, s), store.LedgerHeld))
}

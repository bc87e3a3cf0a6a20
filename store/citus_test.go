package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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

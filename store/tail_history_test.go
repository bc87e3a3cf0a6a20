package store_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestNumberingReadsNoHistory: to number what another node wrote for a customer, nothing is read of what they did
// before and has its number.
func TestNumberingReadsNoHistory(t *testing.T) {
	storetest.PlainOnly(t)
	const before = 300
	url, ctx := storetest.Postgres(t), context.Background()
	s := storetest.Open(t, url)
	enrol(t, s, "member-", 1)
	for range before {
		require.NoError(t, credit(s, "member-", 1))
	}

	require.NoError(t, s.NumberOwn(ctx))
	require.NoError(t, s.Close())
	c, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(ctx)) }()
	_, err = c.Exec(ctx, "ANALYZE")
	require.NoError(t, err)
	// what a session read is counted once it has ended
	read := func() (rows int) {
		require.NoError(t, c.QueryRow(ctx, "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname LIKE 'events%' AND indexrelname LIKE '%pkey'").Scan(&rows))
		return rows
	}

	node, other := storetest.Open(t, url), storetest.Open(t, url)
	require.NoError(t, credit(other, "member-", 1))
	require.NoError(t, other.Close())
	begun := read()
	next, last, err := node.NumberBehind(ctx, loyalty.ID{}, 10)
	require.NoError(t, err)
	require.True(t, last)
	require.NotZero(t, next)
	require.NoError(t, node.Close())
	events, err := storetest.Open(t, url).Tail(ctx, before, 10)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Less(t, read()-begun, before/10)
}

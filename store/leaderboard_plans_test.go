package store_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestLeaderboardPlans: whatever is counted or read of the leaderboard is found by
// conditions on an index.
func TestLeaderboardPlans(t *testing.T) {
	url := storetest.Postgres(t)
	s, ctx := storetest.Open(t, url), context.Background()
	enrol(t, s, "member-", 200)
	for range 5 {
		require.NoError(t, credit(s, "member-", 200))
	}

	c, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(ctx)) }()
	swapped, err := s.SwapBoardState(ctx, loyalty.BoardState{}, loyalty.BoardState{Zone: "UTC", Generation: 1, Built: 1})
	require.NoError(t, err)
	require.True(t, swapped)
	calendar := loyalty.NewBoardCalendar(time.Now(), time.UTC)
	require.NoError(t, s.NumberOwn(ctx))
	_, last, err := s.Count(ctx, 1, calendar, 1000)
	require.NoError(t, err)
	require.True(t, last)
	page, err := s.BoardPage(ctx, loyalty.BoardQuery{Limit: 200})
	require.NoError(t, err)
	require.Len(t, page, 200)

	reads := map[string][]any{}
	require.NoError(t, s.OnRead(func(sql string, parameters []any) { reads[sql] = parameters }))
	other := storetest.Open(t, url) // a node that is killed
	require.NoError(t, credit(other, "member-", 20))
	next, _, err := s.NumberRecorded(ctx, loyalty.Cursor{At: start.Add(-time.Second)}, time.Now().Add(time.Hour), 10)
	require.NoError(t, err)
	_, last, err = s.NumberRecorded(ctx, next, time.Now().Add(time.Hour), 2000)
	require.NoError(t, err)
	require.True(t, last)
	require.NoError(t, credit(other, "member-", 20))
	_, _, err = s.NumberBehind(ctx, loyalty.ID{}, 10)
	require.NoError(t, err)
	events, err := s.Tail(ctx, 1000, 100)
	require.NoError(t, err)
	require.Len(t, events, 30, "of those who were named")
	customers, last, err := s.Count(ctx, 1, calendar, 1000)
	require.NoError(t, err)
	require.True(t, last)
	require.Equal(t, 20, customers)
	_, err = s.ForgetBoards(ctx, loyalty.Board{Period: loyalty.BoardDay, Start: 1}, 10)
	require.NoError(t, err)
	place := loyalty.BoardPlace{Score: 5, Customer: page[50].Customer}
	for _, q := range []loyalty.BoardQuery{{Limit: 10, Offset: 10}, {Limit: 10, After: &place}, {Limit: 10, Before: &place}} {
		page, err := s.BoardPage(ctx, q)
		require.NoError(t, err)
		require.NotEmpty(t, page)
	}

	_, _, err = s.BoardAround(ctx, loyalty.Board{}, page[50].Customer, 2)
	require.NoError(t, err)

	_, err = c.Exec(ctx, `ANALYZE; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`)
	require.NoError(t, err)
	explained := 0
	for sql, parameters := range reads {
		if strings.Contains(sql, `FROM "leaderboard"`) || strings.Contains(sql, `FROM "tail_state"`) || strings.Contains(sql, "goose") {
			continue // one row
		}
		explained++
		var plan []byte
		require.NoError(t, c.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+sql, parameters...).Scan(&plan), sql)
		var tree []struct{ Plan planNode }
		require.NoError(t, json.Unmarshal(plan, &tree))
		require.Empty(t, tree[0].Plan.scans(), "%s\n%s", sql, plan)
	}

	require.Greater(t, explained, 10)
}

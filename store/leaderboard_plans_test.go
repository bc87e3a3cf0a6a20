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
	swapped, err := s.SwapBoardState(ctx, loyalty.BoardState{}, loyalty.BoardState{Zone: "UTC", Generation: 1, Built: 1, Begun: start})
	require.NoError(t, err)
	require.True(t, swapped)
	calendar := loyalty.NewBoardCalendar(time.Now(), time.UTC)
	most, err := s.Behind(ctx, 1, loyalty.ID{}, 180)
	require.NoError(t, err)
	require.NoError(t, s.Count(ctx, 1, calendar, most))

	reads := map[string][]any{}
	require.NoError(t, s.OnRead(func(sql string, parameters []any) { reads[sql] = parameters }))
	behind, err := s.Behind(ctx, 1, loyalty.ID{}, 100)
	require.NoError(t, err)
	require.Len(t, behind, 20)
	events, err := s.Uncounted(ctx, 1, loyalty.Cursor{At: start.Add(-time.Second)}, 2000)
	require.NoError(t, err)
	require.Len(t, events, 100, "of those who are not counted")
	require.NoError(t, s.Count(ctx, 1, calendar, behind))
	events, err = s.Uncounted(ctx, 1, loyalty.Cursor{At: start.Add(-time.Second)}, 2000)
	require.NoError(t, err)
	require.Empty(t, events)
	_, err = s.ForgetBoards(ctx, loyalty.Board{Period: loyalty.BoardDay, Start: 1}, 10)
	require.NoError(t, err)
	place := loyalty.BoardPlace{Score: 5, Customer: most[50]}
	for _, q := range []loyalty.BoardQuery{{Limit: 10, Offset: 10}, {Limit: 10, After: &place}, {Limit: 10, Before: &place}} {
		page, err := s.BoardPage(ctx, q)
		require.NoError(t, err)
		require.NotEmpty(t, page)
	}
	_, _, err = s.BoardAround(ctx, loyalty.Board{}, most[50], 2)
	require.NoError(t, err)

	_, err = c.Exec(ctx, `ANALYZE; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`)
	require.NoError(t, err)
	explained := 0
	for sql, parameters := range reads {
		if strings.Contains(sql, `FROM "leaderboard"`) || strings.Contains(sql, "goose") {
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

package store_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// crowd are a million customers on one board, with scores that are rare at the top
// and common at the bottom.
var crowd = []string{
	`CREATE FUNCTION crowd_id(n int) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$ SELECT (lpad(to_hex(1790000000000 + n), 12, '0') || '70008000000000000000')::uuid $$`,
	`INSERT INTO customers (id, name, status, created_at, updated_at, handler)
 SELECT crowd_id(n), 'member-' || n, 'active', n, n, 'm' || n FROM generate_series(1, 1000000) n`,
	`INSERT INTO rankings (customer_id, kind, start, score, shown)
 SELECT crowd_id(n), 0, 0, (power(((n::bigint * 7919) % 1000003) / 1000003.0, 3) * 50000)::bigint, true FROM generate_series(1, 1000000) n`,
	// as the store does it: scores below 256 have a stretch each, between a score and its double there are 128
	`INSERT INTO ranking_counts (kind, start, stretch, customers)
 SELECT 0, 0, e * 128 + (score >> e), count(*)
 FROM (SELECT score, CASE WHEN score < 256 THEN 0 ELSE floor(log(2.0, score::numeric))::int - 7 END AS e FROM rankings) s GROUP BY 3`,
	`VACUUM ANALYZE ranking_counts`, `VACUUM ANALYZE customers`, `VACUUM ANALYZE rankings`,
}

// TestLeaderboardOfAMillion measures what readers of a large board wait for. It
// needs LOYALTY_TORTURE, and asserts ranks, no time.
func TestLeaderboardOfAMillion(t *testing.T) {
	if os.Getenv("LOYALTY_TORTURE") == "" {
		t.Skip("LOYALTY_TORTURE is not set")
	}

	url := storetest.Postgres(t)
	raw := storetest.Raw(t, url)
	for _, statement := range crowd {
		_, err := raw.Exec(statement)
		require.NoError(t, err, statement)
	}

	s, ctx := storetest.Open(t, url), context.Background()
	page := func(q loyalty.BoardQuery) func() []loyalty.BoardEntry {
		return func() []loyalty.BoardEntry {
			list, err := s.BoardPage(ctx, q)
			require.NoError(t, err)
			return list
		}
	}

	top := timed(t, "top 100", page(loyalty.BoardQuery{Limit: 101}))
	require.Equal(t, int64(1), top[0].Rank)
	deep := timed(t, "100 after offset 10,000", page(loyalty.BoardQuery{Limit: 101, Offset: 10_000}))
	linked := timed(t, "100 after place 10,000, by link", page(loyalty.BoardQuery{Limit: 101, After: new(before(t, s, 10_000))}))
	require.Equal(t, deep, linked)
	for _, place := range []int{10_000, 500_000, 999_990} {
		one := page(loyalty.BoardQuery{Limit: 1, Offset: place})()[0]
		around := timed(t, "own rank and 4 neighbours at place "+strconv.Itoa(place), func() []loyalty.BoardEntry {
			list, _, err := s.BoardAround(ctx, loyalty.Board{}, one.Customer, 2)
			require.NoError(t, err)
			return list
		})
		var higher int64
		require.NoError(t, raw.QueryRow(`SELECT count(*) FROM rankings WHERE score > $1`, one.Score).Scan(&higher))
		require.Equal(t, one, around[2])
		require.Equal(t, higher+1, one.Rank)
	}
}

// diary is a journal of five credits for each of a hundred thousand customers.
var diary = []string{
	crowd[0],
	`INSERT INTO customers (id, name, status, created_at, updated_at) SELECT crowd_id(n), 'member-' || n, 'active', n, n FROM generate_series(1, 100000) n`,
	`INSERT INTO events (customer_id, id, recorded_at, at, action)
 SELECT crowd_id(n), crowd_id(n + 1000000 * k), 1790000000000 + k * 86400000::bigint, 1790000000000 + k * 86400000::bigint, 'point_add'
 FROM generate_series(1, 100000) n, generate_series(1, 5) k`,
	`INSERT INTO postings (customer_id, event_id, points, seq, from_account, to_account)
 SELECT customer_id, id, 10, 0, 1, 2 FROM events`,
	`INSERT INTO balances (customer_id, version, score, spent, reserved, expired, pending, debt, last_event)
 SELECT crowd_id(n), 1, 50, 0, 0, 0, 0, 0, crowd_id(n + 5000000) FROM generate_series(1, 100000) n`,
	`VACUUM ANALYZE`,
}

// TestLeaderboardCounting measures how long a recount of all customers takes. It needs LOYALTY_TORTURE, and asserts
// no time.
func TestLeaderboardCounting(t *testing.T) {
	if os.Getenv("LOYALTY_TORTURE") == "" {
		t.Skip("LOYALTY_TORTURE is not set")
	}

	url := storetest.Postgres(t)
	raw := storetest.Raw(t, url)
	for _, statement := range diary {
		_, err := raw.Exec(statement)
		require.NoError(t, err, statement)
	}

	s, ctx := storetest.Open(t, url), context.Background()
	_, err := raw.Exec(`UPDATE tail_state SET present = false`)
	require.NoError(t, err)
	_, err = s.SwapBoardState(ctx, loyalty.BoardState{}, loyalty.BoardState{Zone: "UTC", Generation: 1})
	require.NoError(t, err)
	begun := time.Now()
	for after, last := (loyalty.Cursor{At: time.UnixMilli(0)}), false; !last; {
		after, last, err = s.NumberRecorded(ctx, after, time.Now().AddDate(100, 0, 0), 2000)
		require.NoError(t, err)
	}

	t.Logf("figures: 500,000 events numbered in %s", time.Since(begun).Round(time.Millisecond))
	begun = time.Now()
	calendar := loyalty.NewBoardCalendar(time.UnixMilli(1_790_432_000_000), time.UTC)
	for last := false; !last; {
		_, last, err = s.Count(ctx, 1, calendar, 1000)
		require.NoError(t, err)
	}

	t.Logf("figures: 100,000 customers with 500,000 events counted in %s", time.Since(begun).Round(time.Millisecond))
	begun = time.Now()
	_, last, err := s.NumberBehind(ctx, loyalty.ID{}, 250)
	require.NoError(t, err)
	require.True(t, last)
	t.Logf("figures: 100,000 customers compared in %s", time.Since(begun).Round(time.Millisecond))
	var rows, total int64
	require.NoError(t, raw.QueryRow(`SELECT count(*), sum(score) FROM rankings WHERE kind = 0`).Scan(&rows, &total))
	require.Equal(t, []int64{100_000, 5_000_000}, []int64{rows, total})
}

// before is the entry before a place.
func before(t *testing.T, s *store.Store, place int) loyalty.BoardPlace {
	t.Helper()
	list, err := s.BoardPage(context.Background(), loyalty.BoardQuery{Limit: 1, Offset: place - 1})
	require.NoError(t, err)
	return list[0].BoardPlace
}

// timed tells how long a question takes: the median of some.
func timed[T any](t *testing.T, what string, ask func() T) (got T) {
	t.Helper()
	var took []time.Duration
	for range 15 {
		begun := time.Now()
		got = ask()
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	t.Logf("figures: %s: %s (slowest %s)", what, took[len(took)/2].Round(10*time.Microsecond), took[len(took)-1].Round(10*time.Microsecond))
	return got
}

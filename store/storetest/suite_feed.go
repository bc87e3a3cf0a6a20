package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// feed reads the events of the tail in parts of every size, with and without a filter.
func feed(t *testing.T, b *bench) {
	ctx := context.Background()
	var ids []loyalty.ID
	for i := range 3 {
		c := b.customer(name(i))
		c.LastEvent = loyalty.ID{}
		ids = append(ids, b.enrol(t, c).ID)
	}

	empty, err := b.s.Feed(ctx, loyalty.FeedQuery{Limit: 10, Scan: 10})
	require.NoError(t, err)
	require.Empty(t, empty.Events)
	require.Zero(t, empty.Through)
	require.Zero(t, empty.Behind)
	const rounds = 5
	for i := range rounds {
		for k, id := range ids {
			require.NoError(t, happensAs(b.s, []string{"visit", "point_add", "point_spend"}[k],
				b.now.Add(time.Duration(i)*time.Minute), id))
		}
	}

	require.NoError(t, b.s.NumberOwn(ctx))
	all := b.tailed(t)
	require.Len(t, all, rounds*len(ids))
	read := func(q loyalty.FeedQuery, want func(loyalty.TailEvent) bool) {
		t.Helper()
		var seen []int64
		for q.After < int64(len(all)) {
			part, err := b.s.Feed(ctx, q)
			require.NoError(t, err)
			require.Equal(t, int64(len(all)), part.Head)
			require.LessOrEqual(t, len(part.Events), q.Limit)
			require.Greater(t, part.Through, q.After, "a reader gets on")
			for i, n := range part.Numbers {
				require.Equal(t, all[n-1].ID, part.Events[i].ID)
				require.Equal(t, all[n-1].Customer, part.Events[i].Customer)
				require.LessOrEqual(t, n, part.Through)
			}

			if part.Through < int64(len(all)) {
				require.Equal(t, all[part.Through], part.Behind, "what is next")
			} else {
				require.Zero(t, part.Behind)
			}

			seen, q.After = append(seen, part.Numbers...), part.Through
		}

		var wanted []int64
		for _, e := range all {
			if want(e) {
				wanted = append(wanted, e.Number)
			}
		}

		require.Equal(t, wanted, seen, "%+v", q)
	}

	every := func(loyalty.TailEvent) bool { return true }
	of := func(some ...loyalty.ID) func(loyalty.TailEvent) bool {
		return func(e loyalty.TailEvent) bool { return slices.Contains(some, e.Customer) }
	}
	for _, limit := range []int{1, 2, 4, 100} {
		for _, scan := range []int{1, 3, 100} {
			read(loyalty.FeedQuery{Limit: limit, Scan: scan}, every)
			read(loyalty.FeedQuery{Limit: limit, Scan: scan, Actions: []string{"visit"}}, of(ids[0]))
			read(loyalty.FeedQuery{Limit: limit, Scan: scan, Prefixes: []string{"point_"}}, of(ids[1:]...))
			read(loyalty.FeedQuery{Limit: limit, Scan: scan, Actions: []string{"visit"}, Prefixes: []string{"point_s"}},
				of(ids[0], ids[2]))
			read(loyalty.FeedQuery{Limit: limit, Scan: scan, Actions: []string{"nothing"}}, of())
			read(loyalty.FeedQuery{Limit: limit, Scan: scan, SentBy: []string{"LKpoint_add"}}, of(ids[1]))
			read(loyalty.FeedQuery{Limit: limit, Scan: scan, SentBy: []string{"LKpoint_add", "LKpoint_spend"},
				Actions: []string{"visit", "point_spend"}}, of(ids[2]))
			read(loyalty.FeedQuery{Limit: limit, Scan: scan, SentBy: []string{"LKnobody"}}, of())
		}
	}

	from, before := b.now.Add(time.Minute), b.now.Add(3*time.Minute)
	read(loyalty.FeedQuery{Limit: 2, Scan: 100, From: from, Before: before}, func(e loyalty.TailEvent) bool {
		return !e.RecordedAt.Before(from) && e.RecordedAt.Before(before)
	})
}

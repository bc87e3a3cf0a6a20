package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestBacklog counts what is due, and since when, as far as it counts.
func TestBacklog(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s, raw := storetest.Open(t, url), storetest.Raw(t, url)
		now := time.UnixMilli(1_800_000_000_000).UTC()
		b, err := s.Backlog(t.Context(), now)
		require.NoError(t, err)
		require.Zero(t, b.Due)
		require.True(t, b.Oldest.IsZero())
		require.Zero(t, b.Head)
		var w loyalty.Writes
		for i, due := range []time.Duration{-time.Hour, 0, time.Millisecond} {
			c := storetest.Member(fmt.Sprint("due", i), start)
			c.DueAt = now.Add(due)
			storetest.Enrol(&w, c)
		}

		require.NoError(t, storetest.Put(s, start, w))
		_, err = raw.Exec(`UPDATE tail_state SET head = 7`)
		require.NoError(t, err)
		_, err = raw.Exec(`INSERT INTO followers (name, position) VALUES ('board', 5)`)
		require.NoError(t, err)
		b, err = s.Backlog(t.Context(), now)
		require.NoError(t, err)
		require.Equal(t, store.Backlog{Due: 2, Oldest: now.Add(-time.Hour), Head: 7, Follows: map[string]int64{"board": 5}}, b)
	})
}

// TestPools: each database has a pool for batches and one for reads.
func TestPools(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		require.NoError(t, s.Ready(t.Context()))
		pools := s.Pools()
		require.Len(t, pools, 2)
		require.Equal(t, "batches", pools[0].Name)
		require.Equal(t, "reads", pools[1].Name)
		for _, p := range pools {
			require.Positive(t, p.Most)
			require.LessOrEqual(t, p.Used+p.Idle, p.Most)
		}
		require.Positive(t, pools[1].Used+pools[1].Idle)
		require.Zero(t, s.Unnumbered())
	})
}

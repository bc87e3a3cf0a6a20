package job_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
)

// TestTailOfHistory: whatever happens to customers, the tail has each of their events once,
// those of each in the order of commit; and a rebuild gives no event another number.
func TestTailOfHistory(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		read := func() []loyalty.TailEvent {
			done, err := s.Jobs().Run(ctx, "tail")
			require.NoError(t, err)
			require.Zero(t, done.Failed, done.Result)
			list, err := s.DB.Tail(ctx, 0, 1000)
			require.NoError(t, err)
			var events int
			require.NoError(t, s.Raw.QueryRow(`SELECT count(*) FROM events`).Scan(&events))
			require.Len(t, list, events)
			through := map[loyalty.ID]loyalty.ID{}
			for i, e := range list {
				require.Equal(t, int64(i+1), e.Number)
				require.Positive(t, loyalty.CompareID(e.ID, through[e.Customer]))
				through[e.Customer] = e.ID
			}

			return list
		}

		for _, name := range []string{"ada", "ben", "cleo"} {
			s.Must(name, "opt_in", `{"email":"`+name+`@shop.test"}`)
			s.Must(name, "point_add", `{"points":10}`)
		}

		before := read()
		s.Operate("ada", "merge", `{"source":"ben"}`)
		s.Wait(-time.Hour) // the clock is set back
		s.Must("ada", "point_add", `{"points":5}`)
		s.Must("cleo", "opt_out", `{}`)
		list := read()
		require.Equal(t, before, list[:len(before)])
		require.NoError(t, s.DB.VerifyRebuild(ctx, func(d rebuild.Difference) { t.Error(d) }, func(store.RebuildProgress) {}))
		require.Equal(t, list, read())
	})
}

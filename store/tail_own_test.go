package store_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestNumberingThatFails: what could not be numbered stays noted, so that it is told (the alert looks at how many wait),
// and is numbered by the next try, each event once, what committed meanwhile included.
func TestNumberingThatFails(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, gone := context.WithCancel(context.Background())
		gone()
		enrol(t, s, "n-", 5)
		require.NoError(t, credit(s, "n-", 5))
		waiting := s.Unnumbered()
		require.Positive(t, waiting)
		require.Error(t, s.NumberOwn(ctx))
		require.Equal(t, waiting, s.Unnumbered())
		since := s.UnnumberedSince()
		require.False(t, since.IsZero())
		require.NoError(t, credit(s, "n-", 5))
		require.Error(t, s.NumberOwn(ctx))
		require.Equal(t, since, s.UnnumberedSince())
		waiting = s.Unnumbered()

		require.NoError(t, s.NumberOwn(context.Background()))
		require.Zero(t, s.Unnumbered())
		state, err := s.TailState(context.Background())
		require.NoError(t, err)
		require.EqualValues(t, waiting, state.Head)
		seen := map[any]bool{}
		list, err := s.Tail(context.Background(), 0, 1000)
		require.NoError(t, err)
		for _, e := range list {
			require.False(t, seen[e.ID])
			seen[e.ID] = true
		}
	})
}

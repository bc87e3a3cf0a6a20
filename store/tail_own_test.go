package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
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

// TestNodesNumber: whichever node commits and whichever numbers, in whatever order, each event is in
// the tail once, those of a customer in the order of commit.
func TestNodesNumber(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		first := storetest.Open(t, url)
		enrol(t, first, "n-", 6)
		events := 0
		for seed := range uint64(12) { // new nodes each time: they do not expect each other yet
			draw := rand.New(rand.NewPCG(seed, 11))
			nodes := []*store.Store{storetest.Open(t, url), storetest.Open(t, url)}
			for range 8 {
				node := nodes[draw.IntN(len(nodes))]
				n := 1 + draw.IntN(6)
				require.NoError(t, credit(node, "n-", n))
				if events += n; draw.IntN(4) == 0 {
					require.NoError(t, node.NumberOwn(ctx))
				}
			}
			for _, node := range nodes {
				require.NoError(t, node.NumberOwn(ctx))
			}
		}

		for after, last := (loyalty.ID{}), false; !last; {
			var err error
			after, last, err = first.NumberBehind(ctx, after, 3)
			require.NoError(t, err)
		}

		list, err := first.Tail(ctx, 0, 10_000)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(events), fmt.Sprint(len(list)), "events in the tail")
		through := map[loyalty.ID]loyalty.ID{}
		for i, e := range list {
			require.EqualValues(t, i+1, e.Number)
			require.Positive(t, loyalty.CompareID(e.ID, through[e.Customer]))
			through[e.Customer] = e.ID
		}
	})
}

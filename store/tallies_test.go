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

// TestTallies: any number of counts is read, and those that were never counted are
// not among them.
func TestTallies(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		m := newMember(t, "ada", 0)
		var keys []string
		for i := range 1200 {
			keys = append(keys, fmt.Sprint(loyalty.TallyReward, i))
			if i%2 == 0 {
				m.writes.NewTallies = append(m.writes.NewTallies, loyalty.Tally{Key: keys[i], Count: int64(i)})
			}
		}

		m.save(s)
		counts, err := s.Tallies(t.Context(), keys)
		require.NoError(t, err)
		require.Len(t, counts, 600)
		for i, key := range keys {
			n, counted := counts[key]
			require.Equal(t, i%2 == 0, counted, key)
			require.True(t, !counted || n == int64(i), key)
		}

		none, err := s.Tallies(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, none)
	})
}

// TestClaimByID: a claim is found without its customer.
func TestClaimByID(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		m := newMember(t, "ada", 0)
		id := loyalty.NewID(m.now, loyalty.ID{})
		m.writes.NewRewardClaims = []loyalty.RewardClaim{{
			ID: id, Customer: m.c.ID, Reward: "mug", State: loyalty.ClaimClaimed, Points: 5, ClaimedAt: m.now, UpdatedAt: m.now,
		}}
		m.save(s)
		claim, customer, err := s.ClaimByID(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "ada mug claimed 5", fmt.Sprint(customer.Name, " ", claim.Reward, " ", claim.State, " ", claim.Points))
		_, _, err = s.ClaimByID(t.Context(), loyalty.NewID(m.now.Add(time.Second), loyalty.ID{}))
		require.ErrorIs(t, err, loyalty.ErrClaimUnknown)
	})
}

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// TestKeptCustomers: who was written a moment ago needs no load, nor does a new purchase of
// theirs. A refusal, a repeated request and whatever another node changed are loaded.
func TestKeptCustomers(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		counts := func(spared, loads int64, what string) {
			t.Helper()
			require.Equal(t, []int64{spared, loads}, []int64{s.Kept.Spared.Swap(0), s.Kept.Loads.Swap(0)}, "batches without a load, and loads: "+what)
		}

		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		counts(0, 1, "a new customer")
		s.Must("ada", "point_add", `{"points":100}`)
		s.Must("ada", "checkout", `{"transaction_id":"T-1","total":10}`)
		_, err := s.once("ada", "point_add", `{"points":5}`, "k")
		require.NoError(t, err)
		counts(3, 0, "their next events")

		s.Refused(loyalty.ErrTransactionExists, "ada", "checkout", `{"transaction_id":"T-1","total":10}`)
		require.Positive(t, s.Kept.Loads.Swap(0), "a refusal")
		again, err := s.once("ada", "point_add", `{"points":5}`, "k")
		require.NoError(t, err)
		require.NotNil(t, again.Replayed)
		require.Positive(t, s.Kept.Loads.Swap(0), "a repeated request")
		s.Refused(loyalty.ErrNotEnoughToSpend, "ada", "point_spend", `{"points":1000}`)
		require.Positive(t, s.Kept.Loads.Swap(0), "what is spent is loaded")
		require.Zero(t, s.Kept.Spared.Swap(0))
		s.Verify()
	})
}

// TestKeptCustomersOfNodes: two nodes change the same customers in turn; neither decides on
// what it kept.
func TestKeptCustomersOfNodes(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{}`}, func(t *testing.T, s *shop) {
		other := &shop{loyaltytest.ShopOver(t, s.DB, s.Raw, modules{"checkout_accept": `{}`})}
		for _, name := range []string{"ada", "bob"} {
			s.Must(name, "opt_in", `{"email":"`+name+`@shop.test"}`)
		}

		var score int64
		for i := range int64(40) {
			node := s
			if i%3 == 2 {
				node = other
			}
			score += 1 + i
			node.Must("ada", "point_add", fmt.Sprintf(`{"points":%d}`, 1+i))
		}

		require.Equal(t, points.Figures{Score: score}, s.Customer("ada").Figures)

		other.Must("bob", "opt_out", `{}`)
		s.Refused(loyalty.ErrCustomerNotFound, "bob", "point_add", `{"points":1}`)
		other.Must("ada", "reserve_points", `{"transaction_id":"T","points":1}`)
		other.Must("ada", "suspend", `{}`)
		s.Must("ada", "checkout", `{"transaction_id":"T","total":10}`)
		require.Zero(t, s.Customer("ada").Figures.Reserved, "the checkout freed what the other node had reserved")
		s.Verify()
	})
}

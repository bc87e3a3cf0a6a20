package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

func named(customer string) loyalty.CustomerNeeds {
	return loyalty.CustomerNeeds{Ref: loyalty.Name{Kind: loyalty.NameCustomer, Value: customer}}
}

// TestView shows a customer with what is due applied, and writes nothing.
func TestView(t *testing.T) {
	eachShop(t, modules{"points_economy": `{"expiry":{"policy":"rolling","days":10},"negative":"allow"}`}, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":40}`)
		s.Must("ben", "opt_in", `{"email":"ben@shop.test"}`)
		s.Wait(11 * 24 * time.Hour)
		before := s.Rows()

		looks := 0
		require.NoError(t, s.View(context.Background(), named("ada"), func(r *engine.Run) error {
			looks++
			if _, err := r.Claims().All(); err != nil { // not declared: loaded in a second round
				return err
			}
			require.Equal(t, int64(40), r.Book.Figures.Expired)
			require.Zero(t, r.Book.Figures.Spendable())
			return nil
		}))

		require.Equal(t, 2, looks)
		require.Equal(t, before, s.Rows(), "nothing is written")
		require.Equal(t, int64(40), s.Customer("ada").Figures.Spendable(), "only what is stored")

		require.ErrorIs(t, s.View(context.Background(), named("nobody"), func(*engine.Run) error { return nil }), loyalty.ErrCustomerNotFound)
		refusal := loyalty.ErrRewardStock
		require.ErrorIs(t, s.View(context.Background(), named("ben"), func(*engine.Run) error { return refusal }), refusal)
	})
}

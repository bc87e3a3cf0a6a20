package engine_test

import (
	"context"
	"testing"

	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// shop is a shop of the tests of the rules, with what this package's tests ask of it.
type shop struct{ *loyaltytest.Shop }

type (
	modules = loyaltytest.Modules
	things  = loyaltytest.Things
)

var ctx = context.Background()

// eachShop runs a test on both databases.
func eachShop(t *testing.T, m modules, test func(t *testing.T, s *shop)) {
	t.Helper()
	loyaltytest.EachShop(t, m, func(t *testing.T, s *loyaltytest.Shop) { test(t, &shop{s}) })
}

func newShop(t *testing.T, url string, m modules, more ...func(*engine.EngineOptions)) *shop {
	t.Helper()
	return &shop{loyaltytest.NewShop(t, url, m, more...)}
}

package admin_test

import (
	"testing"

	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

type desk = loyaltytest.Desk

func eachDesk(t *testing.T, engines int, test func(t *testing.T, d *desk)) {
	t.Helper()
	loyaltytest.EachDesk(t, engines, test)
}

func newDesk(t *testing.T, url string) *desk {
	t.Helper()
	return loyaltytest.NewDesk(t, url)
}

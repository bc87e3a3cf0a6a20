package money_test

import (
	"testing"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

func TestAmountsAreRoundedToTheSmallestUnitOfTheirCurrency(t *testing.T) {
	for _, c := range []struct{ currency, amount, want string }{
		{"EUR", "20.744", "20.74"},
		{"EUR", "20.745", "20.75"},
		{"EUR", "-20.745", "-20.75"},
		{"EUR", "-20.7449", "-20.74"},
		{"HUF", "20.745", "20.75"},
		{"JPY", "20.5", "21"},
		{"jpy ", "20.4999", "20"},
		{"JPY", "-0.5", "-1"},
		{"KWD", "0.0005", "0.001"},
		{"KWD", "0.0004", "0"},
		{"CLF", "0.0001", "0.0001"},
		{"points of a friend", "0.005", "0.01"},
		{"", "1.005", "1.01"},
		{"EUR", "922337203685477.5807", "922337203685477.58"},
		{"JPY", "922337203685477.5807", "922337203685477"}, // one more could not be kept
		{"JPY", "-922337203685477.5807", "-922337203685477"},
	} {
		amount, err := money.Parse(c.amount)
		if err != nil {
			t.Fatal(err)
		}
		if got := amount.RoundTo(money.Smallest(c.currency)).String(); got != c.want {
			t.Errorf("%s %q is rounded to %s, want %s", c.amount, c.currency, got, c.want)
		}
	}
}

package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestMuchIsReadBesideTheWriter: a purchase of thousands of lines, or a customer with thousands of lots, is decided
// while others write. A batch that loses that way is then decided with the writer, and cannot lose again.
func TestMuchIsReadBesideTheWriter(t *testing.T) {
	url := storetest.SQLite(t)
	s := storetest.Open(t, url)
	b := newBuyer(s, url, storetest.Raw(t, url))
	other, err := b.customer()
	require.NoError(t, err)
	// write is a batch of another caller, which gives up where it has to wait.
	write := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		return s.Within(ctx, loyalty.Needs{Now: boughtAt}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
			return &loyalty.Writes{Claims: []loyalty.Claim{{Name: loyalty.Name{Kind: loyalty.NameExternal, Value: loyalty.NewID(boughtAt, loyalty.ID{}).String()}, Owner: other.ID}}}, nil
		})
	}

	// decide loads as needs say and writes a line of the purchase; beside is done meanwhile.
	decide := func(needs loyalty.Needs, beside func()) (err error) {
		return s.Within(t.Context(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			beside()
			before := l.Customers[b.purchase.Customer].Transactions[b.name.Value]
			after := before.Clone()
			after.Refunded++
			return &loyalty.Writes{Transactions: []loyalty.Changed[loyalty.Transaction]{{Before: before, After: *after}}}, nil
		})
	}

	cases := map[string]struct {
		lines, lots int
		beside      bool // others write
	}{
		"little":         {lines: 3, lots: 10},
		"a large basket": {lines: 5000, beside: true},
		"many lots":      {lines: 3, lots: 5000, beside: true},
	}

	for what, c := range cases {
		require.NoError(t, b.buy(largeLines(c.lines)))
		var lots []loyalty.CustomerLot
		for range c.lots {
			lots = append(lots, loyalty.CustomerLot{Customer: b.purchase.Customer, Lot: points.Lot{ID: loyalty.NewID(boughtAt, loyalty.ID{}), Points: 1, Remaining: 1, EarnedAt: boughtAt}})
		}

		require.NoError(t, b.put(loyalty.Writes{NewLots: lots}))
		needs := b.needs()
		needs.Customers[0].Lots = loyalty.OpenLots
		var waited error
		require.NoError(t, decide(needs, func() { waited = write() }), what)
		if c.beside {
			require.NoError(t, waited, what)
			require.ErrorIs(t, decide(needs, func() { require.NoError(t, decide(needs, func() {})) }), loyalty.ErrBatchConflict, "%s: both changed it", what)
		} else {
			require.Error(t, waited, "%s: it is decided with the writer", what)
		}

		needs.Light = true
		if c.beside {
			require.ErrorIs(t, decide(needs, func() { require.Fail(t, "it is not decided") }), loyalty.ErrMuch, what)
		} else {
			require.NoError(t, decide(needs, func() {}), what)
		}

		needs.Light, needs.Locked = false, true
		require.NoError(t, decide(needs, func() { waited = write() }), what)
		require.True(t, errors.Is(waited, context.DeadlineExceeded) || errors.Is(waited, loyalty.ErrDatabaseAway), "%s, locked: %v", what, waited)
	}
}

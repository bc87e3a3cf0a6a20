package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// BenchmarkWithin measures the store alone, with the load and the write of a
// point_add: 16 callers, each with customers of its own, in batches of n. One
// operation is one event. LOYALTY_TEST_FSYNC=1 gives PostgreSQL its real commits.
func BenchmarkWithin(b *testing.B) {
	for _, database := range []struct {
		name string
		url  func(testing.TB) string
	}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}} {
		for _, n := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("%s/%d", database.name, n), func(b *testing.B) {
				benchmarkWithin(b, storetest.Open(b, database.url(b)), n)
			})
		}
	}
}

func benchmarkWithin(b *testing.B, s *store.Store, n int) {
	const callers = 16
	customers := make([][]loyalty.ID, callers)
	for i := range customers {
		customers[i] = enrol(b, s, fmt.Sprintf("c%d-", i), n)
	}

	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for left.Add(-int64(n)) > -int64(n) {
				if err := credit(s, fmt.Sprintf("c%d-", i), n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}

	wg.Wait()
}

var start = time.Now().Truncate(time.Millisecond).UTC()

// enrol creates n customers, active and without points.
func enrol(t testing.TB, s *store.Store, prefix string, n int) []loyalty.ID {
	t.Helper()
	ids := make([]loyalty.ID, n)
	var w loyalty.Writes
	for i := range n {
		c := storetest.Member(fmt.Sprint(prefix, i), start)
		c.Profile = loyalty.Profile{Email: c.Name + "@example.org", FirstName: "Ann", LastName: "Example"}
		storetest.Enrol(&w, c)
		ids[i] = c.ID
	}
	require.NoError(t, storetest.Put(s, start, w))
	return ids
}

// credit gives one point to each of n customers in one batch.
func credit(s *store.Store, prefix string, n int) error {
	return creditUntil(context.Background(), s, prefix, n)
}

func creditUntil(ctx context.Context, s *store.Store, prefix string, n int) error {
	now := time.Now()
	needs := loyalty.Needs{Now: now}
	for i := range n {
		ref := loyalty.Name{Kind: loyalty.NameCustomer, Value: fmt.Sprint(prefix, i)}
		needs.Customers = append(needs.Customers, loyalty.CustomerNeeds{Ref: ref})
	}

	return s.Within(ctx, needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		w := &loyalty.Writes{}
		for _, c := range l.Customers {
			before, after := c.Customer, c.Customer
			book := points.NewBook(after.Figures, after.LastActivityAt, time.UTC, nil)
			id := loyalty.NewID(now, after.LastEvent)
			lot, err := book.Credit(id, 1, points.Lot{EarnedAt: now})
			if err != nil {
				return nil, err
			}

			after.Figures, after.LastEvent, after.LastActivityAt = book.Figures, id, now
			w.Customers = append(w.Customers, loyalty.Changed[loyalty.Customer]{Before: before, After: after})
			one := int64(1)
			w.Events = append(w.Events, loyalty.Event{ID: id, Customer: after.ID, Action: "point_add", Points: &one, At: now, RecordedAt: now, SentBy: "LK7F3M2QX9TB4WHD",
				Data: json.RawMessage(`{"points":1,"order_id":"ORD-2026-000123456","total":129.9,"currency":"EUR"}`)})
			for _, p := range book.Postings {
				w.Postings = append(w.Postings, loyalty.CustomerPosting{Customer: after.ID, Posting: p})
			}

			w.NewLots = append(w.NewLots, loyalty.CustomerLot{Customer: after.ID, Lot: *lot})
		}

		return w, nil
	})
}

// checkout has the shape of a purchase of three lines that burns points: a
// reservation to look for, lots to burn, a name to claim, five events.
func checkout(s *store.Store, customer, name string) error {
	now := time.Now()
	ref := loyalty.Name{Kind: loyalty.NameCustomer, Value: customer}
	needs := loyalty.Needs{Now: now, Customers: []loyalty.CustomerNeeds{
		{Ref: ref, Lots: loyalty.OpenLots, Transactions: []string{name}, Reservations: []string{name}}}}
	return s.Within(context.Background(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		c := l.Customers[l.Names[ref]]
		w := &loyalty.Writes{Claims: []loyalty.Claim{{Name: loyalty.Name{Kind: loyalty.NameTransaction, Value: name}, Owner: c.Customer.ID}}}
		after, burned := c.Customer, c.Lots[0]
		burned.Remaining, burned.Spent = burned.Remaining-1, burned.Spent+1
		w.Lots = []loyalty.Changed[loyalty.CustomerLot]{{Before: loyalty.CustomerLot{Customer: after.ID, Lot: c.Lots[0]},
			After: loyalty.CustomerLot{Customer: after.ID, Lot: burned}}}
		for i := range 5 {
			id := loyalty.NewID(now, after.LastEvent)
			after.LastEvent = id
			w.Events = append(w.Events, loyalty.Event{ID: id, Customer: after.ID, Action: "item", Transaction: name, At: now, RecordedAt: now})
			if i > 1 {
				w.NewLots = append(w.NewLots, loyalty.CustomerLot{Customer: after.ID, Lot: points.Lot{ID: id, Transaction: name, Points: 3, Remaining: 3, EarnedAt: now}})
				w.Postings = append(w.Postings, loyalty.CustomerPosting{Customer: after.ID, Posting: points.Posting{Event: id, From: points.Issued, To: points.Available, Lot: id, Points: 3}})
			}
		}

		after.Figures.Score, after.Figures.Spent = after.Figures.Score+9, after.Figures.Spent+1
		w.Customers = []loyalty.Changed[loyalty.Customer]{{Before: c.Customer, After: after}}
		w.NewTransactions = []loyalty.Transaction{{Customer: after.ID, Name: name, UpdatedAt: now,
			PurchaseState: loyalty.PurchaseState{State: loyalty.Accepted}, PurchaseOpening: loyalty.PurchaseOpening{Checkout: w.Events[0].ID, CreatedAt: now}}}
		return w, nil
	})
}

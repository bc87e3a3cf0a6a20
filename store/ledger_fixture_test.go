package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// member is a customer whose ledger is written by the same Book as in the
// engine; each step is an event a second after the one before.
type member struct {
	t      *testing.T
	c      loyalty.Customer
	book   *points.Book
	now    time.Time
	writes loyalty.Writes
	holds  map[string][]points.Portion
	events map[string]loyalty.ID // by a name that tests give
}

var ledgerStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newMember(t *testing.T, name string, joined time.Duration) *member {
	at := ledgerStart.Add(joined)
	m := &member{
		t: t, now: at, c: storetest.Member(name, at), holds: map[string][]points.Portion{}, events: map[string]loyalty.ID{},
	}
	m.book = points.NewBook(points.Figures{}, time.Time{}, time.UTC, nil)
	m.event("joined", "opt_in", "")
	return m
}

func (m *member) event(key, action, transaction string) loyalty.ID {
	m.now = m.now.Add(time.Second)
	m.c.LastEvent = loyalty.NewID(m.now, m.c.LastEvent)
	m.events[key] = m.c.LastEvent
	m.writes.Events = append(m.writes.Events, loyalty.Event{
		ID: m.c.LastEvent, Customer: m.c.ID, Action: action, Transaction: transaction, At: m.now, RecordedAt: m.now, SentBy: "LKFIXTURE", Data: []byte("{}"),
	})
	return m.c.LastEvent
}

func (m *member) earn(key string, n int64, expires time.Time) {
	id := m.event(key, "point_add", "")
	_, err := m.book.Credit(id, n, points.Lot{EarnedAt: m.now, ExpiresAt: expires})
	require.NoError(m.t, err)
	m.book.Settle(id)
}

func (m *member) spend(key string, n int64) {
	_, err := m.book.Spend(m.event(key, "point_spend", ""), n)
	require.NoError(m.t, err)
}

func (m *member) take(key string, n int64) {
	require.NoError(m.t, m.book.Take(m.event(key, "point_sub", ""), n))
}

func (m *member) expire(key, lot string) {
	m.book.Expire(m.event(key, "point_expire", ""), m.book.Lot(m.events[lot]))
}

func (m *member) reserve(transaction string, n int64) {
	hold, err := m.book.Reserve(m.event("reserve "+transaction, "reserve_points", transaction), n)
	require.NoError(m.t, err)
	m.holds[transaction] = hold
}

// purchase is a checkout with one item.
func (m *member) purchase(name string, state loyalty.TransactionState, earned, burned int64) {
	m.writes.Claims = append(m.writes.Claims, loyalty.Claim{Name: loyalty.Name{Kind: loyalty.NameTransaction, Value: name}, Owner: m.c.ID})
	checkout := m.event("checkout "+name, "checkout", name)
	var burn []points.Portion
	var err error
	if state == loyalty.Pending {
		burn, err = m.book.Reserve(m.event("burn "+name, "point_burn", name), burned)
		require.NoError(m.t, err)
		require.NoError(m.t, m.book.Promise(m.event("item "+name, "checkout_item", name), earned))
	} else {
		burn, err = m.book.Spend(m.event("burn "+name, "point_burn", name), burned)
		require.NoError(m.t, err)
		item := m.event("item "+name, "checkout_item", name)
		_, err = m.book.Credit(item, earned, points.Lot{Transaction: name, EarnedAt: m.now})
		require.NoError(m.t, err)
	}

	m.writes.NewTransactions = append(m.writes.NewTransactions, loyalty.Transaction{
		Customer: m.c.ID, Name: name, UpdatedAt: m.now, PurchaseOpening: loyalty.PurchaseOpening{Checkout: checkout, CreatedAt: m.now, CheckoutDate: m.now},
		PurchaseState: loyalty.PurchaseState{State: state, Earned: earned, Burned: burned}, PurchaseOrigin: loyalty.PurchaseOrigin{OriginalEarned: earned, OriginalBurned: burned},
		Detail: loyalty.TransactionDetail{PurchaseUses: loyalty.PurchaseUses{Burn: burn}},
	})
}

// save writes everything in one batch.
func (m *member) save(s *store.Store) {
	m.t.Helper()
	m.c.Figures = m.book.Figures
	w := m.writes
	storetest.Enrol(&w, m.c)
	for _, p := range m.book.Postings {
		w.Postings = append(w.Postings, loyalty.CustomerPosting{Customer: m.c.ID, Posting: p})
	}

	for _, l := range m.book.Lots() {
		w.NewLots = append(w.NewLots, loyalty.CustomerLot{Customer: m.c.ID, Lot: *l})
	}

	for name, hold := range m.holds {
		w.NewReservations = append(w.NewReservations, loyalty.Reservation{Customer: m.c.ID, Transaction: name, Hold: hold})
	}

	require.NoError(m.t, storetest.Put(s, m.now, w))
}

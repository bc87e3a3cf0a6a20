package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store"
)

// Run tests what a database must do to keep a programme.
func Run(t *testing.T, d Database) {
	for _, part := range []struct {
		name string
		test func(*testing.T, *bench)
	}{
		{"every row comes back", everyRow},
		{"absent things are absent", absences},
		{"lot scopes", lotScopes},
		{"due customers bring what is due", dueRows},
		{"due list", dueList},
		{"e-mail finds the oldest inactive", byEmail},
		{"guards", guardsHold},
		{"each part of a guard", eachGuard},
		{"claims are unique", claimsUnique},
		{"an error of work rolls back", workFails},
		{"answers", answersLive},
		{"opt_out leaves nothing", optOut},
		{"a claimed purchase changes hands", changesHands},
		{"races", races},
		{"programme rows come back", programmeRows},
		{"programme guards", programmeGuards},
		{"merged customers", merges},
		{"e-mail matches the oldest live", matches},
		{"the past", past},
		{"pools", pools},
		{"a code is given once", codesOnce},
		{"shared counts", countsShared},
		{"locked coupons", couponsLocked},
		{"due customers are shared out", dueShared},
		{"entities", entities},
		{"job table", jobTable},
		{"the journal is append-only", appendOnly},
		{"the tail", tail},
		{"races of the tail", tailRaces},
		{"a tail of many events", tailOfMany},
		{"the feed", feed},
	} {
		t.Run(part.name, func(t *testing.T) {
			url := d.Migrated(t)
			part.test(t, &bench{d: d, url: url, s: Open(t, url), now: time.Date(2026, 3, 5, 12, 0, 0, 123e6, time.UTC)})
		})
	}

	t.Run("migrations", func(t *testing.T) { migrations(t, d) })
}

// bench is a store under test and its clock.
type bench struct {
	d   Database
	url string
	s   *store.Store
	now time.Time
}

type (
	changedCustomer = loyalty.Changed[loyalty.Customer]
	changedLot      = loyalty.Changed[loyalty.CustomerLot]
)

var errWork = errors.New("work says no")

// put writes a batch that needs no load.
func (b *bench) put(w loyalty.Writes) error {
	return Put(b.s, b.now, w)
}

// get loads and writes nothing.
func (b *bench) get(t testing.TB, needs ...loyalty.CustomerNeeds) *loyalty.Loaded {
	t.Helper()
	var out *loyalty.Loaded
	err := b.s.Within(context.Background(), loyalty.Needs{Now: b.now, Customers: needs},
		func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			out = l
			return &loyalty.Writes{}, nil
		})
	require.NoError(t, err)
	return out
}

// reload returns a customer with all their rows.
func (b *bench) reload(t testing.TB, id loyalty.ID) *loyalty.Loading {
	t.Helper()
	return b.get(t, loyalty.CustomerNeeds{ID: id, Key: true, Lots: loyalty.UsedLots,
		Transactions: []string{"t-1", "t-2"}, Reservations: []string{"t-1", "t-2"}}).Customers[id]
}

func (b *bench) count(t testing.TB, table string) (n int) {
	t.Helper()
	require.NoError(t, Raw(t, b.url).QueryRow(`SELECT count(*) FROM `+table).Scan(&n))
	return n
}

func customerName(value string) loyalty.Name {
	return loyalty.Name{Kind: loyalty.NameCustomer, Value: value}
}

// customer makes an active customer with every field set.
func (b *bench) customer(name string) loyalty.Customer {
	c := Member(name, b.now)
	c.Key, c.LastEvent, c.LastActivityAt = []byte("a key of thirty-two bytes in all"),
		loyalty.NewID(b.now, loyalty.ID{}), b.now
	c.Figures = points.Figures{Score: 100, Spent: 10, Reserved: 20, Expired: 5, Pending: 7, Debt: 3}
	c.Profile = loyalty.Profile{
		Handler: "Handler " + name, Email: " " + name + "@Example.ORG", FirstName: "Zoë", LastName: "O'Neil", Language: "hu",
		Gender: "f", Currency: "EUR", ImageURL: "https://example.org/i.png", BirthDate: "1990-02-28",
		Labels: []string{"vip", "új"}, ExternalIDs: loyalty.ExternalIDs{"crm": {"42"}, "card": {"4711", "4712"}},
		Custom:   map[string]json.RawMessage{"cf_size": json.RawMessage(`{"eu":42}`)},
		Referrer: loyalty.NewID(b.now, loyalty.ID{}),
	}
	return c
}

// enrol writes a customer with their name.
func (b *bench) enrol(t testing.TB, c loyalty.Customer) loyalty.Customer {
	t.Helper()
	var w loyalty.Writes
	Enrol(&w, c)
	require.NoError(t, b.put(w))
	return c
}

func (b *bench) lot(c loyalty.Customer, remaining, reserved, spent int64) loyalty.CustomerLot {
	return loyalty.CustomerLot{Customer: c.ID,
		Lot: points.Lot{ID: loyalty.NewID(b.now, loyalty.ID{}), Points: remaining + reserved + spent + 9,
			Remaining: remaining, Reserved: reserved, Spent: spent, Expired: 9, EarnedAt: b.now,
			ExpiresAt: b.now.Add(time.Hour)}}
}

func (b *bench) purchase(c loyalty.Customer, name string) loyalty.Transaction {
	return loyalty.Transaction{
		Customer: c.ID, Holder: c.ID, Name: name, OriginalTotal: 1000000, UpdatedAt: b.now.Add(time.Millisecond),
		PurchaseOpening: loyalty.PurchaseOpening{Checkout: loyalty.NewID(b.now, loyalty.ID{}), CreatedAt: b.now,
			CheckoutDate: b.now.Add(-time.Hour)},
		PurchaseState: loyalty.PurchaseState{State: loyalty.Pending, Total: 999900, Refunded: 100, Earned: 98, Burned: 29,
			AutoAccept: b.now.Add(time.Hour), AutoReject: true},
		PurchaseOrigin: loyalty.PurchaseOrigin{OriginalEarned: 99, OriginalBurned: 30},
		Detail: loyalty.TransactionDetail{Personal: []byte{0, 1},
			Items: []loyalty.Line{{ProductID: "p", Quantity: 2, Subtotal: money.Amount(12500),
				LineFigures: loyalty.LineFigures{Points: 3},
				Data:        map[string]json.RawMessage{"subtotal": json.RawMessage(`1.25`)}}}},
	}
}

// t1 is the name of the purchase that most parts use.
var t1 = loyalty.Name{Kind: loyalty.NameTransaction, Value: "t-1"}

func (b *bench) event(c loyalty.Customer) loyalty.Event {
	n, idle := int64(-5), &loyalty.LotEffect{Idle: points.Period{Months: 12}}
	return loyalty.Event{ID: loyalty.NewID(b.now, loyalty.ID{}), Parent: loyalty.NewID(b.now, loyalty.ID{}),
		Customer: c.ID, Action: "point_add",
		Transaction: "t-1", Points: &n, ExpDate: b.now.Add(time.Hour), At: b.now.Add(-time.Minute),
		RecordedAt: b.now, SentBy: "LKSENDER",
		Data: json.RawMessage(`{"a": 1.0,"b":"\u0000"}`), Personal: []byte{1, 0, 2},
		Effects: &loyalty.Effects{Status: loyalty.Active, Lot: idle}}
}

// full writes a customer with one row of everything.
func (b *bench) full(t testing.TB, name string) (loyalty.Customer, loyalty.Writes) {
	t.Helper()
	c := b.customer(name)
	lot, e := b.lot(c, 50, 20, 10), b.event(c)
	w := loyalty.Writes{
		NewCustomers: []loyalty.Customer{c}, Events: []loyalty.Event{e}, NewLots: []loyalty.CustomerLot{lot},
		Claims: []loyalty.Claim{{Name: t1, Owner: c.ID}, {Name: customerName(name), Owner: c.ID},
			{Name: loyalty.Name{Kind: loyalty.NameExternal, Value: "crm:42"}, Owner: c.ID}},
		Postings: []loyalty.CustomerPosting{{Customer: c.ID,
			Posting: points.Posting{Event: e.ID, Seq: 1, From: points.Issued, To: points.Available, Lot: lot.ID, Points: 5}}},
		NewTransactions: []loyalty.Transaction{b.purchase(c, "t-1")},
		NewReservations: []loyalty.Reservation{{Customer: c.ID, Transaction: "t-1",
			Hold: []points.Portion{{Lot: lot.ID, Points: 20}}}},
	}
	require.NoError(t, b.put(w))
	return c, w
}

func name(i int) string { return fmt.Sprintf("c-%02d", i) }

// unchained is a customer without the chain of their journal, which the store maintains.
func unchained(c loyalty.Customer) loyalty.Customer {
	c.Chain = loyalty.Chain{}
	return c
}

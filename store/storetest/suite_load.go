package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

func everyRow(t *testing.T, b *bench) {
	c, w := b.full(t, "c-1")
	l := b.get(t, loyalty.CustomerNeeds{Ref: customerName("c-1"), Key: true, Lots: loyalty.OpenLots,
		Transactions: []string{"t-1"},
		Reservations: []string{"t-1"}, Names: []loyalty.Name{{Kind: loyalty.NameExternal, Value: "crm:42"}}})
	require.Equal(t, map[loyalty.Name]loyalty.ID{w.Claims[0].Name: c.ID, w.Claims[1].Name: c.ID, w.Claims[2].Name: c.ID},
		l.Names)
	require.Len(t, l.Customers, 1)
	got := l.Customers[c.ID]
	require.Equal(t, c, unchained(got.Customer))
	require.Equal(t, []points.Lot{w.NewLots[0].Lot}, got.Lots)
	require.Equal(t, loyalty.OpenLots, got.LotScope)
	require.Equal(t, map[string]loyalty.Transaction{"t-1": w.NewTransactions[0]}, got.Transactions)
	require.Equal(t, map[string]loyalty.Reservation{"t-1": w.NewReservations[0]}, got.Reservations)
	b.journal(t, w)

	// The same customer, named in another way, and several times at once.
	l = b.get(t, loyalty.CustomerNeeds{ID: c.ID, Lots: loyalty.UsedLots},
		loyalty.CustomerNeeds{Ref: w.Claims[2].Name, Lots: loyalty.OpenLots},
		loyalty.CustomerNeeds{Ref: customerName("c-1")},
		loyalty.CustomerNeeds{Ref: customerName("c-1"), Reservations: []string{"t-1"}})
	require.Len(t, l.Customers, 1)
	got = l.Customers[c.ID]
	require.Nil(t, got.Customer.Key, "nobody asked for the key")
	require.Len(t, got.Lots, 1)
	require.Equal(t, loyalty.UsedLots, got.LotScope)
	require.Len(t, got.Reservations, 1)
	require.Empty(t, got.Transactions)
}

// journal compares the event and the posting, which no batch loads.
func (b *bench) journal(t *testing.T, w loyalty.Writes) {
	t.Helper()
	raw, e, p := Raw(t, b.url), w.Events[0], w.Postings[0]
	var action, tx, data, effects, sender string
	var at, recorded, exp, n, seq, from, to int64
	var personal []byte
	require.NoError(t, raw.QueryRow(`SELECT action, transaction_id, data, effects, at, recorded_at, exp_date, points, personal, sent_by FROM events`).
		Scan(&action, &tx, &data, &effects, &at, &recorded, &exp, &n, &personal, &sender))
	require.Equal(t, []any{e.Action, e.Transaction, string(e.Data), `{"status":"active","lot":{"idle":{"months":12}}}`,
		e.At.UnixMilli(), e.RecordedAt.UnixMilli(),
		e.ExpDate.UnixMilli(), *e.Points, e.Personal, e.SentBy},
		[]any{action, tx, data, effects, at, recorded, exp, n, personal, sender})
	require.NoError(t, raw.QueryRow(`SELECT p.seq, p.from_account, p.to_account, p.points FROM postings p JOIN events e
 ON e.customer_id = p.customer_id AND e.id = p.event_id JOIN lots l ON l.customer_id = p.customer_id AND l.id = p.lot_id`).Scan(&seq, &from, &to, &n))
	require.Equal(t, []int64{int64(p.Seq), int64(p.From), int64(p.To), p.Points}, []int64{seq, from, to, n})
}

func absences(t *testing.T, b *bench) {
	c := b.enrol(t, loyalty.Customer{ID: loyalty.NewID(b.now, loyalty.ID{}), Name: "bare", Status: loyalty.Inactive,
		CreatedAt: b.now, UpdatedAt: b.now})
	l := b.get(t, loyalty.CustomerNeeds{Ref: customerName("bare"), Key: true, Lots: loyalty.UsedLots,
		Transactions: []string{"none"}, Reservations: []string{"none"}},
		loyalty.CustomerNeeds{Ref: customerName("nobody"), Lots: loyalty.OpenLots, Email: "nobody@example.org"})
	require.Equal(t, map[loyalty.Name]loyalty.ID{customerName("bare"): c.ID}, l.Names)
	require.Equal(t, map[loyalty.ID]*loyalty.Loading{c.ID: {Customer: c, LotScope: loyalty.UsedLots,
		Transactions: map[string]loyalty.Transaction{}, Reservations: map[string]loyalty.Reservation{}}}, l.Customers)
	require.NotNil(t, l.Emails)
	require.Empty(t, l.Emails)
	require.NotNil(t, l.Answers)

	// An event may lack every optional value.
	require.NoError(t, b.put(loyalty.Writes{Events: []loyalty.Event{{ID: loyalty.NewID(b.now, loyalty.ID{}), Customer: c.ID, Action: "visit", At: b.now, RecordedAt: b.now}}}))
	var n int
	require.NoError(t, Raw(t, b.url).
		QueryRow(`SELECT count(*) FROM events WHERE parent IS NULL AND transaction_id IS NULL AND points IS NULL
 AND exp_date IS NULL AND data IS NULL AND personal IS NULL AND effects IS NULL AND sent_by IS NULL`).Scan(&n))
	require.Equal(t, 1, n)
}

func lotScopes(t *testing.T, b *bench) {
	c := b.enrol(t, b.customer("c-1"))
	open, reserved, spent, bought, gone := b.lot(c, 1, 0, 0), b.lot(c, 0, 1, 0), b.lot(c, 0, 0, 1),
		b.lot(c, 0, 0, 0), b.lot(c, 0, 0, 0)
	bought.Transaction = "t-1"
	bought.Idle = points.Period{Months: 1, Days: 2}
	require.NoError(t, b.put(loyalty.Writes{NewLots: []loyalty.CustomerLot{open, reserved, spent, bought, gone}}))
	require.Empty(t, b.get(t, loyalty.CustomerNeeds{ID: c.ID}).Customers[c.ID].Lots)
	lots := func(scope loyalty.LotScope, transactions ...string) []points.Lot {
		return b.get(t, loyalty.CustomerNeeds{ID: c.ID, Lots: scope, Transactions: transactions}).Customers[c.ID].Lots
	}
	require.ElementsMatch(t, []points.Lot{reserved.Lot}, lots(loyalty.HeldLots, "t-1"))
	require.ElementsMatch(t, []points.Lot{open.Lot, reserved.Lot}, lots(loyalty.OpenLots, "t-1"))
	require.ElementsMatch(t, []points.Lot{open.Lot, reserved.Lot, spent.Lot}, lots(loyalty.UsedLots))
	require.ElementsMatch(t, []points.Lot{open.Lot, reserved.Lot, spent.Lot, bought.Lot}, lots(loyalty.UsedLots, "t-1"))
}

func dueRows(t *testing.T, b *bench) {
	due, later := b.customer("due"), b.customer("later")
	due.DueAt, later.DueAt = b.now, b.now.Add(time.Millisecond)
	for _, c := range []loyalty.Customer{b.enrol(t, due), b.enrol(t, later)} {
		expected, byHand, accepted := b.purchase(c, "expected-"+c.Name), b.purchase(c, "by-hand-"+c.Name),
			b.purchase(c, "accepted-"+c.Name)
		byHand.AutoAccept, accepted.State = time.Time{}, loyalty.Accepted
		require.NoError(t, b.put(loyalty.Writes{NewLots: []loyalty.CustomerLot{b.lot(c, 1, 0, 0), b.lot(c, 1, 1, 0), b.lot(c, 0, 0, 1)},
			NewTransactions: []loyalty.Transaction{expected, byHand, accepted}}))
	}

	l := b.get(t, loyalty.CustomerNeeds{Ref: customerName("due"), Lots: loyalty.HeldLots},
		loyalty.CustomerNeeds{Ref: customerName("later")})
	got := l.Customers[due.ID]
	require.Equal(t, loyalty.OpenLots, got.LotScope)
	require.Len(t, got.Lots, 2)
	require.Len(t, got.Transactions, 1)
	require.Contains(t, got.Transactions, "expected-due")
	require.Empty(t, l.Customers[later.ID].Lots)
	require.Empty(t, l.Customers[later.ID].Transactions)
	// Requested lots are not read a second time.
	require.Len(t, b.get(t, loyalty.CustomerNeeds{ID: due.ID, Lots: loyalty.UsedLots}).Customers[due.ID].Lots, 3)
}

func dueList(t *testing.T, b *bench) {
	var want []loyalty.ID
	for i := range 4 {
		c := b.customer(name(i))
		if i > 0 {
			c.DueAt = b.now.Add(time.Duration(2-i) * time.Second)
		}
		b.enrol(t, c)
		if i >= 2 {
			want = append([]loyalty.ID{c.ID}, want...)
		}
	}

	got, err := b.s.Due(context.Background(), b.now, 10)
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = b.s.Due(context.Background(), b.now, 1)
	require.NoError(t, err)
	require.Equal(t, want[:1], got)
}

func byEmail(t *testing.T, b *bench) {
	young, old, active := b.customer("young"), b.customer("old"), b.customer("active")
	young.Status, old.Status = loyalty.Inactive, loyalty.Inactive
	old.CreatedAt, active.CreatedAt = b.now.Add(-time.Hour), b.now.Add(-2*time.Hour)
	for _, c := range []*loyalty.Customer{&young, &old, &active} {
		c.Profile.Email = " Ann@Example.ORG "
		b.enrol(t, *c)
	}
	l := b.get(t, loyalty.CustomerNeeds{Ref: customerName("new"), Key: true, Email: "ann@example.org"})
	require.Equal(t, map[string]loyalty.ID{"ann@example.org": old.ID}, l.Emails)
	require.Equal(t, old, l.Customers[old.ID].Customer, "found and loaded, with the key that was asked for")
	require.Len(t, l.Customers, 1)
}

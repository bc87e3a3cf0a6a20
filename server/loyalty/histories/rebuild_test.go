package histories_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
)

// nth is an id; those with greater numbers are later.
func nth(n byte) loyalty.ID { return loyalty.ID{6: 0x70, 8: 0x80, 15: n} }

var (
	ada, ben, cid = nth(1), nth(2), nth(3)
	monday        = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
)

// on is an event of a customer, with what it did.
func on(customer loyalty.ID, n byte, x loyalty.Effects) *loyalty.Event {
	at := monday.Add(time.Duration(n) * time.Hour)
	return &loyalty.Event{ID: nth(n), Customer: customer, At: at, RecordedAt: at, Effects: &x}
}

// folded folds events in the order given and gives what is told of the rows.
func folded(events []*loyalty.Event, members []loyalty.ID, stored func(*rebuild.Rebuild, *rebuild.Family)) string {
	var lines []string
	var far []loyalty.Event
	for _, e := range events {
		if e.Effects.MergedFrom != nil || e.Effects.Holder != nil {
			far = append(far, *e)
		}
	}

	rb := rebuild.NewRebuild(far, func(d rebuild.Difference) {
		lines = append(lines, fmt.Sprintf("%s %s: %s, not %s", d.What, d.Field, d.Journal, d.Stored))
	})
	f := rb.Family(members...)
	for _, e := range events {
		f.Event(e)
	}

	stored(rb, f)
	return strings.Join(lines, "\n")
}

func TestRebuildFoldsPurchases(t *testing.T) {
	accepted := loyalty.TransactionEffect{
		PurchaseState:  loyalty.PurchaseState{State: loyalty.Accepted, Total: 90, Refunded: 10, Earned: 8},
		PurchaseOrigin: loyalty.PurchaseOrigin{OriginalEarned: 9}, Items: 2,
	}

	item := func(n byte, points int64) *loyalty.Event {
		e := on(ada, n, loyalty.Effects{})
		e.Action, e.Transaction, e.Points = "checkout_item", "T", &points
		return e
	}

	said := func(e *loyalty.Event) *loyalty.Event { e.Transaction = "T"; return e }
	returned := loyalty.LineFigures{Points: 6, Returned: 1, TakenBack: 1}
	row := loyalty.Transaction{
		Customer: ada, Name: "T", PurchaseState: accepted.PurchaseState, PurchaseOrigin: accepted.PurchaseOrigin, OriginalTotal: 100,
		PurchaseOpening: loyalty.PurchaseOpening{Checkout: nth(10), CreatedAt: monday.Add(10 * time.Hour), CheckoutDate: monday.Add(10 * time.Hour)},
		UpdatedAt:       monday.Add(13 * time.Hour),
		Detail:          loyalty.TransactionDetail{Items: []loyalty.Line{{Event: nth(11), LineFigures: returned}, {Event: nth(12), LineFigures: loyalty.LineFigures{Points: 3}}}},
	}

	bought := []*loyalty.Event{
		said(on(ada, 10, loyalty.Effects{Transaction: &loyalty.TransactionEffect{
			PurchaseState: loyalty.PurchaseState{State: loyalty.Accepted, Total: 100, Earned: 9}, PurchaseOrigin: accepted.PurchaseOrigin, Items: 2,
		}})),
		item(11, 6), item(12, 3),
		on(ada, 13, loyalty.Effects{Purchases: []loyalty.TransactionEffect{func() loyalty.TransactionEffect {
			x := accepted
			x.Name, x.Lines = "T", []loyalty.LineEffect{{Event: nth(11), LineFigures: returned}}
			return x
		}()}}),
	}

	for name, c := range map[string]struct {
		change func(*loyalty.Transaction)
		events []*loyalty.Event
		found  string
	}{
		"as it is":                       {},
		"no row":                         {func(r *loyalty.Transaction) { r.Name = "" }, nil, "transaction  exists: false, not true\ntransaction T exists: true, not false"},
		"an unknown line":                {func(r *loyalty.Transaction) { r.Detail.Items[1].Event = nth(99) }, nil, `transaction T items[1]: no such line, not {"event":"` + nth(99).String() + `","points":3}`},
		"a lost line":                    {func(r *loyalty.Transaction) { r.Detail.Items = r.Detail.Items[:1] }, nil, "transaction T items: 2, not 1"},
		"a burn":                         {func(r *loyalty.Transaction) { r.Detail.Burn = []points.Portion{{Lot: ada, Points: 4}} }, nil, "transaction T burn: , not " + ada.String() + ": 4"},
		"a bonus":                        {func(r *loyalty.Transaction) { r.Detail.Bonus = 2 }, nil, "transaction T bonus: 0, not 2"},
		"an unused offer":                {func(r *loyalty.Transaction) { r.Detail.Unused = []string{"O"} }, nil, `transaction T unused: null, not ["O"]`},
		"a coupon":                       {func(r *loyalty.Transaction) { r.Detail.Coupons = []loyalty.RedeemedCoupon{{Code: "C", Event: ada}} }, nil, `transaction T coupons: null, not [{"code":"C","event":"` + ada.String() + `"}]`},
		"another's":                      {func(r *loyalty.Transaction) { r.Customer = ben }, nil, "transaction T customer: " + ada.String() + ", not " + ben.String()},
		"an event that says no purchase": {nil, []*loyalty.Event{said(on(ada, 14, loyalty.Effects{Transaction: &loyalty.TransactionEffect{}}))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := row
			r.Detail.Items = append([]loyalty.Line{}, row.Detail.Items...)
			if c.change != nil {
				c.change(&r)
			}
			require.Equal(t, c.found, folded(append(bought[:4:4], c.events...), []loyalty.ID{ada}, func(_ *rebuild.Rebuild, f *rebuild.Family) {
				f.Account(&loyalty.Customer{ID: ada})
				f.Balance(ada, points.Figures{}, nth(20))
				f.Purchase(&r)
				f.Close()
			}))
		})
	}
}

// A purchase that changed hands is what its new holder's events say, with the
// checkout of the guest; it is the same when both are one by now.
func TestRebuildFoldsClaims(t *testing.T) {
	effect := func(state loyalty.TransactionState, earned, original int64) *loyalty.TransactionEffect {
		return &loyalty.TransactionEffect{PurchaseState: loyalty.PurchaseState{State: state, Earned: earned}, PurchaseOrigin: loyalty.PurchaseOrigin{OriginalEarned: original}}
	}
	opened := loyalty.PurchaseOpening{Checkout: nth(10), CreatedAt: monday, CheckoutDate: monday.Add(time.Minute)}
	guest := []*loyalty.Event{
		on(ada, 10, loyalty.Effects{Transaction: effect(loyalty.Pending, 5, 0)}),
		on(ada, 11, loyalty.Effects{Transaction: effect(loyalty.NoTransaction, 0, 0)}),
	}

	claimer := []*loyalty.Event{
		on(ben, 11, loyalty.Effects{Transaction: effect(loyalty.Pending, 5, 0), Holder: &ben}),
		on(ben, 12, loyalty.Effects{Transaction: effect(loyalty.Accepted, 5, 5)}),
	}

	claimer[0].Effects.Transaction.Opened = &opened
	row := loyalty.Transaction{
		Customer: ben, Name: "T", PurchaseOpening: opened, UpdatedAt: monday.Add(12 * time.Hour),
		PurchaseState: loyalty.PurchaseState{State: loyalty.Accepted, Earned: 5}, PurchaseOrigin: loyalty.PurchaseOrigin{OriginalEarned: 5},
	}

	guest[1].ID[14] = 1 // both are of one instant: either can have the greater id
	for _, e := range append(append([]*loyalty.Event{}, guest...), claimer...) {
		e.Transaction = "T"
	}

	afterwards := func(who loyalty.ID) *loyalty.Event {
		e := on(who, 14, loyalty.Effects{Transaction: effect(loyalty.Refunded, 0, 5)})
		e.Transaction = "T"
		return e
	}

	all := append(append([]*loyalty.Event{}, guest...), claimer...)
	t.Run("two customers", func(t *testing.T) {
		require.Equal(t, "", folded(all, []loyalty.ID{ada, ben}, func(_ *rebuild.Rebuild, f *rebuild.Family) { f.Purchase(&row) }))
	})
	t.Run("the guest became the claimer", func(t *testing.T) {
		refunded := row
		refunded.State, refunded.Earned, refunded.UpdatedAt = loyalty.Refunded, 0, monday.Add(14*time.Hour)
		events := append(all[:4:4], on(ben, 13, loyalty.Effects{MergedFrom: &ada}), afterwards(ben))
		require.Equal(t, "", folded(events, []loyalty.ID{ada, ben}, func(_ *rebuild.Rebuild, f *rebuild.Family) { f.Purchase(&refunded) }))
	})

	t.Run("the claimer became the guest", func(t *testing.T) {
		refunded := row
		refunded.State, refunded.Earned, refunded.UpdatedAt = loyalty.Refunded, 0, monday.Add(14*time.Hour)
		events := append(append(append([]*loyalty.Event{}, claimer...), guest...), on(ada, 13, loyalty.Effects{MergedFrom: &ben}), afterwards(ada))
		require.Equal(t, "", folded(events, []loyalty.ID{ben, ada}, func(_ *rebuild.Rebuild, f *rebuild.Family) { f.Purchase(&refunded) }))
	})
}

func TestRebuildFoldsLots(t *testing.T) {
	other := "T-2"
	plain := points.Lot{ID: nth(10), Points: 10, Remaining: 7, Spent: 3, EarnedAt: monday.Add(10 * time.Hour), ExpiresAt: monday.AddDate(1, 0, 0), Transaction: "T-1"}
	for name, c := range map[string]struct {
		told *loyalty.LotEffect
		want func(*points.Lot)
	}{
		"by its event":    {nil, func(*points.Lot) {}},
		"idle":            {&loyalty.LotEffect{Idle: points.Period{Days: 6}}, func(l *points.Lot) { l.Idle, l.ExpiresAt = points.Period{Days: 6}, time.Time{} }},
		"earned before":   {&loyalty.LotEffect{EarnedAt: &monday}, func(l *points.Lot) { l.EarnedAt = monday }},
		"of another sale": {&loyalty.LotEffect{Purchase: &other}, func(l *points.Lot) { l.Transaction = "T-2" }},
	} {
		t.Run(name, func(t *testing.T) {
			e := on(ada, 10, loyalty.Effects{Lot: c.told})
			e.ExpDate, e.Transaction = plain.ExpiresAt, "T-1"
			lot := plain
			c.want(&lot)
			rb := rebuild.NewRebuild(nil, func(d rebuild.Difference) { t.Errorf("%+v", d) })
			f := rb.Family(ada)
			for _, p := range []points.Posting{
				{Event: nth(10), From: points.Issued, To: points.Available, Lot: nth(10), Points: 10}, {Event: nth(11), From: points.Available, To: points.Spent, Lot: nth(10), Points: 5},
				{Event: nth(12), From: points.Spent, To: points.Available, Lot: nth(10), Points: 2},
			} {
				f.Post(loyalty.CustomerPosting{Customer: ada, Posting: p})
			}

			f.Event(e)
			f.Account(&loyalty.Customer{ID: ada})
			f.Balance(ada, points.Figures{Score: 10, Spent: 3}, nth(10))
			f.Lot(&loyalty.CustomerLot{Customer: ada, Lot: lot})
			f.Close()
		})
	}
}

// Families are merged from the deepest one upwards, and no ring holds a rebuild up.
func TestRebuildFamilies(t *testing.T) {
	merge := func(from, into loyalty.ID, n byte) loyalty.Event {
		return *on(into, n, loyalty.Effects{MergedFrom: &from})
	}
	for _, far := range [][]loyalty.Event{
		{merge(ada, ben, 10), merge(ben, cid, 11)},
		{merge(ben, cid, 11), merge(ada, ben, 10)},
	} {
		rb := rebuild.NewRebuild(far, nil)
		require.Equal(t, [][]loyalty.ID{{ada, ben, cid}}, rb.Families())
		require.True(t, rb.Merged(ada) && rb.Merged(ben) && rb.Merged(cid))
		require.False(t, rb.Merged(nth(4)))
	}

	rb := rebuild.NewRebuild([]loyalty.Event{merge(ada, nth(4), 10), merge(ben, cid, 10)}, nil)
	require.Equal(t, [][]loyalty.ID{{ben, cid}, {ada, nth(4)}}, rb.Families())
	require.Len(t, rebuild.NewRebuild([]loyalty.Event{merge(ada, ben, 10), merge(ben, ada, 11)}, nil).Families(), 2)

	progress := []loyalty.Progress{{ProgressKey: loyalty.ProgressKey{Kind: loyalty.ProgressTier, Key: "club"}, Data: json.RawMessage(`{}`)}}
	events := []*loyalty.Event{
		on(ada, 20, loyalty.Effects{Status: loyalty.Active, Progress: progress}), // later by its clock than the merge
		on(ben, 10, loyalty.Effects{Status: loyalty.Active, MergedFrom: &ada, Progress: progress}),
	}

	require.Equal(t, "", folded(events, []loyalty.ID{ada, ben}, func(_ *rebuild.Rebuild, f *rebuild.Family) {
		f.Account(&loyalty.Customer{ID: ada, Status: loyalty.Merged, MergedInto: ben})
		f.Account(&loyalty.Customer{ID: ben, Status: loyalty.Active})
		f.Balance(ada, points.Figures{}, nth(20))
		f.Balance(ben, points.Figures{}, nth(10))
		f.Progress(&loyalty.Progress{Customer: ben, ProgressKey: loyalty.ProgressKey{Kind: loyalty.ProgressTier, Key: "club"}, Data: json.RawMessage(`{}`)})
		f.Close()
	}))
}

// A coupon is what its highest version says, in whatever order customers come.
func TestRebuildFoldsCoupons(t *testing.T) {
	effect := func(customer loyalty.ID, n byte, version int64) *loyalty.Event {
		return on(customer, n, loyalty.Effects{Coupons: []loyalty.Coupon{{ID: nth(9), Code: "C", Version: version, State: loyalty.CouponClaimed, Customer: customer}}})
	}
	row := func(customer loyalty.ID, version int64) *loyalty.Coupon {
		return &loyalty.Coupon{ID: nth(9), Code: "C", Version: version, State: loyalty.CouponClaimed, Customer: customer}
	}
	for name, c := range map[string]struct {
		events []*loyalty.Event
		row    *loyalty.Coupon
		found  string
	}{
		"in order":    {[]*loyalty.Event{effect(ada, 10, 1), effect(ben, 11, 2)}, row(ben, 2), ""},
		"turned":      {[]*loyalty.Event{effect(ben, 11, 2), effect(ada, 10, 1)}, row(ben, 2), ""},
		"left behind": {[]*loyalty.Event{effect(ada, 10, 1), effect(ben, 11, 2)}, row(ada, 1), "coupon C version: 2, not 1\ncoupon C customer: " + ben.String() + ", not " + ada.String()},
		"not stored":  {[]*loyalty.Event{effect(ada, 10, 1)}, nil, "coupon C exists: true, not false"},
		"not told":    {nil, row(ada, 1), "coupon C exists: false, not true"},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			rb := rebuild.NewRebuild(nil, func(d rebuild.Difference) {
				lines = append(lines, fmt.Sprintf("%s %s: %s, not %s", d.What, d.Field, d.Journal, d.Stored))
			})
			for _, e := range c.events { // each customer is a page of its own
				rb.Family(e.Customer).Event(e)
				for _, id := range rb.Touched() {
					require.Equal(t, nth(9), id)
					if c.row != nil {
						rb.Match(c.row)
					}
				}
			}

			if c.row != nil {
				rb.Coupon(c.row)
			}

			rb.Finish()
			require.Equal(t, c.found, strings.Join(lines, "\n"))
		})
	}
}

package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// past is a journal of a few customers over half a year, held in memory beside the
// database: two of the customers are merged into the first one.
type past struct {
	customers []loyalty.Customer
	events    []loyalty.Event // with Change
}

var (
	pastStart   = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pastActions = []string{"checkout", "point_add", "visit", "suspend", "own_action"}
)

func newPast(t testing.TB, s *store.Store, n int) *past {
	t.Helper()
	p, r := &past{}, rand.New(rand.NewPCG(7, 11))
	var w loyalty.Writes
	for i := range 5 {
		c := storetest.Member(fmt.Sprint("member-", i), pastStart)
		if i == 1 || i == 2 {
			c.Status, c.MergedInto = loyalty.Merged, p.customers[0].ID
		}
		p.customers = append(p.customers, c)
		storetest.Enrol(&w, c)
	}

	at := pastStart
	for i := range n {
		at = at.Add(time.Duration(r.IntN(3)) * 8 * time.Hour) // several at one instant
		e := loyalty.Event{
			ID: loyalty.NewID(at, lastID(p.events)), Customer: p.customers[r.IntN(5)].ID, Action: pastActions[r.IntN(5)],
			At: at, RecordedAt: at, Data: json.RawMessage(`{}`),
		}

		if r.IntN(4) == 0 {
			e.At = at.Add(-time.Duration(1+r.IntN(200)) * 7 * time.Hour)
		}

		if r.IntN(2) == 0 {
			n := int64(r.IntN(5) - 1)
			e.Points = &n
		}

		if r.IntN(3) == 0 {
			e.ExpDate = pastStart.AddDate(0, 0, r.IntN(9))
		}
		if r.IntN(3) == 0 {
			e.Transaction = fmt.Sprint("T-", r.IntN(4))
		}

		var moves []loyalty.CustomerPosting
		if r.IntN(12) == 0 {
			into := r.IntN(2) * 3
			source := p.customers[into+1].ID
			e.Action, e.Effects, e.Customer = "merge", &loyalty.Effects{MergedFrom: &source}, p.customers[into].ID
			moves = append(moves, loyalty.CustomerPosting{Customer: source, Posting: somePosting(r, e.ID, 0)})
		}

		for n := range r.IntN(4) {
			moves = append(moves, loyalty.CustomerPosting{Customer: e.Customer, Posting: somePosting(r, e.ID, n)})
		}

		w.Postings = append(w.Postings, moves...)
		told := e
		for _, m := range moves {
			told.Change += m.Change()
		}

		p.events = append(p.events, told)
		if w.Events = append(w.Events, e); len(w.Events) == 1000 || i == n-1 {
			writeAll(t, s, w)
			w = loyalty.Writes{}
		}
	}

	return p
}

// somePosting is the posting seq of an event, between any two accounts.
func somePosting(r *rand.Rand, event loyalty.ID, seq int) points.Posting {
	from := r.IntN(6)
	return points.Posting{Event: event, Seq: seq, From: points.Account(1 + from), To: points.Account(1 + (from+1+r.IntN(5))%6), Points: 1 + r.Int64N(500)}
}

func lastID(events []loyalty.Event) loyalty.ID {
	if len(events) == 0 {
		return loyalty.ID{}
	}
	return events[len(events)-1].ID
}

func writeAll(t testing.TB, s *store.Store, w loyalty.Writes) {
	t.Helper()
	require.NoError(t, storetest.Put(s, pastStart, w))
}

// whole is what a query finds, told by a plain filter and a plain sort.
func (p *past) whole(q loyalty.EventQuery) []loyalty.Event {
	var found []loyalty.Event
	for _, e := range p.events {
		mine := e.Customer == q.Customer || q.Customer == p.customers[0].ID && slices.ContainsFunc(p.customers[1:3], func(c loyalty.Customer) bool { return c.ID == e.Customer })
		if (q.Customer == loyalty.ID{} || mine) && (q.Transaction == "" || e.Transaction == q.Transaction) && meetsAll(&e, q.Conditions) {
			found = append(found, e)
		}
	}

	slices.SortFunc(found, func(a, b loyalty.Event) int {
		for _, k := range q.Sort {
			if n := compareEvents(&a, &b, k); n != 0 {
				return n
			}
		}
		n := loyalty.CompareID(a.ID, b.ID)
		if len(q.Sort) == 0 && q.Customer == (loyalty.ID{}) {
			n = cmpOr(a.RecordedAt.Compare(b.RecordedAt), n)
		}
		if q.ByCursor() && len(q.Sort) == 1 && !q.Sort[0].Descending {
			return n
		}
		return -n
	})

	return found
}

func cmpOr(a, b int) int {
	if a != 0 {
		return a
	}
	return b
}

// valueOf is a field of an event; nil: it has none.
func valueOf(e *loyalty.Event, field string) any {
	switch field {
	case "action":
		return e.Action
	case "date":
		return e.At
	case "expdate":
		if e.ExpDate.IsZero() {
			return nil
		}
		return e.ExpDate
	}

	if e.Points == nil {
		return int64(0)
	}
	return *e.Points
}

func compareValue(a, b any) int {
	switch a := a.(type) {
	case string:
		return strings.Compare(a, b.(string))
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	return int(a.(int64) - b.(int64))
}

func compareEvents(a, b *loyalty.Event, k loyalty.Sorting) int {
	x, y := valueOf(a, k.Field), valueOf(b, k.Field)
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	case k.Descending:
		return compareValue(y, x)
	}
	return compareValue(x, y)
}

func meetsAll(e *loyalty.Event, conditions []loyalty.Condition) bool {
	for _, c := range conditions {
		v := valueOf(e, c.Field)
		is := func(test func(int) bool) bool {
			return v != nil && slices.ContainsFunc(c.Values, func(w any) bool {
				if s, ok := w.(loyalty.Span); ok {
					at := v.(time.Time)
					return !at.Before(s.From) && at.Before(s.Before)
				}
				return test(compareValue(v, w))
			})
		}

		equal := func(n int) bool { return n == 0 }
		holds := map[loyalty.Operator]func() bool{
			loyalty.Eq: func() bool { return is(equal) }, loyalty.In: func() bool { return is(equal) },
			loyalty.Ne: func() bool { return !is(equal) }, loyalty.Nin: func() bool { return !is(equal) },
			loyalty.Gt: func() bool { return is(func(n int) bool { return n > 0 }) }, loyalty.Gte: func() bool { return is(func(n int) bool { return n >= 0 }) },
			loyalty.Lt: func() bool { return is(func(n int) bool { return n < 0 }) }, loyalty.Lte: func() bool { return is(func(n int) bool { return n <= 0 }) },
		}

		if !holds[c.Operator]() {
			return false
		}
	}

	return true
}

// drawQuery draws any question that the lists can ask.
func (p *past) drawQuery(t *rapid.T) loyalty.EventQuery {
	q := loyalty.EventQuery{}
	if rapid.Bool().Draw(t, "one customer") {
		q.Customer = p.customers[rapid.SampledFrom([]int{0, 3, 4}).Draw(t, "customer")].ID
		q.Transaction = rapid.SampledFrom([]string{"", "", "T-1", "T-9"}).Draw(t, "transaction")
	}

	fields := []string{"action", "date", "points", "expdate"}
	q.Conditions = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) loyalty.Condition {
		return drawCondition(t, rapid.SampledFrom(fields).Draw(t, "field"))
	}), 0, 3).Draw(t, "conditions")
	switch rapid.IntRange(0, 3).Draw(t, "order") {
	case 1:
		q.Sort = []loyalty.Sorting{{Field: "date", Descending: rapid.Bool().Draw(t, "down")}}
	case 2:
		if q.Customer != (loyalty.ID{}) {
			for _, f := range rapid.Permutation(fields).Draw(t, "keys")[:rapid.IntRange(2, 4).Draw(t, "how many")] {
				q.Sort = append(q.Sort, loyalty.Sorting{Field: f, Descending: rapid.Bool().Draw(t, "down")})
			}
		}
	}

	return q
}

func drawCondition(t *rapid.T, field string) loyalty.Condition {
	c := loyalty.Condition{Field: field}
	operators := []loyalty.Operator{loyalty.Eq, loyalty.Ne, loyalty.In, loyalty.Nin, loyalty.Gt, loyalty.Gte, loyalty.Lt, loyalty.Lte}
	if field == "action" {
		operators = operators[:4]
	}

	c.Operator = rapid.SampledFrom(operators).Draw(t, "operator")
	list := c.Operator == loyalty.In || c.Operator == loyalty.Nin
	n := 1
	if list {
		n = rapid.IntRange(1, 4).Draw(t, "values")
	}

	spans := list && rapid.Bool().Draw(t, "days")
	for range n {
		day := pastStart.AddDate(0, 0, rapid.IntRange(-30, 200).Draw(t, "day"))
		switch {
		case field == "action":
			c.Values = append(c.Values, rapid.SampledFrom(append([]string{"none"}, pastActions...)).Draw(t, "action"))
		case field == "points":
			c.Values = append(c.Values, int64(rapid.IntRange(-2, 4).Draw(t, "points")))
		case spans:
			c.Values = append(c.Values, loyalty.Span{From: day, Before: day.AddDate(0, 0, 1)})
		default:
			c.Values = append(c.Values, day.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "hours"))*8*time.Hour))
		}
	}

	return c
}

// toldOf is what a list tells of events: which they are, and what they did to the balance.
func toldOf(events []loyalty.Event) []string {
	told := idsOf(events)
	for i := range events {
		told[i] += fmt.Sprintf(" %+d", events[i].Change)
	}
	return told
}

func idsOf(events []loyalty.Event) []string {
	ids := make([]string, len(events))
	for i := range events {
		ids[i] = events[i].ID.String()
	}
	return ids
}

// TestEventsAsTold asks the store what a plain list answers too, whole, page by
// page forwards and back, and at any offset.
func TestEventsAsTold(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		p, ctx := newPast(t, s, 200), context.Background()
		rapid.Check(t, func(t *rapid.T) {
			q := p.drawQuery(t)
			want := toldOf(p.whole(q))
			if named := slices.IndexFunc(p.customers, func(c loyalty.Customer) bool { return c.ID == q.Customer }); named >= 0 && q.Transaction == "" && rapid.Bool().Draw(t, "by name") {
				q.Customer, q.Ref = loyalty.ID{}, p.customers[named].Name
			}

			ask := func(page loyalty.Page) []loyalty.Event {
				q.Page = page
				found, err := s.Events(ctx, q)
				require.NoError(t, err)
				return found.Events
			}

			require.Equal(t, want, toldOf(ask(loyalty.Page{Limit: 1000})))
			offset, limit := rapid.IntRange(0, len(want)+2).Draw(t, "offset"), rapid.IntRange(13, 60).Draw(t, "limit")
			require.Equal(t, want[min(offset, len(want)):min(offset+limit, len(want))], toldOf(ask(loyalty.Page{Limit: limit, Offset: offset})))
			if !q.ByCursor() {
				return
			}

			walked, page := []string{}, ask(loyalty.Page{Limit: limit})
			var last []loyalty.Event
			for len(page) > 0 {
				walked, last = append(walked, toldOf(page)...), page
				place := q.Place(&page[len(page)-1])
				page = ask(loyalty.Page{Limit: limit, After: &place})
			}

			require.Equal(t, want, walked)
			back := toldOf(last)
			for page = last; len(page) > 0; {
				place := q.Place(&page[0])
				page = ask(loyalty.Page{Limit: limit, Before: &place})
				back = append(toldOf(page), back...)
			}

			require.Equal(t, want, back)
		})
	})
}

// TestEventPageTellsOfPeople: a page has the names of all its customers, and the keys of personal data.
func TestEventPageTellsOfPeople(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		p := newPast(t, s, 1)
		at := pastStart.AddDate(0, 0, 1)
		key := make([]byte, loyalty.KeySize)
		given := loyalty.Event{
			ID: loyalty.NewID(at, loyalty.ID{}), Customer: p.customers[1].ID, Action: "coupon_transfer", At: at, RecordedAt: at,
			Data: json.RawMessage(`{"code":"C-1","target":"` + p.customers[3].ID.String() + `"}`),
		}

		var err error
		given.Personal, err = loyalty.Seal(key, given.ID[:], []byte(`{"cf_note":"for you"}`))
		require.NoError(t, err)
		foreign := given
		foreign.ID, foreign.Personal = loyalty.NewID(at, given.ID), nil
		foreign.Data = json.RawMessage(`{"code":"C-2","target":"0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01"}`)
		writeAll(t, s, loyalty.Writes{Events: []loyalty.Event{given, foreign}})
		page, err := s.Events(context.Background(), loyalty.EventQuery{Customer: p.customers[0].ID, Page: loyalty.Page{Limit: 2}})
		require.NoError(t, err)
		require.Equal(t, idsOf([]loyalty.Event{foreign, given}), idsOf(page.Events))
		require.Equal(t, "member-0", page.Customers[given.Customer].Name, "a merged customer is the one they became part of")
		told, err := page.Attributes(&page.Events[1])
		require.NoError(t, err)
		require.JSONEq(t, `{"code":"C-1","target":"member-3","cf_note":"for you"}`, string(told))
		told, err = page.Attributes(&page.Events[0])
		require.NoError(t, err)
		require.JSONEq(t, string(foreign.Data), string(told), "what is nobody's id is the caller's own text")
	})
}

// TestLinesInherit: a line has the attributes of its purchase, whether that is on the same page or not.
func TestLinesInherit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		p := newPast(t, s, 1)
		at, key, holder := pastStart.AddDate(0, 0, 1), make([]byte, loyalty.KeySize), p.customers[3]
		purchase := loyalty.Event{
			ID: loyalty.NewID(at, loyalty.ID{}), Customer: holder.ID, Action: "checkout", At: at, RecordedAt: at, Data: json.RawMessage(`{"channel":"web"}`),
		}
		var err error
		purchase.Personal, err = loyalty.Seal(key, purchase.ID[:], []byte(`{"cf_note":"for you"}`))
		require.NoError(t, err)
		lines, last := []loyalty.Event{purchase}, purchase.ID
		for i := range 3 {
			last = loyalty.NewID(at, last)
			lines = append(lines, loyalty.Event{
				ID: last, Customer: holder.ID, Parent: purchase.ID, Action: "checkout_item", At: at, RecordedAt: at, Data: json.RawMessage(fmt.Sprintf(`{"quantity":%d}`, i)),
			})
		}

		writeAll(t, s, loyalty.Writes{Events: lines})
		for _, limit := range []int{4, 3} {
			page, err := s.Events(context.Background(), loyalty.EventQuery{Ref: holder.Name, Page: loyalty.Page{Limit: limit}})
			require.NoError(t, err)
			for i := range 3 {
				told, err := page.Attributes(&page.Events[i])
				require.NoError(t, err)
				require.JSONEq(t, fmt.Sprintf(`{"channel":"web","cf_note":"for you","quantity":%d}`, 2-i), string(told), "of %d events", limit)
			}
		}
	})
}

// TestChangesWhereClocksDiffer: the page of all customers is in the order of recording. If a node's clock was behind,
// that is not the order of ids, and the events at the page's ends are not the first and the last.
func TestChangesWhereClocksDiffer(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ada := storetest.Member("ada", start)
		var w loyalty.Writes
		storetest.Enrol(&w, ada)
		last := loyalty.ID{}
		for i, late := range []time.Duration{2, 0, 3, 1} { // the first and the third by a clock that is ahead
			last = loyalty.NewID(start, last)
			at := start.Add(late * time.Second)
			w.Events = append(w.Events, loyalty.Event{ID: last, Customer: ada.ID, Action: "point_add", At: at, RecordedAt: at})
			w.Postings = append(w.Postings, loyalty.CustomerPosting{Customer: ada.ID, Posting: points.Posting{
				Event: last, From: points.Issued, To: points.Available, Lot: last, Points: int64(i + 1),
			}})
		}

		require.NoError(t, storetest.Put(s, start, w))
		page, err := s.Events(t.Context(), loyalty.EventQuery{Page: loyalty.Page{Limit: 10}})
		require.NoError(t, err)
		var changes []int64
		for _, e := range page.Events {
			changes = append(changes, e.Change)
		}

		require.Equal(t, []int64{3, 1, 4, 2}, changes)
	})
}

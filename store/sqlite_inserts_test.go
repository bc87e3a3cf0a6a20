package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestSQLiteInsertsOneRow: SQLite is told that an execution inserts one row. Of a SELECT it
// expects several: it then copies every page before it changes it, which was half of the
// time that a purchase of thousands of lines kept the writer.
func TestSQLiteInsertsOneRow(t *testing.T) {
	_, e := openTestFile(t)

	for table, text := range map[string]string{
		"events": insertEvents.sqlite, "postings": insertPostings.sqlite, "lots": insertLots.sqlite, "transactions": insertTransactions.sqlite, "names": insertNames.sqlite,
		"coupons": insertCoupons.sqlite, "coupon_events": insertCouponEvents.sqlite, "progress": insertProgress.sqlite, "tail": insertTail.sqlite,
		"customers": insertCustomers.sqlite, "balances": insertBalances.sqlite, "customer_keys": insertKeys.sqlite,
	} {
		rows, err := e.readers.Query("EXPLAIN "+text, make([]any, strings.Count(text, "?"))...)
		require.NoError(t, err, table)
		var steps []string
		for rows.Next() {
			var at, p1, p2, p3, p5 int
			var step string
			var p4, comment *string
			require.NoError(t, rows.Scan(&at, &step, &p1, &p2, &p3, &p4, &p5, &comment))
			steps = append(steps, step)
		}
		require.NoError(t, rows.Err())
		require.Contains(t, steps, "MakeRecord", table)
		require.NotContains(t, steps, "InitCoroutine", "rows of a query: "+table)
	}
}

// Many rows go several at a time, and all of them are undone where one fails.
func TestManyRowsAreOneWrite(t *testing.T) {
	s, _ := openTestFile(t)
	many := func(n int) (list []loyalty.Event) {
		var last loyalty.ID
		for range n {
			e := visit([]byte(`{}`))
			last = loyalty.NewID(e.At, last)
			e.ID = last
			list = append(list, e)
		}
		return list
	}

	var events int64
	for _, n := range []int{1, manyRows - 1, manyRows, manyRows + 1, 3*manyRows + 5} {
		require.NoError(t, put(s, loyalty.Writes{Events: many(n)}))
		before := events
		require.NoError(t, s.read.Table("events").Count(&events).Error)
		require.Equal(t, before+int64(n), events)
	}

	for _, double := range []int{1, manyRows + 1, 2*manyRows - 1, 3*manyRows + 4} {
		list := many(3*manyRows + 5)
		list[double].ID, list[double].RecordedAt = list[double-1].ID, list[double-1].RecordedAt
		require.ErrorIs(t, put(s, loyalty.Writes{Events: list}), loyalty.ErrBatchConflict)
		var now int64
		require.NoError(t, s.read.Table("events").Count(&now).Error)
		require.Equal(t, events, now, "all or nothing")
	}
}

// What rows have in common is bound once: each row is written as it is, whichever of its values
// the others share.
func TestRowsShareWhatTheyHaveInCommon(t *testing.T) {
	s, _ := openTestFile(t)
	five, data := int64(5), []byte(`{"note":"it's"}`)
	var last loyalty.ID
	for name, vary := range map[string]func(i int, v *loyalty.Event){
		"nothing but their ids":       func(int, *loyalty.Event) {},
		"the last one has a number":   func(i int, v *loyalty.Event) { v.Points = map[bool]*int64{true: &five}[i == 3*manyRows-1] },
		"the last one has none":       func(i int, v *loyalty.Event) { v.Points = map[bool]*int64{true: &five}[i < 3*manyRows-1] },
		"the first one has a text":    func(i int, v *loyalty.Event) { v.Transaction = map[bool]string{true: "t"}[i == 0] },
		"one in the middle has bytes": func(i int, v *loyalty.Event) { v.Personal = map[bool][]byte{true: {0, 1}}[i == manyRows] },
		"every other one":             func(i int, v *loyalty.Event) { v.Action = []string{"visit", "?1"}[i%2] },
		"all have it":                 func(_ int, v *loyalty.Event) { v.Points, v.Transaction, v.Personal = &five, "?2", []byte("?3") },
	} {
		w := loyalty.Writes{}
		for i := range 3*manyRows + 5 {
			v := visit(data)
			v.Customer = loyalty.ID{2}
			last = loyalty.NewID(v.At, last)
			v.ID, v.At = last, v.At.UTC().Truncate(time.Millisecond)
			v.RecordedAt = v.At
			vary(i, &v)
			w.Events = append(w.Events, v)
		}

		require.NoError(t, s.Within(context.Background(), loyalty.Needs{Apart: true}, func(*loyalty.Loaded) (*loyalty.Writes, error) { return &w, nil }), name)
		found, err := eventTable.find(s.read.Where("id >= ?", UUID(w.Events[0].ID)).Order("id"))
		require.NoError(t, err, name)
		require.Equal(t, w.Events, found, name)
	}
}

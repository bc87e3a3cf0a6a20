package store

import (
	"strings"
	"testing"

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

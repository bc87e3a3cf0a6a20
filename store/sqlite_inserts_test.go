package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

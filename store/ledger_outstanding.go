package store

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// quarter is the resolution of expiries, in milliseconds: in every current time zone days and months begin at a full
// quarter of an hour.
const quarter = "900000"

// outstandingGroups adds up the open lots by the last moment at which they are valid: a lot that lasts through the
// last day of a month expires when the next month begins. Lots that depend on activity are grouped by the activity
// and their period, from which the caller computes the expiry. Origin is part of the groups, so that both views of
// the liability come from the same rows.
const outstandingGroups = `SELECT (l.expires_at - 1) / ` + quarter + ` * ` + quarter + ` AS expires_at, l.idle_months, l.idle_days,
	CASE WHEN l.idle_months > 0 OR l.idle_days > 0 THEN b.last_activity_at / ` + quarter + ` * ` + quarter + ` END AS last_activity,
	l.origin, %s, COUNT(*) AS lots
FROM lots l JOIN balances b ON b.customer_id = l.customer_id WHERE l.open
GROUP BY 1, 2, 3, 4, 5`

// wide is a sum in two halves: SQLite refuses a sum beyond 64 bits, which balances of all customers can reach.
type wide struct{ High, Low int64 }

// wideSum sums up whole numbers as a wide: the part above the lower 32 bits, and the lower 32 bits.
func wideSum(column string) string {
	return sumOf("("+column+") >> 32") + ", " + sumOf("("+column+") & 4294967295")
}

func (w wide) add(to *big.Int) {
	high := big.NewInt(w.High)
	to.Add(to, high.Lsh(high, 32)).Add(to, big.NewInt(w.Low))
}

// Outstanding sums up the open lots and the figures of all customers as of one instant, in one pass over each.
func (s proof) Outstanding(ctx context.Context) (totals loyalty.LedgerTotals, groups []loyalty.LotGroup, err error) {
	figures := figureSums()
	err = s.asks(ctx, figures.question(), lotSums(&groups))
	figures.add(&totals)
	return totals, groups, err
}

// figuresRead are the sums of the figures of all customers, in halves.
type figuresRead []wide

func figureSums() figuresRead { return make(figuresRead, len(summed)) }

// summed are the columns, in the order of add.
var summed = []string{"score", "spent", "reserved", "expired", "pending", "debt"}

func (r figuresRead) question() question {
	var columns []string
	var into []any
	for i, column := range summed {
		columns = append(columns, wideSum(column))
		into = append(into, (*number)(&r[i].High), (*number)(&r[i].Low))
	}
	return sqlFragment{text: "SELECT " + strings.Join(columns, ", ") + " FROM balances"}.one(into...)
}

func (r figuresRead) add(t *loyalty.LedgerTotals) {
	for i, sum := range []*big.Int{&t.Score, &t.Spent, &t.Reserved, &t.Expired, &t.Pending, &t.Debt} {
		r[i].add(sum)
	}
}

func lotSums(groups *[]loyalty.LotGroup) question {
	var expires, activity Millis
	var idle points.Period
	var origin points.Origin
	var sum wide
	var lots number
	return sqlFragment{text: fmt.Sprintf(outstandingGroups, wideSum("l.remaining + l.reserved"))}.reads(func() bool {
		g := loyalty.LotGroup{ExpiresAt: expires.Time(), LastActivity: activity.Time(), Idle: idle, Origin: origin, Lots: int64(lots)}
		sum.add(&g.Points)
		*groups = append(*groups, g)
		return false
	}, &expires, wholeIn(&idle.Months), wholeIn(&idle.Days), &activity, wholeIn(&origin), (*number)(&sum.High), (*number)(&sum.Low), &lots)
}

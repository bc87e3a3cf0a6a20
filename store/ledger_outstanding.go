package store

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// quarter is how finely expiries are told apart, in milliseconds: every time zone of
// today begins its days at a full quarter of an hour, and so do their months.
const quarter = "900000"

// outstandingGroups sums up the open lots. Those that live by activity are grouped
// by it and by their period; what comes of that is for the caller to say.
const outstandingGroups = `SELECT l.expires_at / ` + quarter + ` * ` + quarter + ` AS expires_at, l.idle_months, l.idle_days,
	CASE WHEN l.idle_months > 0 OR l.idle_days > 0 THEN b.last_activity_at / ` + quarter + ` * ` + quarter + ` END AS last_activity,
	%s, COUNT(*) AS lots
FROM lots l JOIN balances b ON b.customer_id = l.customer_id WHERE l.open
GROUP BY 1, 2, 3, 4`

// wide is a sum in two halves: SQLite refuses one beyond 64 bits, and balances of
// all customers reach it.
type wide struct{ High, Low int64 }

// wideSum sums up whole numbers as a wide: what is above the lower 32 bits, and them.
func wideSum(column string) string {
	return sumOf("("+column+") >> 32") + ", " + sumOf("("+column+") & 4294967295")
}

func (w wide) add(to *big.Int) {
	high := big.NewInt(w.High)
	to.Add(to, high.Lsh(high, 32)).Add(to, big.NewInt(w.Low))
}

// Outstanding sums up the open lots and the figures of all customers on one instant:
// one pass over either.
func (s proof) Outstanding(ctx context.Context) (totals loyalty.LedgerTotals, groups []loyalty.LotGroup, err error) {
	err = s.consistent(ctx, func(db *gorm.DB) error {
		if err := sumFigures(db, &totals); err != nil {
			return err
		}
		groups, err = sumLots(db)
		return err
	})
	return totals, groups, err
}

func sumFigures(db *gorm.DB, t *loyalty.LedgerTotals) error {
	columns := []string{"score", "spent", "reserved", "expired", "pending", "debt"}
	sums := []*big.Int{&t.Score, &t.Spent, &t.Reserved, &t.Expired, &t.Pending, &t.Debt}
	halves := make([]wide, len(sums))
	var targets []any
	for i, column := range columns {
		columns[i] = wideSum(column)
		targets = append(targets, &halves[i].High, &halves[i].Low)
	}
	if err := db.Raw("SELECT " + strings.Join(columns, ", ") + " FROM balances").Row().Scan(targets...); err != nil {
		return err
	}
	for i, half := range halves {
		half.add(sums[i])
	}
	return nil
}

func sumLots(db *gorm.DB) (groups []loyalty.LotGroup, err error) {
	rows, err := db.Raw(fmt.Sprintf(outstandingGroups, wideSum("l.remaining + l.reserved"))).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	for rows.Next() {
		var expires, activity Millis
		var idle points.Period
		var sum wide
		var lots int64
		if err := rows.Scan(&expires, &idle.Months, &idle.Days, &activity, &sum.High, &sum.Low, &lots); err != nil {
			return nil, err
		}
		g := loyalty.LotGroup{ExpiresAt: expires.Time(), LastActivity: activity.Time(), Idle: idle, Lots: lots}
		sum.add(&g.Points)
		groups = append(groups, g)
	}
	return groups, rows.Err()
}

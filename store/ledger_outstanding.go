package store

import (
	"context"

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
	CAST(SUM(l.remaining + l.reserved) AS bigint) AS points, COUNT(*) AS lots
FROM lots l JOIN balances b ON b.customer_id = l.customer_id WHERE l.open
GROUP BY 1, 2, 3, 4`

// Outstanding sums up the open lots and the figures of all customers on one instant:
// one pass over either.
func (s *Store) Outstanding(ctx context.Context) (figures points.Figures, groups []loyalty.LotGroup, err error) {
	err = s.consistent(ctx, func(db *gorm.DB) error {
		sums := "SELECT " + sumOf("score") + " AS score, " + sumOf("spent") + " AS spent, " + sumOf("reserved") + " AS reserved, " +
			sumOf("expired") + " AS expired, " + sumOf("pending") + " AS pending, " + sumOf("debt") + " AS debt FROM balances"
		if err := db.Raw(sums).Scan(&figures).Error; err != nil {
			return err
		}
		var rows []struct {
			ExpiresAt, LastActivity Millis
			IdleMonths, IdleDays    int
			Points, Lots            int64
		}
		if err := db.Raw(outstandingGroups).Scan(&rows).Error; err != nil {
			return err
		}
		groups = make([]loyalty.LotGroup, len(rows))
		for i, r := range rows {
			groups[i] = loyalty.LotGroup{
				ExpiresAt: r.ExpiresAt.Time(), LastActivity: r.LastActivity.Time(), Points: r.Points, Lots: r.Lots,
				Idle: points.Period{Months: r.IdleMonths, Days: r.IdleDays},
			}
		}
		return nil
	})
	return figures, groups, err
}

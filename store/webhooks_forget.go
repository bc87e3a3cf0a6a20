package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// forgetAtOnce is how many deliveries one statement deletes.
const forgetAtOnce = 5000

// ForgetDeliveries deletes old deliveries, and those that removed webhooks left.
func (s webhookStore) ForgetDeliveries(ctx context.Context, now time.Time) (rows int64, err error) {
	db := s.write.WithContext(ctx)
	if rows, err = forgetRemoved(db); err != nil {
		return rows, s.classify(err)
	}

	run := func(text string, args ...any) {
		if err == nil {
			done := db.Exec(text, args...)
			rows, err = rows+done.RowsAffected, done.Error
		}
	}

	run("DELETE FROM attempts WHERE at < ?", Millis(now.Add(-loyalty.AttemptLife)))
	old := func(life time.Duration, states ...loyalty.DeliveryState) {
		run(fmt.Sprintf(`DELETE FROM deliveries WHERE (webhook_id, number) IN (SELECT d.webhook_id, d.number FROM deliveries d
WHERE d.created_at < ? AND d.state IN ? ORDER BY d.created_at LIMIT %d)`, forgetAtOnce), Millis(now.Add(-life)), states)
	}

	old(loyalty.SentLife, loyalty.DeliverySent, loyalty.DeliverySkipped)
	old(loyalty.DeadLife, loyalty.DeliveryDead)
	run("UPDATE deliveries SET subject = NULL WHERE subject IS NOT NULL AND created_at < ?", Millis(now.Add(-loyalty.SubjectLife)))
	// every webhook that can still reach the event has done so, or had a week for it
	run(`DELETE FROM leavers WHERE at < ? OR (at < ? AND NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.state IN ('active', 'paused')
AND w.cursor < (SELECT t.head FROM tail_state t)))`, Millis(now.Add(-loyalty.SubjectLife)), Millis(now.Add(-settled)))
	return rows, s.classify(err)
}

// settled is how long after an event it certainly has its number, allowing for clock differences.
const settled = 15 * time.Minute

// dropAttempts and dropDeliveries delete a piece of a webhook's rows.
var (
	dropAttempts = "DELETE FROM attempts WHERE (webhook_id, number, n) IN (SELECT a.webhook_id, a.number, a.n FROM attempts a WHERE a.webhook_id = ? ORDER BY a.number, a.n LIMIT " +
		strconv.Itoa(forgetAtOnce) + ")"
	dropDeliveries = "DELETE FROM deliveries WHERE (webhook_id, number) IN (SELECT d.webhook_id, d.number FROM deliveries d WHERE d.webhook_id = ? ORDER BY d.number LIMIT " +
		strconv.Itoa(forgetAtOnce) + ")"
)

// removedIn finds the removed webhooks that still have rows in a table. It steps from one webhook to the next along
// the key of the table, because each may have millions of rows.
func removedIn(table string) string {
	return `WITH RECURSIVE w(id) AS (SELECT f.webhook_id FROM (SELECT webhook_id FROM ` + table + ` ORDER BY webhook_id LIMIT 1) f
UNION ALL SELECT (SELECT n.webhook_id FROM ` + table + ` n WHERE n.webhook_id > w.id ORDER BY n.webhook_id LIMIT 1) FROM w WHERE w.id IS NOT NULL)
SELECT w.id FROM w WHERE w.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM webhooks h WHERE h.id = w.id)`
}

// forgetRemoved deletes the rows of removed webhooks piece by piece, so that other writers can go between.
func forgetRemoved(db *gorm.DB) (rows int64, err error) {
	for _, of := range []struct{ table, drop string }{{"attempts", dropAttempts}, {"deliveries", dropDeliveries}} {
		var ids []UUID
		if err := db.Raw(removedIn(of.table)).Scan(&ids).Error; err != nil {
			return rows, err
		}

		for _, id := range ids {
			for more := true; more; {
				done := db.Exec(of.drop, id)
				if done.Error != nil {
					return rows, done.Error
				}
				rows += done.RowsAffected
				more = done.RowsAffected == forgetAtOnce
			}
		}
	}

	return rows, nil
}

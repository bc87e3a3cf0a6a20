package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

const remindablePage = `SELECT c.id, c.birth_date, c.created_at, b.last_activity_at, b.score FROM customers c JOIN balances b ON b.customer_id = c.id
WHERE c.id > ? AND ` + enrolled + ` ORDER BY c.id LIMIT ?`

// Remindable reads the next active and suspended customers after one, with what reminders need: open lots with an
// expiry, their progress, and the claimed coupons with an expiry of the customers and of those merged into them. It
// finds all of it by the customers' keys.
func (s jobStore) Remindable(ctx context.Context, after loyalty.ID, limit int) ([]loyalty.Remindable, error) {
	if after == (loyalty.ID{}) {
		after = loyalty.ID(firstID)
	}

	var list []loyalty.Remindable
	var c loyalty.Remindable
	page := sqlFragment{remindablePage, []any{UUID(after), limit}}.reads(func() bool {
		c.Coupons, c.Progress = map[string]time.Time{}, map[loyalty.ProgressKey]json.RawMessage{}
		list = append(list, c)
		return false
	}, (*UUID)(&c.Customer), (*Text)(&c.Born), (*Millis)(&c.CreatedAt), (*Millis)(&c.LastActivity), (*number)(&c.Score))

	err := s.ask(ctx, []question{page}, func() ([]question, error) {
		ids, places := make([]UUID, len(list)), make(map[loyalty.ID]*loyalty.Remindable, len(list))
		for i := range list {
			ids[i], places[list[i].Customer] = UUID(list[i].Customer), &list[i]
		}
		if len(ids) == 0 {
			return nil, nil
		}
		return []question{remindableLots(ids, places), remindableCoupons(ids, places), remindableProgress(ids, places)}, nil
	})

	return list, err
}

func remindableLots(ids []UUID, places map[loyalty.ID]*loyalty.Remindable) question {
	var customer UUID
	var lot points.Lot
	return sqlFragment{`SELECT customer_id, remaining, expires_at, idle_months, idle_days FROM lots
WHERE customer_id IN ? AND open AND (expires_at IS NOT NULL OR idle_months > 0 OR idle_days > 0)`, []any{ids}}.reads(func() bool {
		c := places[loyalty.ID(customer)]
		c.Lots = append(c.Lots, lot)
		return false
	}, &customer, (*number)(&lot.Remaining), (*Millis)(&lot.ExpiresAt), wholeIn(&lot.Idle.Months), wholeIn(&lot.Idle.Days))
}

func remindableCoupons(ids []UUID, places map[loyalty.ID]*loyalty.Remindable) question {
	var holder UUID
	var code Text
	var expires Millis
	const held = `JOIN coupons k ON k.customer_id = c.id AND k.state = 'claimed' AND k.expires_at IS NOT NULL`
	return sqlFragment{`SELECT c.id, k.code, k.expires_at FROM customers c ` + held + ` WHERE c.id IN ?
UNION ALL SELECT c.merged_into, k.code, k.expires_at FROM customers c ` + held + ` WHERE c.merged_into IN ?`, []any{ids, ids}}.reads(func() bool {
		places[loyalty.ID(holder)].Coupons[string(code)] = expires.Time()
		return false
	}, &holder, &code, &expires)
}

func remindableProgress(ids []UUID, places map[loyalty.ID]*loyalty.Remindable) question {
	var p loyalty.Progress
	kinds := []int16{int16(loyalty.ProgressTier), int16(loyalty.ProgressChallenge), int16(loyalty.ProgressReminder)}
	return sqlFragment{`SELECT customer_id, kind, key, data FROM progress WHERE customer_id IN ? AND kind IN ?`, []any{ids, kinds}}.reads(func() bool {
		places[p.Customer].Progress[p.ProgressKey] = append(json.RawMessage(nil), p.Data...)
		return false
	}, (*UUID)(&p.Customer), wholeIn(&p.Kind), (*plain)(&p.Key), (*Raw)(&p.Data))
}

package store

import (
	"context"
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TierStandings reads the next active and suspended customers after one, by id, with what is stored of a structure of
// tiers. All of it is found by the customers' keys, so that a page costs the same wherever it is.
func (s customerStore) TierStandings(ctx context.Context, structure string, after loyalty.ID, limit int) ([]loyalty.TierStanding, error) {
	if after == (loyalty.ID{}) {
		after = loyalty.ID(firstID)
	}
	var list []loyalty.TierStanding
	var c loyalty.TierStanding
	page := sqlFragment{`SELECT c.id, c.name, c.created_at, b.score FROM customers c JOIN balances b ON b.customer_id = c.id
WHERE c.id > ? AND c.status IN ('active', 'suspended') ORDER BY c.id LIMIT ?`, []any{UUID(after), limit}}.reads(func() bool {
		list = append(list, c)
		return false
	}, (*UUID)(&c.Customer), (*plain)(&c.Name), (*Millis)(&c.Enrolled), (*number)(&c.Score))
	err := s.ask(ctx, []question{page}, func() ([]question, error) {
		ids, places := make([]UUID, len(list)), make(map[loyalty.ID]*loyalty.TierStanding, len(list))
		for i := range list {
			ids[i], places[list[i].Customer] = UUID(list[i].Customer), &list[i]
		}
		if len(ids) == 0 {
			return nil, nil
		}
		var customer UUID
		var data Raw
		var due Millis
		states := sqlFragment{`SELECT customer_id, data, due_at FROM progress WHERE customer_id IN ? AND kind = ? AND key = ?`, []any{ids, loyalty.ProgressTier, structure}}
		return []question{states.reads(func() bool {
			c := places[loyalty.ID(customer)]
			c.State, c.DueAt = append(json.RawMessage(nil), data...), due.Time()
			return false
		}, &customer, &data, &due)}, nil
	})
	return list, err
}

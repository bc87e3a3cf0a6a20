package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// enrolled is the condition for active and suspended customers. It names the excluded statuses, so that no index
// matches: with the statuses themselves SQLite would read all such customers by that index, and sort them, for each
// page by id.
const enrolled = `c.status NOT IN ('inactive', 'opted_out', 'merged')`

var standingsPage = func() string {
	const stored = `(SELECT p.%s FROM progress p WHERE p.customer_id = c.id AND p.kind = ? AND p.key = ?)`
	return `SELECT c.id, c.name, c.created_at, b.score, ` + fmt.Sprintf(stored, "data") + `, ` + fmt.Sprintf(stored, "due_at") + `
FROM customers c JOIN balances b ON b.customer_id = c.id
WHERE c.id > ? AND b.customer_id > ? AND ` + enrolled + ` ORDER BY c.id LIMIT ?`
}()

// TierStandings reads the next active and suspended customers after one, by id, with their stored progress in a
// structure of tiers. It looks the progress up customer by customer, without a join: for a thousand customers at once
// a planner would read the table of all progress instead.
func (s customerStore) TierStandings(ctx context.Context, structure string, after loyalty.ID, limit int) ([]loyalty.TierStanding, error) {
	if after == (loyalty.ID{}) {
		after = loyalty.ID(firstID)
	}

	var list []loyalty.TierStanding
	var c loyalty.TierStanding
	var data Raw
	var due Millis
	page := sqlFragment{standingsPage, []any{loyalty.ProgressTier, structure, loyalty.ProgressTier, structure, UUID(after), UUID(after), limit}}
	err := s.asks(ctx, page.reads(func() bool {
		c.State, c.DueAt = json.RawMessage(data), due.Time()
		list = append(list, c)
		return false
	}, (*UUID)(&c.Customer), (*plain)(&c.Name), (*Millis)(&c.Enrolled), (*number)(&c.Score), &data, &due))

	return list, err
}

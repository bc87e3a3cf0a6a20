package loyalty

import (
	"context"
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Remindable is what reminders look at of a customer.
type Remindable struct {
	Customer ID
	// Born is their date of birth, YYYY-MM-DD; empty: it is not known.
	Born         string
	CreatedAt    time.Time
	LastActivity time.Time
	Score        int64
	Lots         []points.Lot         // with free points
	Coupons      map[string]time.Time // claimed codes that end, and when
	Progress     map[ProgressKey]json.RawMessage
}

// RemindableStore reads who may have to be reminded.
type RemindableStore interface {
	// Remindable reads the next active and suspended customers after one, by id.
	Remindable(ctx context.Context, after ID, limit int) ([]Remindable, error)
}

package engine

import (
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Promise shows points of a pending purchase that hang on none of its items.
func (r *Run) Promise(e *loyalty.Event, n int64) error { return TooManyPoints(r.Book.Promise(e.ID, n)) }

// TooManyPoints names the items when they earn more than a balance can hold.
func TooManyPoints(err error) error {
	if errors.Is(err, points.ErrOverflow) || errors.Is(err, loyalty.ErrTooLarge) {
		return loyalty.ErrTooLarge.With("property", "points").At("data.items")
	}
	return err
}

// PurchasePoints are the attributes of the rows a purchase derives.
type PurchasePoints struct {
	TransactionID string `json:"transaction_id"`
	Points        int64  `json:"points"`
}

func (r *Run) DerivePoints(parent *loyalty.Event, action, transaction string, n int64) *loyalty.Event {
	e := r.Append(action, parent.At)
	e.Parent, e.Transaction = parent.ID, transaction
	e.Data = loyalty.JSON(PurchasePoints{transaction, n})
	return e
}

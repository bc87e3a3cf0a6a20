package purchase

import (
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Promise shows pending points of a purchase that belong to none of its items.
func Promise(r *engine.Run, e *loyalty.Event, n int64) error {
	return tooManyPoints(r, r.Book.Promise(e.ID, n))
}

// tooManyPoints names the sent property that earns more points than a balance can hold: the points themselves, the
// items, or the purchase that they come with.
func tooManyPoints(r *engine.Run, err error) error {
	if !errors.Is(err, points.ErrOverflow) && !errors.Is(err, loyalty.ErrTooLarge) {
		return err
	}
	for _, property := range []string{"points_rewarded", "items", "points"} {
		if _, sent := r.Data[property]; sent {
			return loyalty.ErrTooLarge.With("property", property).At("data." + property)
		}
	}
	return loyalty.ErrTooLarge.With("property", "transaction_id").At("data.transaction_id")
}

// purchasePoints are the attributes of the rows a purchase derives.
type purchasePoints struct {
	TransactionID string `json:"transaction_id"`
	Points        int64  `json:"points"`
}

// derivePoints writes a row with points that follows from a purchase, at the instant of its parent: the rows of a
// refund that is dated back are dated back with it.
func derivePoints(r *engine.Run, parent *loyalty.Event, action, transaction string, n int64) *loyalty.Event {
	e := r.Append(action, parent.At)
	e.Parent, e.Transaction = parent.ID, transaction
	e.Data = loyalty.JSON(purchasePoints{transaction, n})
	return e
}

// bequeath stores with an event the attributes that the lines of a purchase inherit from it. The row of the checkout
// itself has them already.
func bequeath(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	if e.ID == t.Checkout || len(t.Detail.Items) == 0 {
		return nil
	}
	personal, err := r.OpenBought(t, t.Detail.Personal, t.Checkout, nil)
	if err != nil {
		return err
	}
	left := &loyalty.Bequest{Plain: t.Detail.Attributes}
	left.Personal, err = r.Seal(personal, e.ID)
	e.Tell().Bequest = left
	return err
}

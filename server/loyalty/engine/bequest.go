package engine

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Bequeath keeps with an event what the lines of a purchase that it writes inherit.
// The row of the checkout itself has it already.
func (r *Run) Bequeath(e *loyalty.Event, t *loyalty.Transaction) error {
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

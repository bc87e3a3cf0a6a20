package engine

import (
	"encoding/json"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Taking is how points that something gave are taken back by a point_sub of their own.
type Taking struct {
	Lot         loyalty.ID // the event that opened their lot
	Points      int64
	Transaction string            // the purchase whose other lots come next; empty: none
	Giver       string            // who gave them, for a failure
	Reason      string            // sealed, because it may tell what another customer did
	Data        func(n int64) any // the attributes of the point_sub, for the points that it takes
}

// TakeLot takes points back from their own lot and from what has expired of it, then from other lots,
// and returns how many it took. The rest becomes debt, unless points_economy forbids a balance below
// zero: then only what is there is taken. The lot must have been loaded.
func TakeLot(r *Run, parent *loyalty.Event, t Taking) (int64, error) {
	n := t.Points
	if r.Programme.Economy.NegativeRefuse {
		n = min(n, r.Coverable(t.Lot))
	}
	if n == 0 {
		return 0, nil
	}

	personal := map[string]json.RawMessage{"reason": loyalty.JSON(t.Reason)}
	e, err := r.DeriveSealed(parent, "point_sub", t.Data(n), personal)
	if err != nil {
		return 0, err
	}
	if parent.Customer != r.Customer.ID {
		e.Transaction = "" // the purchase is another customer's
	}
	if err := r.Book.TakeBack(e.ID, t.Transaction, n, t.Lot); err != nil {
		return 0, TooMany(t.Giver)
	}
	e.Shown(-n)
	return n, nil
}

// RequireLots makes sure that lots were loaded, also those of which nothing is left but what expired.
// What is there need not be asked for, and what this batch opened cannot be: it has other ids each
// time it is decided.
func RequireLots(r *Run, lots []loyalty.ID) error {
	n := loyalty.CustomerNeeds{Lots: loyalty.UsedLots}
	n.Opened = slices.DeleteFunc(slices.Clone(lots), func(id loyalty.ID) bool { return r.Book.Lot(id) != nil })
	return r.Require(n)
}

// TellPurchase has the event that recorded a purchase last tell its state again, once all that
// changes it now is done.
func TellPurchase(r *Run, e *loyalty.Event, t *loyalty.Transaction) {
	if r.Untold(t) {
		return
	}
	for _, o := range slices.Backward(r.Events()) {
		x := o.Effects
		if o.Customer != r.Customer.ID || x == nil {
			continue
		}
		if (x.Transaction != nil && o.Transaction == t.Name) || slices.ContainsFunc(x.Purchases, func(p loyalty.TransactionEffect) bool { return p.Name == t.Name }) {
			e = o
			break
		}
	}
	r.TellLater(e, t)
}

// OpenRun returns the run of a customer whom the submission touches; nil if it does not.
func OpenRun(r *Run, customer loyalty.ID) *Run { return r.work.run(customer) }

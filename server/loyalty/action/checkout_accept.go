package action

import (
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// checkout_accept approves a pending purchase. The values come from its
// checkout and updates and cannot be changed here.
var checkoutAccept = engine.Action[events.CheckoutAcceptData]{
	// Settles: it decides pending purchases even after their module was switched off, or they would wait for ever.
	Name: "checkout_accept", Standing: engine.Earner, Settles: true,
	Needs: func(d events.CheckoutAcceptData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Key = loyalty.HeldLots, true // item events take over the personal attributes
		n.Transactions = []string{d.TransactionID}
	},
	Apply: func(r *engine.Run, d events.CheckoutAcceptData) error {
		// a caller that sends the checkout again with changed values would believe that they count
		own, all := r.Attributes("checkout_accept"), r.Attributes("checkout")
		for _, name := range slices.Sorted(maps.Keys(r.Data)) { // in order, so that equal requests name the same attribute
			_, copied := all[name]
			if _, declared := own[name]; copied && !declared {
				return loyalty.ErrCopiedField.With("property", name).At("data." + name)
			}
		}
		t, err := r.Transaction(d.TransactionID)
		if err != nil {
			return err
		}
		return purchase.Accept(r, r.Event, t)
	},
}

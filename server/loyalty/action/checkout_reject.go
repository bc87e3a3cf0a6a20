package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// checkout_reject rejects a pending purchase: nothing is earned, and the points that it held are free again.
var checkoutReject = engine.Action[events.CheckoutRejectData]{
	Name: "checkout_reject", Standing: engine.Earner, Settles: true,
	Needs: func(d events.CheckoutRejectData, n *loyalty.CustomerNeeds) {
		n.Lots = loyalty.HeldLots
		n.Transactions = []string{d.TransactionID}
	},
	Apply: func(r *engine.Run, d events.CheckoutRejectData) error {
		t, err := r.Transaction(d.TransactionID)
		if err != nil {
			return err
		}
		return purchase.Reject(r, r.Event, t)
	},
}

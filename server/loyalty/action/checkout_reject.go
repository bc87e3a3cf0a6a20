package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// checkout_reject turns a pending purchase down: nothing is earned, and what it
// held is free again.
var checkoutReject = loyalty.Action[events.CheckoutRejectData]{
	Name: "checkout_reject", Standing: loyalty.Earner, Settles: true,
	Needs: func(d events.CheckoutRejectData, n *loyalty.CustomerNeeds) {
		n.Lots = loyalty.HeldLots
		n.Transactions = []string{d.TransactionID}
	},
	Apply: func(r *loyalty.Run, d events.CheckoutRejectData) error {
		t, err := r.Transaction(d.TransactionID)
		if err != nil {
			return err
		}
		return r.Reject(r.Event, t)
	},
}

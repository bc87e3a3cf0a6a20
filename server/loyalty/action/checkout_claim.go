package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// checkout_claim makes a guest's purchase this customer's, with the points it
// still has.
var checkoutClaim = engine.Action[events.CheckoutClaimData]{
	Name: "checkout_claim", Standing: engine.Spender,
	Needs: func(d events.CheckoutClaimData, n *loyalty.CustomerNeeds) {
		n.Key = true // the purchase's personal attributes are sealed under it from now on
		n.Transactions = []string{d.TransactionID}
	},
	Apply: func(r *engine.Run, d events.CheckoutClaimData) error { return purchase.ClaimGuest(r, d.TransactionID) },
}

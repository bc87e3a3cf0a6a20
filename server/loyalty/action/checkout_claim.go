package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// checkout_claim makes a guest's purchase this customer's, with the points it
// still has.
var checkoutClaim = loyalty.Action[events.CheckoutClaimData]{
	Name: "checkout_claim", Standing: loyalty.Spender,
	Needs: func(d events.CheckoutClaimData, n *loyalty.CustomerNeeds) {
		n.Key = true // the purchase's personal attributes are sealed under it from now on
		n.Transactions = []string{d.TransactionID}
	},
	Apply: func(r *loyalty.Run, d events.CheckoutClaimData) error { return r.ClaimPurchase(d.TransactionID) },
}

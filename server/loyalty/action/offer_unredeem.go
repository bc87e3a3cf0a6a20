package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// offer_unredeem takes the customer's last use of an offer back, also of one that
// is over.
var offerUnredeem = loyalty.Action[events.OfferUnredeemData]{
	Name: "offer_unredeem", Standing: loyalty.Earner,
	Needs: func(d events.OfferUnredeemData, n *loyalty.CustomerNeeds) { needOffers(n, d.Offer) },
	Apply: func(r *loyalty.Run, d events.OfferUnredeemData) error {
		return r.UnredeemOffer(r.Event, offerAt(d.Offer))
	},
}

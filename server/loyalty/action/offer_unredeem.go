package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
)

// offer_unredeem takes the customer's last use of an offer back, even after the offer has ended.
var offerUnredeem = engine.Action[events.OfferUnredeemData]{
	Name: "offer_unredeem", Standing: engine.Earner,
	Needs: func(d events.OfferUnredeemData, n *loyalty.CustomerNeeds) { needOffers(n, d.Offer) },
	Apply: func(r *engine.Run, d events.OfferUnredeemData) error {
		return offer.Unredeem(r, r.Event, offerAt(d.Offer))
	},
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
)

// offer_redeem counts the use of an offer, claimed or not.
var offerRedeem = engine.Action[events.OfferRedeemData]{
	Name: "offer_redeem", Standing: engine.Earner,
	Needs: func(d events.OfferRedeemData, n *loyalty.CustomerNeeds) { needOffers(n, d.Offer) },
	Apply: func(r *engine.Run, d events.OfferRedeemData) error { return offer.Redeem(r, r.Event, offerAt(d.Offer)) },
}

// offerAt refers to the offer that an event names.
func offerAt(id string) engine.Reference {
	return engine.Reference{Type: offer.Offers.Type, ID: id, Field: "data.offer"}
}

// needOffers declares what the use of offers reads.
func needOffers(n *loyalty.CustomerNeeds, offers ...string) {
	if len(offers) > 0 {
		n.Progress |= loyalty.Kinds(loyalty.ProgressOffer)
	}
	for _, id := range offers {
		n.Tallies = append(n.Tallies, loyalty.TallyOffer+id)
	}
}

package action

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
)

// offerClaimData are the attributes of offer_claim.
type offerClaimData struct {
	Offer string `json:"offer"`
}

// offer_claim records that the customer wants an offer; using an offer needs no claim. It answers loyalty.OfferClaim.
var offerClaim = engine.Action[offerClaimData]{
	Name: "offer_claim", Standing: engine.Earner,
	Needs: func(d offerClaimData, n *loyalty.CustomerNeeds) { needOffers(n, d.Offer) },
	// otherwise campaigns and challenges would pay for each repeated claim
	Repeats: func(r *engine.Run, d offerClaimData) (bool, error) {
		o, p, err := offer.Left(r, engine.Reference{Type: offer.Offers.Type, ID: d.Offer})
		if err != nil || p.ClaimedAt == nil || p.Claim == (loyalty.ID{}) {
			return false, err
		}
		r.Value = offer.OfferClaim{ID: p.Claim, Offer: o.ID, ClaimedAt: *p.ClaimedAt}
		return true, nil
	},
	Apply: func(r *engine.Run, d offerClaimData) error {
		o, p, err := offer.Left(r, engine.Reference{Type: offer.Offers.Type, ID: d.Offer})
		if err != nil {
			return err
		}
		if p.ClaimedAt == nil {
			p.ClaimedAt = &r.At
		}
		p.Claim = r.Event.ID
		r.Value = offer.OfferClaim{ID: r.Event.ID, Offer: o.ID, ClaimedAt: *p.ClaimedAt}
		return r.SetProgress(r.Event, loyalty.ProgressKey{Kind: loyalty.ProgressOffer, Key: o.ID}, p, time.Time{})
	},
}

package loyalty

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Why an offer cannot be used for a cart.
const (
	OfferNotFor    = "customer" // the customer's state does not allow it
	OfferSpent     = "limit"    // the customer used it as often as allowed
	OfferGone      = "used_up"  // it was used as often as allowed in all
	OfferSegments  = "segment"  // it is for other customers
	OfferElsewhere = "store"    // it is for other stores
	OfferCartUnfit = "cart"     // the cart does not meet its conditions
)

// OfferQuote is what an offer does for a cart.
type OfferQuote struct {
	Offer  *Offer
	Reason string       // why it cannot be used; empty: it can
	Amount money.Amount // what it takes off the cart; 0 where it cannot be used
}

// OfferOutlook is where a customer stands with an offer.
type OfferOutlook struct {
	Refusal   error      // what a claim or a use would be refused with; nil: it would not be
	ClaimedAt *time.Time // nil: not claimed
	Redeemed  int64      // redemptions of theirs that stand
	Left      *int64     // how often they can use it yet, by the limits for one and for all; nil: no limit
	For       bool       // it is for everybody, or for a segment that they are in
}

// OfferNeeds is what the outlooks of offers and quotes read, so that it can be loaded
// at once.
func OfferNeeds(p *Programme) CustomerNeeds {
	return CustomerNeeds{Progress: Kinds(ProgressOffer), Tallies: OfferTallies(p)}
}

// OfferTallies are the counts of the redemptions of all offers.
func OfferTallies(p *Programme) []string {
	keys := make([]string, 0, len(Offers.Of(p)))
	for id := range Offers.Of(p) {
		keys = append(keys, TallyOffer+id)
	}
	return keys
}

// OfferOutlook looks at an offer with the eyes of offer_claim and offer_redeem.
func (r *Run) OfferOutlook(o *Offer) (out OfferOutlook, err error) {
	p, err := r.offerProgress(o.ID)
	if err != nil {
		return out, err
	}
	all, err := r.Tally(TallyOffer + o.ID)
	if err != nil {
		return out, err
	}
	if out.For, err = r.memberOfAny(o.Segments); err != nil {
		return out, err
	}
	out.ClaimedAt, out.Redeemed, out.Left = p.ClaimedAt, p.Redeemed, o.left(p.Redeemed, all)
	out.Refusal, err = r.mayUseOffer("offer_claim", o)
	return out, err
}

func (r *Run) mayUseOffer(action string, o *Offer) (refused, fault error) {
	return r.outlook(action, func() error {
		_, _, err := r.OfferLeft(Reference{offerType, o.ID, ""})
		return err
	})
}

// left is the smaller of what the limits for one customer and for all leave; nil:
// there is none.
func (o *Offer) left(own, all int64) (left *int64) {
	if o.PerCustomer != nil {
		left = new(max(0, *o.PerCustomer-own))
	}
	if o.MaxRedemptions != nil {
		if n := max(0, *o.MaxRedemptions-all); left == nil || n < *left {
			left = &n
		}
	}
	return left
}

// QuoteOffers says what the offers that are in force do for a cart of the customer,
// in the order of a till: those that can be used first, then by weight and by what
// they take off, the greatest first, then by id. Redeeming any of them is held
// against the same limits.
func (r *Run) QuoteOffers(cart Cart) ([]OfferQuote, error) {
	var quotes []OfferQuote
	for _, o := range Offers.Of(r.Programme) {
		if o.Status(r.At) != StatusActive {
			continue
		}
		refused, err := r.mayUseOffer("offer_redeem", o)
		if err != nil {
			return nil, err
		}
		quotes = append(quotes, r.Programme.quote(o, cart, offerReason(refused)))
	}
	return sortQuotes(quotes), nil
}

// QuoteOffers is the same for a customer nobody knows: limits for one customer do not
// count, and what is for segments is for others. used are the redemptions of each
// offer in all, by their tally.
func (p *Programme) QuoteOffers(cart Cart, at time.Time, used map[string]int64) []OfferQuote {
	var quotes []OfferQuote
	for id, o := range Offers.Of(p) {
		reason := ""
		switch {
		case o.Status(at) != StatusActive:
			continue
		case o.usedUp(used[TallyOffer+id]):
			reason = OfferGone
		case len(o.Segments) > 0:
			reason = OfferSegments
		}
		quotes = append(quotes, p.quote(o, cart, reason))
	}
	return sortQuotes(quotes)
}

// quote holds a cart against an offer that can be used, but for a reason.
func (p *Programme) quote(o *Offer, cart Cart, reason string) OfferQuote {
	fits, amount := o.Fits(cart)
	switch {
	case reason != "":
	case !p.soldAt(o.Stores, cart.Store):
		reason = OfferElsewhere
	case !fits:
		reason = OfferCartUnfit
	default:
		return OfferQuote{Offer: o, Amount: amount}
	}
	return OfferQuote{Offer: o, Reason: reason}
}

// soldAt says whether a store, by its id or name, is one of those listed; every one
// is where none are.
func (p *Programme) soldAt(stores []string, store string) bool {
	if len(stores) == 0 {
		return true
	}
	here := p.ShopID(store)
	return store != "" && slices.ContainsFunc(stores, func(id string) bool { return p.ShopID(id) == here })
}

// offerReason words a refusal of OfferLeft or of the customer's state.
func offerReason(refused error) string {
	switch {
	case refused == nil:
		return ""
	case errors.Is(refused, ErrOfferLimit):
		return OfferSpent
	case errors.Is(refused, ErrOfferUsedUp):
		return OfferGone
	case errors.Is(refused, ErrOfferSegment):
		return OfferSegments
	}
	return OfferNotFor
}

func sortQuotes(quotes []OfferQuote) []OfferQuote {
	slices.SortFunc(quotes, func(a, b OfferQuote) int {
		if (a.Reason == "") != (b.Reason == "") {
			return cmp.Compare(len(a.Reason), len(b.Reason))
		}
		return cmp.Or(cmp.Compare(b.Offer.Weight, a.Offer.Weight), cmp.Compare(b.Amount, a.Amount), strings.Compare(a.Offer.ID, b.Offer.ID))
	})
	return quotes
}

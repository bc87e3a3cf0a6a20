package offer

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Why an offer cannot be used for a cart.
const (
	offerNotFor    = "customer" // the customer's state does not allow it
	offerSpent     = "limit"    // the customer has used it as often as allowed
	offerGone      = "used_up"  // all customers together have used it as often as allowed
	offerSegments  = "segment"  // it is for other customers
	offerElsewhere = "store"    // it is for other stores
	offerCartUnfit = "cart"     // the cart does not meet its conditions
	offerNoRate    = "no_rate"  // no exchange rate covers the cart's currency
)

// OfferQuote is what an offer would do for a cart.
type OfferQuote struct {
	Offer  *Offer
	Reason string       // why it cannot be used; empty: it can
	Amount money.Amount // what it takes off the cart; 0 if it cannot be used
}

// OfferOutlook reports whether a customer can use an offer now, and how often.
type OfferOutlook struct {
	Refusal   error      // the error that a claim or a use would get; nil: it would be accepted
	ClaimedAt *time.Time // nil: not claimed
	Redeemed  int64      // redemptions of the customer that stand
	Left      *int64     // uses that the limits for one and for all still allow; nil: no limit
	For       bool       // it is for every customer, or for a segment that they are in
}

// OfferNeeds is what outlooks and quotes read, so that a list loads it at once.
func OfferNeeds(p *programme.Programme) loyalty.CustomerNeeds {
	return loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressOffer), Tallies: OfferTallies(p)}
}

// OfferTallies are the counts of the redemptions of all offers.
func OfferTallies(p *programme.Programme) []string {
	keys := make([]string, 0, len(Offers.Of(p)))
	for id := range Offers.Of(p) {
		keys = append(keys, loyalty.TallyOffer+id)
	}
	return keys
}

// OutlookOn checks an offer by the rules of offer_claim and offer_redeem, without recording anything.
func OutlookOn(r *engine.Run, o *Offer) (out OfferOutlook, err error) {
	p, err := offerProgress(r, o.ID)
	if err != nil {
		return out, err
	}

	all, err := r.Tallies().Of(loyalty.TallyOffer + o.ID)
	if err != nil {
		return out, err
	}
	if out.For, err = r.MemberOfAny(o.Segments); err != nil {
		return out, err
	}

	out.ClaimedAt, out.Redeemed, out.Left = p.ClaimedAt, p.Redeemed, o.left(p.Redeemed, all)
	// by the action's own rule, so that a list never promises what a claim refuses
	out.Refusal, err = mayUseOffer(r, "offer_claim", o)
	return out, err
}

func mayUseOffer(r *engine.Run, action string, o *Offer) (refused, fault error) {
	return r.Outlook(action, func() error {
		_, _, err := Left(r, engine.Reference{Type: offerType, ID: o.ID, Field: ""})
		return err
	})
}

// left is the smaller of what the customer's limit and the overall limit leave, or nil without limits.
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

// QuoteFor quotes the offers in force for a cart of the customer, in the order of a till: usable ones first, then by
// weight and by what they take off, the greatest first, then by id. Redeeming an offer is checked against the same
// limits.
func QuoteFor(r *engine.Run, cart Cart) ([]OfferQuote, error) {
	var quotes []OfferQuote
	// in any order: they are sorted once all are known
	for _, o := range Offers.Of(r.Programme) {
		if o.Status(r.At) != loyalty.StatusActive {
			continue
		}
		refused, err := mayUseOffer(r, "offer_redeem", o)
		if err != nil {
			return nil, err
		}
		quotes = append(quotes, quote(r.Programme, o, cart, offerReason(refused)))
	}
	return sortQuotes(quotes), nil
}

// Quote is QuoteFor for an unknown customer: limits per customer do not count, and offers for segments do not apply.
// used are the redemptions of each offer in all, by their tally.
func Quote(p *programme.Programme, cart Cart, at time.Time, used map[string]int64) []OfferQuote {
	var quotes []OfferQuote
	for id, o := range Offers.Of(p) {
		reason := ""
		switch {
		case o.Status(at) != loyalty.StatusActive:
			continue
		case o.usedUp(used[loyalty.TallyOffer+id]):
			reason = offerGone
		case len(o.Segments) > 0:
			reason = offerSegments
		}
		quotes = append(quotes, quote(p, o, cart, reason))
	}

	return sortQuotes(quotes)
}

// quote checks a cart against an offer. A reason that is passed in already rules the offer out.
func quote(p *programme.Programme, o *Offer, cart Cart, reason string) OfferQuote {
	unfit, amount := o.Fits(p, cart)
	switch {
	// the customer's own reason comes first: another cart would not help
	case reason != "":
	case !p.SoldAt(o.Stores, cart.Store):
		reason = offerElsewhere
	case unfit != "":
		reason = unfit
	default:
		return OfferQuote{Offer: o, Amount: amount}
	}
	return OfferQuote{Offer: o, Reason: reason}
}

// offerReason turns an error of Left, or one about the customer's state, into a reason.
func offerReason(refused error) string {
	switch {
	case refused == nil:
		return ""
	case errors.Is(refused, loyalty.ErrOfferLimit):
		return offerSpent
	case errors.Is(refused, loyalty.ErrOfferUsedUp):
		return offerGone
	case errors.Is(refused, loyalty.ErrOfferSegment):
		return offerSegments
	}
	return offerNotFor
}

func sortQuotes(quotes []OfferQuote) []OfferQuote {
	slices.SortFunc(quotes, func(a, b OfferQuote) int {
		if (a.Reason == "") != (b.Reason == "") {
			return cmp.Compare(len(a.Reason), len(b.Reason))
		}
		return cmp.Or(cmp.Compare(b.Offer.Weight, a.Offer.Weight), cmp.Compare(b.Amount, a.Amount),
			strings.Compare(a.Offer.ID, b.Offer.ID))
	})
	return quotes
}

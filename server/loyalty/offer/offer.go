// Package offer has the discounts of a programme: which carts they fit, what they take off, and how
// often they may be used.
package offer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// The types of an offer.
const (
	offerCart     = "cart"     // on the whole cart
	offerOnItems  = "item"     // on the eligible items
	offerCombined = "combined" // on the eligible items, with the required ones in the cart
)

// The types of an offer's discount.
const (
	fixedPrice      = "fixed_price"      // it costs the value
	fixedDiscount   = "fixed_discount"   // it costs the value less
	percentDiscount = "percent_discount" // it costs the value percent less
)

// Offer is an incentive before a purchase (offers/offer). Tills and shops grant it; the platform decides which
// customers may use it and counts its uses.
type Offer struct {
	ID             string        `json:"-"`
	Name           loyalty.Texts `json:"name"`
	Type           string        `json:"type"`
	Weight         int64         `json:"weight"` // the greatest comes first
	MinTotal       money.Amount  `json:"min_total"`
	RequiredItems  []OfferItem   `json:"required_items"`
	RequiredMatch  string        `json:"required_match"` // all (also when empty) or any
	EligibleItems  []OfferItem   `json:"eligible_items"`
	Discount       OfferDiscount `json:"discount"`
	Stores         []string      `json:"stores"`           // the stores that grant it; empty: all
	Segments       []string      `json:"segments"`         // members of any of these may use it; empty: every customer
	MaxRedemptions *int64        `json:"max_redemptions"`  // in all; nil: no limit
	PerCustomer    *int64        `json:"max_per_customer"` // nil: no limit
	loyalty.Dates

	// Custom holds the programme's custom attributes, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// OfferDiscount is how much an offer takes off.
type OfferDiscount struct {
	Type  string       `json:"type"`
	Value money.Amount `json:"value"` // money, or percent
}

// OfferItem names products by their id or category.
type OfferItem struct {
	Type        string `json:"type"` // product or category
	ID          string `json:"id"`
	MinQuantity int64  `json:"min_quantity"` // pieces there must be; 0 counts as 1
}

// Offers are discounts of the programme (module offers).
var Offers = &programme.EntityType[*Offer]{Type: "offers/offer", Module: programme.ModuleOffers, Read: readOffer}

// readOffer refuses parts that the type of the offer would ignore or miss.
func readOffer(p *programme.Programme, e loyalty.Entity) (*Offer, error) {
	o := &Offer{ID: e.ID, Custom: programme.CustomFields(e)}
	if err := programme.Decode(e, o); err != nil {
		return nil, err
	}

	hundred := 100 * money.Unit
	switch {
	case o.Type == offerCart && len(o.EligibleItems) > 0:
		return nil, programme.NotWith("eligible_items", "type", o.Type)
	case o.Type != offerCart && len(o.EligibleItems) == 0:
		return nil, programme.Fault("eligible_items", loyalty.ErrPropertyEmpty.Name, nil)
	case o.Type != offerCombined && len(o.RequiredItems) > 0:
		return nil, programme.NotWith("required_items", "type", o.Type)
	case o.Type == offerCombined && len(o.RequiredItems) == 0:
		return nil, programme.Fault("required_items", loyalty.ErrPropertyEmpty.Name, nil)
	case o.Discount.Type == percentDiscount && o.Discount.Value > hundred:
		return nil, programme.Fault("discount.value", "too_large", map[string]any{"limit": 100})
	}

	if err := p.KnownSegments(o.Segments); err != nil {
		return nil, err
	}

	return o, programme.CheckDates(o.Dates)
}

// OfferClaim is the result of offer_claim.
type OfferClaim struct {
	ID        loyalty.ID `json:"id"` // the event that records it
	Offer     string     `json:"offer"`
	ClaimedAt time.Time  `json:"claimed_at"` // the first time
}

// OfferProgress is a customer's use of an offer so far.
type OfferProgress struct {
	ClaimedAt *time.Time `json:"claimed_at,omitempty"`
	Claim     loyalty.ID `json:"claim,omitzero"` // the event of the claim; zero if the claim has no event
	Redeemed  int64      `json:"redeemed"`       // redemptions that stand
	// Last are the transaction_ids of the latest redemptions that stand, at most maxOfferUses, the last one at the end;
	// empty for a redemption that named none.
	Last []string `json:"last,omitempty"`
}

// maxOfferUses bounds the uses that are kept per customer, who may use an offer for years.
const maxOfferUses = 100

func (p *OfferProgress) redeem(transaction string) {
	p.Redeemed++
	p.Last = append(p.Last, transaction)
	p.Last = p.Last[max(0, len(p.Last)-maxOfferUses):]
}

// unredeem takes back the last redemption, or the last one of a transaction. It reports whether there was one.
func (p *OfferProgress) unredeem(transaction string) bool {
	i := len(p.Last) - 1
	for transaction != "" && i >= 0 && p.Last[i] != transaction {
		i--
	}
	if p.Redeemed == 0 || (i < 0 && p.Redeemed <= int64(len(p.Last))) {
		return false
	}
	p.Redeemed--
	if i >= 0 {
		p.Last = slices.Delete(p.Last, i, i+1)
	}
	return true
}

// Left finds an offer that the customer can still use, with their uses so far. Besides the errors of InForce it fails
// with ErrOfferLimit, with ErrOfferUsedUp if the overall limit is reached, and with ErrOfferSegment.
func Left(r *engine.Run, ref engine.Reference) (*Offer, OfferProgress, error) {
	var p OfferProgress
	o, err := engine.InForce(r, Offers.Of(r.Programme), ref)
	if err != nil {
		return nil, p, err
	}
	if _, err := r.Progress(loyalty.ProgressOffer, o.ID, &p); err != nil {
		return nil, p, err
	}

	all, err := r.Tallies().Of(loyalty.TallyOffer + o.ID)
	if err != nil {
		return nil, p, err
	}

	switch {
	case o.PerCustomer != nil && p.Redeemed >= *o.PerCustomer:
		return nil, p, r.Refuse(ref, "reason.limit", loyalty.ErrOfferLimit.With("limit", *o.PerCustomer))
	case o.usedUp(all):
		return nil, p, r.Refuse(ref, "reason.limit_total", loyalty.ErrOfferUsedUp)
	}

	member, err := r.MemberOfAny(o.Segments)
	if err == nil && !member {
		err = r.Refuse(ref, "reason.segment", loyalty.ErrOfferSegment)
	}

	return o, p, err
}

// usedUp reports whether a number of redemptions reaches the offer's limit.
func (o *Offer) usedUp(redemptions int64) bool {
	return o.MaxRedemptions != nil && redemptions >= *o.MaxRedemptions
}

// Redeem uses an offer on an offer_redeem event, for the purchase that the event belongs to. It fails like Left.
func Redeem(r *engine.Run, e *loyalty.Event, ref engine.Reference) error {
	o, p, err := Left(r, ref)
	if err != nil {
		return err
	}
	return useOffer(r, e, o, p, ref)
}

// useOffer counts one more use of an offer.
func useOffer(r *engine.Run, e *loyalty.Event, o *Offer, p OfferProgress, ref engine.Reference) error {
	p.redeem(e.Transaction)
	r.Trace(ref.Type, "applied", "reason.claimed", 0)
	if err := r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressOffer, Key: o.ID}, p, time.Time{}); err != nil {
		return err
	}
	return r.Tallies().Add(e, loyalty.TallyOffer+o.ID, 1)
}

// RedeemAll uses the offers of a checkout, each on its own offer_redeem event. An offer that cannot be used fails with
// an error at data.offers[i], or is left out with that error as a warning.
func RedeemAll(r *engine.Run, checkout *loyalty.Event, t *loyalty.Transaction, offers []string) error {
	for i, id := range offers {
		ref := engine.Reference{Type: offerType, ID: id, Field: fmt.Sprintf("data.offers[%d]", i)}
		o, p, err := Left(r, ref)
		if err != nil {
			if err = coupon.Unusable(r, err); err != nil {
				return err
			}
			t.Detail.Unused = append(slices.Clip(t.Detail.Unused), id)
			r.Changed(checkout, t)
			continue
		}
		if err := useOffer(r, r.Derive(checkout, "offer_redeem", offerAttributes{id}), o, p, ref); err != nil {
			return err
		}
	}

	return nil
}

// unredeemOffers gives back the offers of a purchase that is undone, each on its own offer_unredeem
// event, except those that were given back before.
func unredeemOffers(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	for _, id := range usedOffers(t) {
		p, err := offerProgress(r, id)
		if err != nil {
			return err
		}
		if !p.unredeem(t.Name) {
			continue
		}
		if err := keepUnredeemed(r, r.Derive(e, "offer_unredeem", offerAttributes{id}), id, p); err != nil {
			return err
		}
	}
	return nil
}

// moveOffers moves the offer uses of a guest's purchase to the customer who claims it, so that they are
// given back to the right customer if the purchase is undone.
func moveOffers(r *engine.Run, guest *engine.Run, gone *loyalty.Event, t *loyalty.Transaction) error {
	for _, id := range usedOffers(t) {
		theirs, err := offerProgress(guest, id)
		if err != nil {
			return err
		}
		if !theirs.unredeem(t.Name) {
			continue
		}

		mine, err := offerProgress(r, id)
		if err != nil {
			return err
		}

		mine.redeem(t.Name)
		key := loyalty.ProgressKey{Kind: loyalty.ProgressOffer, Key: id}
		if err := errors.Join(guest.SetProgress(gone, key, theirs, time.Time{}),
			r.SetProgress(r.Event, key, mine, time.Time{})); err != nil {
			return err
		}
	}

	return nil
}

// usedOffers lists the offers that the purchase named and that were not left out.
func usedOffers(t *loyalty.Transaction) (offers []string) {
	if raw, ok := t.Detail.Attributes["offers"]; ok && json.Unmarshal(raw, &offers) != nil {
		return nil
	}
	for _, id := range t.Detail.Unused {
		if i := slices.Index(offers, id); i >= 0 {
			offers = slices.Delete(offers, i, i+1)
		}
	}
	return offers
}

// Unredeem takes back the last use of an offer on an offer_unredeem event, even if the offer is no longer in force. It
// fails with ErrEntityNotFound for an unknown offer, and with ErrOfferNotRedeemed.
func Unredeem(r *engine.Run, e *loyalty.Event, ref engine.Reference) error {
	p, err := offerProgress(r, ref.ID)
	if err != nil {
		return err
	}
	if p.unredeem("") {
		return keepUnredeemed(r, e, ref.ID, p)
	}
	if Offers.Of(r.Programme)[ref.ID] == nil {
		return ref.At(loyalty.ErrEntityNotFound.With("type", ref.Type).With("id", ref.ID))
	}
	return ref.At(loyalty.ErrOfferNotRedeemed)
}

func offerProgress(r *engine.Run, id string) (p OfferProgress, err error) {
	_, err = r.Progress(loyalty.ProgressOffer, id, &p)
	return p, err
}

func keepUnredeemed(r *engine.Run, e *loyalty.Event, id string, p OfferProgress) error {
	if err := r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressOffer, Key: id}, p, time.Time{}); err != nil {
		return err
	}
	return r.Tallies().Add(e, loyalty.TallyOffer+id, -1)
}

const offerType = "offers/offer"

// offerAttributes are the attributes of the events of an offer.
type offerAttributes struct {
	Offer string `json:"offer"`
}

// OfferFeature is the module offers.
var OfferFeature = engine.Feature{
	Name: "offers", Progress: loyalty.ProgressOffer, Join: engine.JoinBy(joinOffers),
	Undone:  unredeemOffers,
	Claimed: moveOffers,
}

func joinOffers(a *OfferProgress, b OfferProgress) {
	if a.ClaimedAt == nil || (b.ClaimedAt != nil && b.ClaimedAt.Before(*a.ClaimedAt)) {
		a.ClaimedAt, a.Claim = b.ClaimedAt, b.Claim
	}
	a.Redeemed += b.Redeemed
	a.Last = append(slices.Clone(b.Last), a.Last...)
	a.Last = a.Last[max(0, len(a.Last)-maxOfferUses):]
}

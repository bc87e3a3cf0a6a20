package loyalty

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// The types of an offer.
const (
	OfferCart     = "cart"     // on the whole cart
	OfferOnItems  = "item"     // on the eligible items
	OfferCombined = "combined" // on the eligible items, with the required ones in the cart
)

// The types of an offer's discount.
const (
	FixedPrice      = "fixed_price"      // it costs the value
	FixedDiscount   = "fixed_discount"   // it costs the value less
	PercentDiscount = "percent_discount" // it costs the value percent less
)

// Offer is an incentive before a purchase (offers/offer). Tills and shops grant
// it; the platform says whom it is for and counts its use.
type Offer struct {
	ID             string        `json:"-"`
	Name           Texts         `json:"name"`
	Type           string        `json:"type"`
	Weight         int64         `json:"weight"` // the greatest comes first
	MinTotal       money.Amount  `json:"min_total"`
	RequiredItems  []OfferItem   `json:"required_items"`
	RequiredMatch  string        `json:"required_match"` // all (also when empty) or any
	EligibleItems  []OfferItem   `json:"eligible_items"`
	Discount       OfferDiscount `json:"discount"`
	Stores         []string      `json:"stores"`           // where tills grant it; empty: everywhere
	Segments       []string      `json:"segments"`         // who may use it: members of any; empty: everybody
	MaxRedemptions *int64        `json:"max_redemptions"`  // in all; nil: no limit
	PerCustomer    *int64        `json:"max_per_customer"` // nil: no limit
	Dates

	// Custom are the attributes of the programme's own, by name with cf_.
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
var Offers = &EntityType[*Offer]{Type: "offers/offer", Module: ModuleOffers, Read: readOffer}

// readOffer refuses parts that the type of the offer would ignore or miss.
func readOffer(p *Programme, e Entity) (*Offer, error) {
	o := &Offer{ID: e.ID, Custom: customOf(e)}
	if err := decodeEntity(e, o); err != nil {
		return nil, err
	}
	hundred := 100 * money.Unit
	switch {
	case o.Type == OfferCart && len(o.EligibleItems) > 0:
		return nil, unfit("eligible_items", "type", o.Type)
	case o.Type != OfferCart && len(o.EligibleItems) == 0:
		return nil, fieldFault("eligible_items", ErrPropertyEmpty.Name, nil)
	case o.Type != OfferCombined && len(o.RequiredItems) > 0:
		return nil, unfit("required_items", "type", o.Type)
	case o.Type == OfferCombined && len(o.RequiredItems) == 0:
		return nil, fieldFault("required_items", ErrPropertyEmpty.Name, nil)
	case o.Discount.Type == PercentDiscount && o.Discount.Value > hundred:
		return nil, fieldFault("discount.value", "too_large", map[string]any{"limit": 100})
	}
	if err := p.knownSegments(o.Segments); err != nil {
		return nil, err
	}
	return o, o.check()
}

// OfferClaim is what offer_claim answers.
type OfferClaim struct {
	ID        ID        `json:"id"` // the event that records it
	Offer     string    `json:"offer"`
	ClaimedAt time.Time `json:"claimed_at"` // the first time
}

// OfferProgress is a customer's progress with an offer.
type OfferProgress struct {
	ClaimedAt *time.Time `json:"claimed_at,omitempty"`
	Redeemed  int64      `json:"redeemed"` // redemptions that stand
	// Last are the transaction_ids of the latest redemptions that stand, at most
	// maxOfferUses, the last one at the end; empty: none was named.
	Last []string `json:"last,omitempty"`
}

// maxOfferUses bounds what is kept of an offer that a customer uses for years.
const maxOfferUses = 100

func (p *OfferProgress) redeem(transaction string) {
	p.Redeemed++
	p.Last = append(p.Last, transaction)
	p.Last = p.Last[max(0, len(p.Last)-maxOfferUses):]
}

// unredeem takes back the last redemption, or the last one of a transaction;
// false: there is none that stands.
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

// OfferLeft finds an offer that the customer can use once more, with what they
// did with it so far. Besides the failures of InForce it fails with
// ErrOfferLimit, with ErrOfferUsedUp when others were faster, and with
// ErrOfferSegment.
func (r *Run) OfferLeft(ref Reference) (*Offer, OfferProgress, error) {
	var p OfferProgress
	o, err := InForce(r, Offers.Of(r.Programme), ref)
	if err != nil {
		return nil, p, err
	}
	if _, err := r.Progress(ProgressOffer, o.ID, &p); err != nil {
		return nil, p, err
	}
	all, err := r.Tally(TallyOffer + o.ID)
	if err != nil {
		return nil, p, err
	}
	switch {
	case o.PerCustomer != nil && p.Redeemed >= *o.PerCustomer:
		return nil, p, r.Refuse(ref, "reason.limit", ErrOfferLimit.With("limit", *o.PerCustomer))
	case o.usedUp(all):
		return nil, p, r.Refuse(ref, "reason.limit_total", ErrOfferUsedUp)
	}
	member, err := r.memberOfAny(o.Segments)
	if err == nil && !member {
		err = r.Refuse(ref, "reason.segment", ErrOfferSegment)
	}
	return o, p, err
}

// usedUp says whether so many redemptions are all there may be.
func (o *Offer) usedUp(redemptions int64) bool {
	return o.MaxRedemptions != nil && redemptions >= *o.MaxRedemptions
}

// RedeemOffer uses an offer in the name of an offer_redeem event, for the
// purchase that the event belongs to. It fails like OfferLeft.
func (r *Run) RedeemOffer(e *Event, ref Reference) error {
	o, p, err := r.OfferLeft(ref)
	if err != nil {
		return err
	}
	return r.useOffer(e, o, p, ref)
}

// useOffer counts one use more of an offer.
func (r *Run) useOffer(e *Event, o *Offer, p OfferProgress, ref Reference) error {
	p.redeem(e.Transaction)
	r.Trace(ref.Type, "applied", "reason.claimed", 0)
	if err := r.SetProgress(e, ProgressKey{ProgressOffer, o.ID}, p, time.Time{}); err != nil {
		return err
	}
	return r.Count(e, TallyOffer+o.ID, 1)
}

// RedeemOffers uses the offers of a checkout, each on an offer_redeem event of
// its own. One that cannot be used fails with an error at data.offers[i], or is left
// out with that as a warning.
func (r *Run) RedeemOffers(checkout *Event, t *Transaction, offers []string) error {
	for i, id := range offers {
		ref := Reference{offerType, id, fmt.Sprintf("data.offers[%d]", i)}
		o, p, err := r.OfferLeft(ref)
		if err != nil {
			if err = r.unusable(err); err != nil {
				return err
			}
			t.Detail.Unused = append(slices.Clip(t.Detail.Unused), id)
			r.Changed(checkout, t)
			continue
		}
		if err := r.useOffer(r.Derive(checkout, "offer_redeem", offerAttributes{id}), o, p, ref); err != nil {
			return err
		}
	}
	return nil
}

// unredeemOffers gives the offers of a rejected purchase back, each on an
// offer_unredeem event of its own. What was given back before stays as it is.
func (r *Run) unredeemOffers(rejection *Event, t *Transaction) error {
	for _, id := range t.offers() {
		p, err := r.offerProgress(id)
		if err != nil {
			return err
		}
		if !p.unredeem(t.Name) {
			continue
		}
		if err := r.keepUnredeemed(r.Derive(rejection, "offer_unredeem", offerAttributes{id}), id, p); err != nil {
			return err
		}
	}
	return nil
}

// moveOffers makes the uses of a guest's purchase those of who claims it, so that
// its rejection gives them back.
func (r *Run) moveOffers(guest *Run, gone *Event, t *Transaction) error {
	for _, id := range t.offers() {
		theirs, err := guest.offerProgress(id)
		if err != nil {
			return err
		}
		if !theirs.unredeem(t.Name) {
			continue
		}
		mine, err := r.offerProgress(id)
		if err != nil {
			return err
		}
		mine.redeem(t.Name)
		key := ProgressKey{ProgressOffer, id}
		if err := errors.Join(guest.SetProgress(gone, key, theirs, time.Time{}), r.SetProgress(r.Event, key, mine, time.Time{})); err != nil {
			return err
		}
	}
	return nil
}

// offers are those that the purchase used: named, and not left out.
func (t *Transaction) offers() (offers []string) {
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

// UnredeemOffer takes back the last use of an offer in the name of an
// offer_unredeem event, also of an offer that is not in force any more. It fails
// with ErrEntityNotFound for an offer nobody knows, and with ErrOfferNotRedeemed.
func (r *Run) UnredeemOffer(e *Event, ref Reference) error {
	p, err := r.offerProgress(ref.ID)
	if err != nil {
		return err
	}
	if p.unredeem("") {
		return r.keepUnredeemed(e, ref.ID, p)
	}
	if Offers.Of(r.Programme)[ref.ID] == nil {
		return ref.At(ErrEntityNotFound.With("type", ref.Type).With("id", ref.ID))
	}
	return ref.At(ErrOfferNotRedeemed)
}

func (r *Run) offerProgress(id string) (p OfferProgress, err error) {
	_, err = r.Progress(ProgressOffer, id, &p)
	return p, err
}

func (r *Run) keepUnredeemed(e *Event, id string, p OfferProgress) error {
	if err := r.SetProgress(e, ProgressKey{ProgressOffer, id}, p, time.Time{}); err != nil {
		return err
	}
	return r.Count(e, TallyOffer+id, -1)
}

const offerType = "offers/offer"

// offerAttributes are the attributes of the events of an offer.
type offerAttributes struct {
	Offer string `json:"offer"`
}

// OfferFeature is the module offers.
var OfferFeature = Feature{
	Name: "offers", Progress: ProgressOffer, Join: JoinBy(joinOffers),
	Rejected: func(r *Run, e *Event, t *Transaction) error { return r.unredeemOffers(e, t) },
	Claimed:  func(r, guest *Run, gone *Event, t *Transaction) error { return r.moveOffers(guest, gone, t) },
}

func joinOffers(a *OfferProgress, b OfferProgress) {
	if a.ClaimedAt == nil || (b.ClaimedAt != nil && b.ClaimedAt.Before(*a.ClaimedAt)) {
		a.ClaimedAt = b.ClaimedAt
	}
	a.Redeemed += b.Redeemed
	a.Last = append(slices.Clone(b.Last), a.Last...)
	a.Last = a.Last[max(0, len(a.Last)-maxOfferUses):]
}

package loyalty

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// CouponState is the state of a coupon.
type CouponState string

// The states of a coupon.
const (
	CouponCreated           CouponState = "created"    // a code of a pool that no customer holds yet
	CouponClaimed           CouponState = "claimed"    // a customer holds it
	CouponUnassigned        CouponState = "unassigned" // taken from its holder, to be given to another
	CouponRedeemed          CouponState = "redeemed"
	CouponPartiallyRedeemed CouponState = "partially_redeemed" // a gift card with balance left
	CouponInvalidated       CouponState = "invalidated"
	CouponExpired           CouponState = "expired"
)

// CouponStates lists the states a stored coupon can be in.
var CouponStates = []CouponState{
	CouponCreated, CouponClaimed, CouponUnassigned, CouponRedeemed, CouponPartiallyRedeemed,
	CouponInvalidated, CouponExpired,
}

// The types of a coupon.
const (
	CouponAmount       = "amount"
	CouponPercentage   = "percentage"
	CouponFreeShipping = "free_shipping"
	CouponGiftCard     = "gift_card"
)

// Coupon is one code and its state. Codes are unique over the whole programme. As JSON it is the effect of an event:
// the complete coupon after the event, so that a rebuild needs no other event.
type Coupon struct {
	ID       ID          `json:"id"`
	Version  int64       `json:"version"` // grows by one with every change
	Code     string      `json:"code"`
	State    CouponState `json:"state"`
	Customer ID          `json:"customer"` // the holder, merged accounts resolved; zero: no customer
	Type     string      `json:"type"`
	Value    money.Parts `json:"value,omitempty"`   // money, or percent
	Balance  money.Parts `json:"balance,omitempty"` // of a gift card
	Currency string      `json:"currency,omitempty"`
	Name     CouponName  `json:"name,omitzero"`
	Pool     string      `json:"pool,omitempty"`   // the pool it comes from; empty: none
	Reward   string      `json:"reward,omitempty"` // the reward that gave it; empty: none
	Cost     money.Parts `json:"cost,omitempty"`   // its cost to the business
	// the event that gave it to its first holder; zero: it was imported, or the event is unknown
	Given ID `json:"given,omitzero"`
	// Voided says that it was used when its cause was undone: the use stays, and what comes back of it is invalid.
	Voided    bool      `json:"voided,omitempty"`
	Stores    []string  `json:"stores,omitempty"`   // where a checkout may redeem it; empty: in every store
	Products  []string  `json:"products,omitempty"` // products that it applies to; empty: all
	CreatedAt time.Time `json:"created_at"`
	ClaimedAt time.Time `json:"claimed_at,omitzero"`
	// RedeemedAt is the (effective) instant of the last redemption.
	RedeemedAt time.Time `json:"redeemed_at,omitzero"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"` // zero: never

	// Uses are its redemptions that stand, the last one at the end, so that coupon_unredeem can restore the state
	// before.
	Uses []CouponUse `json:"uses,omitempty"`
}

// CouponUse is one redemption.
type CouponUse struct {
	Event       ID           `json:"event"`
	At          time.Time    `json:"at"`
	Amount      money.Amount `json:"amount,omitempty"` // of a gift card
	Transaction string       `json:"transaction,omitempty"`
	Before      CouponState  `json:"before"` // the state it came from
	Cost        money.Amount `json:"cost,omitempty"`
}

// Clone copies what a rule may change, so that a refusal, or a repeated decision, begins with what was loaded.
func (c *Coupon) Clone() *Coupon {
	copied := *c
	copied.Uses = slices.Clone(c.Uses)
	return &copied
}

// The payments of gift cards follow the purchase: its total may change while it is pending, and a refund gives the
// money back.

// Shrink returns a part of a use of a gift card to its balance.
func (c *Coupon) Shrink(i int, n money.Amount) {
	c.Uses[i].Amount -= n
	c.Balance += money.Parts(n)
	if c.State == CouponRedeemed {
		c.State = CouponPartiallyRedeemed
	}
	c.voided()
}

// voided invalidates what came back of a coupon that must not be used again.
func (c *Coupon) voided() {
	if c.Voided && c.State != CouponRedeemed {
		c.State = CouponInvalidated
	}
}

// PassTo makes another customer the holder. A use that made the former customer the holder was of a coupon without a
// holder: taking it back must not take the coupon from the new one.
func (c *Coupon) PassTo(customer ID, at time.Time) {
	c.Customer, c.ClaimedAt = customer, at
	for i := range c.Uses {
		if before := &c.Uses[i].Before; *before == CouponCreated || *before == CouponUnassigned {
			*before = CouponClaimed
		}
	}
}

// RedeemedCoupon is a coupon that a purchase redeemed, and the event of the use. Without an event it is a gift card
// that will pay as soon as the pending purchase costs more.
type RedeemedCoupon struct {
	Code  string `json:"code"`
	Event ID     `json:"event,omitzero"`
}

// CardPayment is what a gift card paid for a purchase with refunds, and how much of it the refunds gave back to the
// card.
type CardPayment struct {
	Code string       `json:"code"`
	Paid money.Amount `json:"paid"`
	Back money.Amount `json:"back"`
}

// Undo takes the i-th use back. For a gift card it may be a use that others followed.
func (c *Coupon) Undo(i int) {
	use := c.Uses[i]
	c.Balance += money.Parts(use.Amount)
	switch {
	case i == len(c.Uses)-1:
		c.State = use.Before
	default:
		c.Uses[i+1].Before = use.Before
		if c.Balance > 0 {
			c.State = CouponPartiallyRedeemed
		}
	}

	c.Uses = slices.Delete(c.Uses, i, i+1)
	c.RedeemedAt = time.Time{}
	if n := len(c.Uses); n > 0 {
		c.RedeemedAt = c.Uses[n-1].At
	}
	if c.State == CouponCreated || c.State == CouponUnassigned {
		c.Customer, c.ClaimedAt = ID{}, time.Time{}
	}

	c.voided()
}

// beforeRedemption stands in the table of states for the state that a coupon had before it was redeemed.
const beforeRedemption CouponState = ""

// CouponMoves is the specification's table of states as completed by decisions 6: trigger, state before, state after.
// redeem_part is the redemption of a gift card that leaves some of its balance, and of nothing at all.
var CouponMoves = map[string]map[CouponState]CouponState{
	"claim": {CouponCreated: CouponClaimed, CouponUnassigned: CouponClaimed},
	"redeem": {
		CouponCreated: CouponRedeemed, CouponClaimed: CouponRedeemed, CouponUnassigned: CouponRedeemed,
		CouponPartiallyRedeemed: CouponRedeemed,
	},
	"redeem_part": {
		CouponCreated: CouponPartiallyRedeemed, CouponClaimed: CouponPartiallyRedeemed,
		CouponUnassigned:        CouponPartiallyRedeemed,
		CouponPartiallyRedeemed: CouponPartiallyRedeemed,
	},
	"unredeem": {CouponRedeemed: beforeRedemption, CouponPartiallyRedeemed: beforeRedemption},
	"unassign": {CouponClaimed: CouponUnassigned},
	"transfer": {CouponClaimed: CouponClaimed, CouponPartiallyRedeemed: CouponPartiallyRedeemed},
	"invalidate": {
		CouponCreated: CouponInvalidated, CouponClaimed: CouponInvalidated, CouponUnassigned: CouponInvalidated,
		CouponRedeemed: CouponInvalidated, CouponPartiallyRedeemed: CouponInvalidated,
		CouponInvalidated: CouponInvalidated, CouponExpired: CouponInvalidated,
	},
	"expire": {
		CouponCreated: CouponExpired, CouponClaimed: CouponExpired, CouponUnassigned: CouponExpired,
		CouponPartiallyRedeemed: CouponExpired,
	},
}

// couponAims is the state that a trigger leads to, for the message of a refusal.
var couponAims = map[string]CouponState{
	"claim": CouponClaimed, "unredeem": CouponClaimed, "unassign": CouponUnassigned, "transfer": CouponClaimed,
	"invalidate": CouponInvalidated, "expire": CouponExpired,
}

// StateAt returns the coupon's state at an instant: a coupon that could still be redeemed is expired from its ExpiresAt
// on, although no event records it.
func (c *Coupon) StateAt(at time.Time) CouponState {
	if !c.ExpiresAt.IsZero() && !at.Before(c.ExpiresAt) {
		if expired, open := CouponMoves["expire"][c.State]; open {
			return expired
		}
	}
	return c.State
}

// Move changes the coupon's state by the table, from its state at an instant. A coupon that cannot be redeemed is
// treated as unknown (ErrCouponNotFound, 1601); any other move that is not in the table is refused with
// ErrForbiddenState, which names both states.
func (c *Coupon) Move(trigger string, at time.Time) error {
	from := c.StateAt(at)
	next, ok := CouponMoves[trigger][from]
	if trigger == "unredeem" {
		next, ok = CouponMoves[trigger][c.State] // a use can be taken back after the expiry, too
	}

	switch {
	case ok && next == beforeRedemption:
		return nil // Undo sets the state
	case ok:
		c.State = next
		return nil
	case trigger == "redeem" || trigger == "redeem_part":
		return ErrCouponNotFound.At("data.code")
	}

	return ErrForbiddenState.With("from", string(from)).With("to", string(couponAims[trigger])).At("data.code")
}

// CouponName is the name of a coupon. Texts is a name of the programme's own. A name that a caller gave with
// coupon_create may describe the customer: it is sealed under that customer's key, even if the coupon passes to another
// one, and unreadable once the customer leaves.
type CouponName struct {
	Texts    map[string]string // by language
	Sealed   []byte            // Texts as JSON, bound to the coupon's id; nil: nothing is sealed
	Customer ID                // under whose key it is sealed
}

// sealedName is a sealed name in JSON, under a member that is no language.
type sealedName struct {
	Sealed   []byte `json:"sealed"`
	Customer ID     `json:"customer"`
}

// IsZero reports whether there is no name.
func (n CouponName) IsZero() bool { return len(n.Texts) == 0 && n.Sealed == nil }

// MarshalJSON writes the texts by language, or the sealed name instead.
func (n CouponName) MarshalJSON() ([]byte, error) {
	if n.Sealed != nil {
		return json.Marshal(sealedName{n.Sealed, n.Customer})
	}
	return json.Marshal(n.Texts)
}

// UnmarshalJSON reads what MarshalJSON wrote. A list of coupons reads as many names as it has rows, so a name in
// canonical form is parsed without encoding/json.
func (n *CouponName) UnmarshalJSON(text []byte) error {
	*n = CouponName{}
	members, err := Members(text)
	if err != nil || members["sealed"] != nil {
		return n.unseal(text)
	}

	for language, quoted := range members {
		name, err := unquoted(quoted)
		if err != nil {
			return err
		}
		if n.Texts == nil {
			n.Texts = make(map[string]string, len(members))
		}
		n.Texts[language] = name
	}

	return nil
}

// unseal reads a sealed name, or one in another form.
func (n *CouponName) unseal(text []byte) error {
	var s sealedName
	if json.Unmarshal(text, &s) == nil && s.Sealed != nil {
		n.Sealed, n.Customer = s.Sealed, s.Customer
		return nil
	}
	return json.Unmarshal(text, &n.Texts)
}

// Open decrypts a sealed name. Without the key (nil: it was destroyed) there is no name.
func (n CouponName) Open(key []byte, coupon ID) (CouponName, error) {
	if n.Sealed == nil {
		return n, nil
	}
	var opened CouponName
	if key == nil {
		return opened, nil
	}
	plain, err := Open(key, coupon[:], n.Sealed)
	if err != nil {
		return opened, err
	}
	return opened, json.Unmarshal(plain, &opened.Texts)
}

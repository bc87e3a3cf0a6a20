package loyalty

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// CouponState is where a coupon stands.
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
	CouponCreated, CouponClaimed, CouponUnassigned, CouponRedeemed, CouponPartiallyRedeemed, CouponInvalidated, CouponExpired,
}

// The types of a coupon.
const (
	CouponAmount       = "amount"
	CouponPercentage   = "percentage"
	CouponFreeShipping = "free_shipping"
	CouponGiftCard     = "gift_card"
)

// Coupon is one code and what became of it. Codes are unique over the whole
// programme. As JSON it is the effect of an event: a coupon as the event left it, whole,
// so that a rebuild needs no other event to make it.
type Coupon struct {
	ID       ID          `json:"id"`
	Version  int64       `json:"version"` // grows by one with every change
	Code     string      `json:"code"`
	State    CouponState `json:"state"`
	Customer ID          `json:"customer"` // who holds it, merged accounts resolved; zero: no customer
	Type     string      `json:"type"`
	Value    money.Parts `json:"value,omitempty"`   // what it is worth: money, or percent
	Balance  money.Parts `json:"balance,omitempty"` // of a gift card
	Currency string      `json:"currency,omitempty"`
	Name     CouponName  `json:"name,omitzero"`
	Pool     string      `json:"pool,omitempty"`   // the pool it comes from; empty: none
	Reward   string      `json:"reward,omitempty"` // the reward that gave it; empty: none
	Cost     money.Parts `json:"cost,omitempty"`   // what it costs the business
	Given    ID          `json:"given,omitzero"`   // the event that gave it to its first holder; zero: it was imported, or from before this was kept
	// Voided says that it was used when what it was given for was undone: its use stays, and what
	// comes back of it is invalid.
	Voided    bool      `json:"voided,omitempty"`
	Stores    []string  `json:"stores,omitempty"`   // where a checkout may redeem it; empty: everywhere
	Products  []string  `json:"products,omitempty"` // what it is for; empty: everything
	CreatedAt time.Time `json:"created_at"`
	ClaimedAt time.Time `json:"claimed_at,omitzero"`
	// RedeemedAt is the (effective) instant of the last redemption.
	RedeemedAt time.Time `json:"redeemed_at,omitzero"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"` // zero: never

	// Uses are its redemptions that stand, the last one at the end, so that
	// coupon_unredeem can lead back to the state before.
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

// Clone copies what a rule may change, so that a refusal, or a decision that is made again,
// begins with what was loaded.
func (c *Coupon) Clone() *Coupon {
	copied := *c
	copied.Uses = slices.Clone(c.Uses)
	return &copied
}

// What gift cards paid follows the purchase: its total may change while it is
// pending, and a refund gives the money back.

// Shrink gives a part of a use of a gift card back to its balance.
func (c *Coupon) Shrink(i int, n money.Amount) {
	c.Uses[i].Amount -= n
	c.Balance += money.Parts(n)
	if c.State == CouponRedeemed {
		c.State = CouponPartiallyRedeemed
	}
	c.voided()
}

// voided makes invalid what came back of a coupon that is to bring nothing any more.
func (c *Coupon) voided() {
	if c.Voided && c.State != CouponRedeemed {
		c.State = CouponInvalidated
	}
}

// PassTo makes another customer the holder. A use that made the former one the holder was of a
// coupon that nobody held: taking it back must not take the coupon from the new one.
func (c *Coupon) PassTo(customer ID, at time.Time) {
	c.Customer, c.ClaimedAt = customer, at
	for i := range c.Uses {
		if before := &c.Uses[i].Before; *before == CouponCreated || *before == CouponUnassigned {
			*before = CouponClaimed
		}
	}
}

// RedeemedCoupon is a coupon that a purchase redeemed, and by which event; without
// one, a gift card that is to pay as soon as a pending purchase costs more.
type RedeemedCoupon struct {
	Code  string `json:"code"`
	Event ID     `json:"event,omitzero"`
}

// CardPayment is what a gift card paid for a purchase of which money was refunded, and how much of it
// the refunds gave back to the card.
type CardPayment struct {
	Code string       `json:"code"`
	Paid money.Amount `json:"paid"`
	Back money.Amount `json:"back"`
}

// Undo takes the i-th use back. Of a gift card it may be one that others followed.
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

// beforeRedemption stands in the table of states for the state that a coupon had
// before it was redeemed.
const beforeRedemption CouponState = ""

// CouponMoves is the specification's table of states as decisions 6 completes it:
// trigger, state before, state after. redeem_part is the redemption of a gift
// card that leaves some of its balance, and of nothing at all.
var CouponMoves = map[string]map[CouponState]CouponState{
	"claim": {CouponCreated: CouponClaimed, CouponUnassigned: CouponClaimed},
	"redeem": {
		CouponCreated: CouponRedeemed, CouponClaimed: CouponRedeemed, CouponUnassigned: CouponRedeemed,
		CouponPartiallyRedeemed: CouponRedeemed,
	},
	"redeem_part": {
		CouponCreated: CouponPartiallyRedeemed, CouponClaimed: CouponPartiallyRedeemed, CouponUnassigned: CouponPartiallyRedeemed,
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

// couponAims names the state a trigger leads to, for the message of a refusal.
var couponAims = map[string]CouponState{
	"claim": CouponClaimed, "unredeem": CouponClaimed, "unassign": CouponUnassigned, "transfer": CouponClaimed,
	"invalidate": CouponInvalidated, "expire": CouponExpired,
}

// StateAt returns where the coupon stands at an instant: one that could still be redeemed is
// expired from its ExpiresAt on, although nothing was recorded then.
func (c *Coupon) StateAt(at time.Time) CouponState {
	if !c.ExpiresAt.IsZero() && !at.Before(c.ExpiresAt) {
		if expired, open := CouponMoves["expire"][c.State]; open {
			return expired
		}
	}
	return c.State
}

// Move takes the coupon along the table of states, as it stands at an instant. One that cannot be
// redeemed is as good as none (ErrCouponNotFound, 1601); any other move that is not in the table is
// refused with ErrForbiddenState, which names both states.
func (c *Coupon) Move(trigger string, at time.Time) error {
	from := c.StateAt(at)
	next, ok := CouponMoves[trigger][from]
	if trigger == "unredeem" {
		next, ok = CouponMoves[trigger][c.State] // what was used can be taken back after the date, too
	}
	switch {
	case ok && next == beforeRedemption:
		return nil // undo knows it
	case ok:
		c.State = next
		return nil
	case trigger == "redeem" || trigger == "redeem_part":
		return ErrCouponNotFound.At("data.code")
	}
	return ErrForbiddenState.With("from", string(from)).With("to", string(couponAims[trigger])).At("data.code")
}

// CouponName is what a coupon is called. A name of the programme's own is Texts. One
// that a caller gave with coupon_create may tell of the person it was given to: it is
// sealed under that customer's key, wherever the coupon goes, and unreadable once they
// leave.
type CouponName struct {
	Texts    map[string]string // by language
	Sealed   []byte            // Texts as JSON, bound to the coupon's id; nil: nothing is sealed
	Customer ID                // under whose key
}

// sealedName is a sealed name in JSON, where no language is called that.
type sealedName struct {
	Sealed   []byte `json:"sealed"`
	Customer ID     `json:"customer"`
}

// IsZero reports whether there is no name.
func (n CouponName) IsZero() bool { return len(n.Texts) == 0 && n.Sealed == nil }

// MarshalJSON writes the texts by language, or what is sealed instead of them.
func (n CouponName) MarshalJSON() ([]byte, error) {
	if n.Sealed != nil {
		return json.Marshal(sealedName{n.Sealed, n.Customer})
	}
	return json.Marshal(n.Texts)
}

// UnmarshalJSON reads what MarshalJSON wrote. A list of coupons reads as many names as it has
// rows: what is in canonical form is taken apart without encoding/json.
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

// unseal reads a name that is sealed, or in another form than ours.
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

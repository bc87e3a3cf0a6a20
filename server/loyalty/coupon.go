package loyalty

import (
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// CouponState is where a coupon stands.
type CouponState string

// The states of a coupon.
const (
	CouponCreated           CouponState = "created"    // a code of a pool that nobody holds yet
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
// programme.
type Coupon struct {
	ID        ID
	Code      string
	State     CouponState
	Customer  ID // who holds it, merged accounts resolved; zero: nobody
	Type      string
	Value     money.Amount // what it is worth: money, or percent
	Balance   money.Amount // of a gift card
	Currency  string
	Name      CouponName
	Pool      string       // the pool it comes from; empty: none
	Reward    string       // the reward that gave it; empty: none
	Cost      money.Amount // what it costs the business
	Stores    []string     // where a checkout may redeem it; empty: everywhere
	Products  []string     // what it is for; empty: everything
	CreatedAt time.Time
	ClaimedAt time.Time
	// RedeemedAt is the (effective) instant of the last redemption.
	RedeemedAt time.Time
	ExpiresAt  time.Time // zero: never
	Version    int64     // grows by one with every change

	// Uses are its redemptions that stand, the last one at the end, so that
	// coupon_unredeem can lead back to the state before.
	Uses []CouponUse
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

func (c *Coupon) Clone() *Coupon {
	copied := *c
	copied.Uses = slices.Clone(c.Uses)
	return &copied
}

// EffectOfCoupon is a coupon as the journal keeps it.
func EffectOfCoupon(c *Coupon) CouponEffect {
	return CouponEffect{
		ID: c.ID, Version: c.Version, Code: c.Code, State: c.State, Customer: c.Customer, Type: c.Type, Value: int64(c.Value), Balance: int64(c.Balance),
		Currency: c.Currency, Name: c.Name, Pool: c.Pool, Reward: c.Reward, Cost: int64(c.Cost), Stores: c.Stores, Products: c.Products,
		CreatedAt: c.CreatedAt, ClaimedAt: InstantOrNil(c.ClaimedAt), RedeemedAt: InstantOrNil(c.RedeemedAt), ExpiresAt: InstantOrNil(c.ExpiresAt),
		Uses: slices.Clone(c.Uses),
	}
}

// What gift cards paid follows the purchase: its total may change while it is
// pending, and a refund gives the money back.

// Shrink gives a part of a use of a gift card back to its balance.
func (c *Coupon) Shrink(i int, n money.Amount) {
	c.Uses[i].Amount -= n
	c.Balance += n
	if c.State == CouponRedeemed {
		c.State = CouponPartiallyRedeemed
	}
}

// RedeemedCoupon is a coupon that a purchase redeemed, and by which event; without
// one, a gift card that is to pay as soon as a pending purchase costs more.
type RedeemedCoupon struct {
	Code  string `json:"code"`
	Event ID     `json:"event,omitzero"`
}

// Undo takes the i-th use back. Of a gift card it may be one that others followed.
func (c *Coupon) Undo(i int) {
	use := c.Uses[i]
	c.Balance += use.Amount
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
}

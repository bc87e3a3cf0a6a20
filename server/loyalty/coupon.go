package loyalty

import (
	"maps"
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

func (c *Coupon) clone() *Coupon {
	copied := *c
	copied.Uses = slices.Clone(c.Uses)
	return &copied
}

// Coupon finds a coupon by its code, whoever holds it. What is changed through
// the pointer is kept by ChangedCoupon. It fails with ErrCouponNotFound.
func (r *Run) Coupon(code string) (*Coupon, error) {
	if c, ok := r.work.coupons[code]; ok {
		return c, nil
	}
	if err := r.require(CustomerNeeds{Coupons: []string{code}}); err != nil {
		return nil, err
	}
	c, ok := r.batch.coupons[code]
	if !ok {
		return nil, ErrCouponNotFound
	}
	return c.clone(), nil
}

// NewCoupon claims a code and gives its coupon to change and to keep by
// ChangedCoupon. It fails with ErrCouponExists when the code was ever used.
func (r *Run) NewCoupon(code string) (*Coupon, error) {
	if err := CheckName("code", code); err != nil {
		return nil, err
	}
	if err := r.require(CustomerNeeds{Coupons: []string{code}}); err != nil {
		return nil, err
	}
	c := r.claimCode(code)
	if c == nil {
		return nil, ErrCouponExists.With("code", code).At("data.code")
	}
	return c, nil
}

// claimCode takes a code for a new coupon; nil: as far as was loaded, it is
// taken. What was not loaded is found out when the batch is written.
func (r *Run) claimCode(code string) *Coupon {
	name := Name{NameCoupon, code}
	if _, taken := r.owner(name); taken {
		return nil
	}
	c := &Coupon{ID: NewID(r.Now, ID{}), Code: code, State: CouponCreated, CreatedAt: r.Now}
	r.work.claims = append(r.work.claims, Claim{name, c.ID})
	return c
}

// FreeCoupon takes the next code of a pool that nobody holds, the oldest first; nil:
// the pool is empty. A code that came back a moment ago is free again.
func (r *Run) FreeCoupon(pool string) (*Coupon, error) {
	asked := r.batch.asked.pools[pool]
	if asked == 0 {
		return nil, &wanting{needs: CustomerNeeds{Pools: map[string]int{pool: 1}}}
	}
	loaded := r.batch.free[pool]
	all := len(loaded) < asked // there are no more behind them
	free := r.free(pool)
	switch {
	case len(free) > 0 && (all || (len(loaded) > 0 && CompareID(free[0].ID, loaded[len(loaded)-1].ID) <= 0)):
		return free[0].clone(), nil
	case all:
		return nil, nil
	}
	// Older ones may lie behind those that were loaded.
	return nil, &wanting{needs: CustomerNeeds{Pools: map[string]int{pool: asked}}}
}

// free lists the codes of a pool that nobody holds, as far as they were loaded and
// as the events so far left them, the oldest first.
func (r *Run) free(pool string) (free []*Coupon) {
	known := make(map[string]*Coupon, len(r.batch.free[pool]))
	for i := range r.batch.free[pool] {
		known[r.batch.free[pool][i].Code] = &r.batch.free[pool][i]
	}
	for _, later := range []map[string]*Coupon{r.batch.coupons, r.work.coupons} {
		for code, c := range later {
			if _, listed := known[code]; listed || c.Pool == pool {
				known[code] = c
			}
		}
	}
	for _, c := range known {
		if c.Pool == pool && c.State == CouponCreated {
			free = append(free, c)
		}
	}
	slices.SortFunc(free, func(a, b *Coupon) int { return CompareID(a.ID, b.ID) })
	return free
}

// ChangedCoupon keeps what an event made of a coupon.
func (r *Run) ChangedCoupon(e *Event, c *Coupon) {
	if r.work.coupons == nil {
		r.work.coupons = map[string]*Coupon{}
	}
	c.Version++
	r.work.coupons[c.Code] = c
	effects := e.effects()
	effects.Coupons = slices.DeleteFunc(effects.Coupons, func(o CouponEffect) bool { return o.ID == c.ID })
	effects.Coupons = append(effects.Coupons, effectOf(c))
}

// effectOf is a coupon as the journal keeps it.
func effectOf(c *Coupon) CouponEffect {
	return CouponEffect{
		ID: c.ID, Version: c.Version, Code: c.Code, State: c.State, Customer: c.Customer, Type: c.Type, Value: int64(c.Value), Balance: int64(c.Balance),
		Currency: c.Currency, Name: c.Name, Pool: c.Pool, Reward: c.Reward, Cost: int64(c.Cost), Stores: c.Stores, Products: c.Products,
		CreatedAt: c.CreatedAt, ClaimedAt: instant(c.ClaimedAt), RedeemedAt: instant(c.RedeemedAt), ExpiresAt: instant(c.ExpiresAt),
		Uses: slices.Clone(c.Uses),
	}
}

// writeCoupons adds the coupons that changed to the batch's writes.
func (b *batch) writeCoupons() {
	for _, code := range slices.Sorted(maps.Keys(b.changed)) {
		after := *b.coupons[code]
		if before, ok := b.storedCoupon(code); ok {
			b.writes.Coupons = append(b.writes.Coupons, Changed[Coupon]{before, after})
		} else {
			b.writes.NewCoupons = append(b.writes.NewCoupons, after)
		}
	}
}

// storedCoupon is a coupon as it was loaded, by its code or out of a pool.
func (b *batch) storedCoupon(code string) (Coupon, bool) {
	if c, ok := b.loaded.Coupons[code]; ok {
		return c, true
	}
	for _, free := range b.loaded.Free {
		if i := slices.IndexFunc(free, func(c Coupon) bool { return c.Code == code }); i >= 0 {
			return free[i], true
		}
	}
	return Coupon{}, false
}

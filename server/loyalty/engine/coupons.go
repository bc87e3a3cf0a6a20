package engine

import (
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Coupon finds a coupon by its code, whoever holds it. What is changed through
// the pointer is kept by ChangedCoupon. It fails with ErrCouponNotFound.
func (r *Run) Coupon(code string) (*loyalty.Coupon, error) {
	if c, ok := r.work.coupons[code]; ok {
		return c, nil
	}
	if err := r.Require(loyalty.CustomerNeeds{Coupons: []string{code}}); err != nil {
		return nil, err
	}
	c, ok := r.batch.coupons[code]
	if !ok {
		return nil, loyalty.ErrCouponNotFound
	}
	return c.Clone(), nil
}

// NewCoupon claims a code and gives its coupon to change and to keep by
// ChangedCoupon. It fails with ErrCouponExists when the code was ever used.
func (r *Run) NewCoupon(code string) (*loyalty.Coupon, error) {
	if err := loyalty.CheckName("code", code); err != nil {
		return nil, err
	}
	if err := r.Require(loyalty.CustomerNeeds{Coupons: []string{code}}); err != nil {
		return nil, err
	}
	c := r.ClaimCode(code)
	if c == nil {
		return nil, loyalty.ErrCouponExists.With("code", code).At("data.code")
	}
	return c, nil
}

// ClaimCode takes a code for a new coupon; nil: as far as was loaded, it is
// taken. What was not loaded is found out when the batch is written.
func (r *Run) ClaimCode(code string) *loyalty.Coupon {
	name := loyalty.Name{Kind: loyalty.NameCoupon, Value: code}
	if _, taken := r.Owner(name); taken {
		return nil
	}
	c := &loyalty.Coupon{ID: loyalty.NewID(r.Now, loyalty.ID{}), Code: code, State: loyalty.CouponCreated, CreatedAt: r.Now}
	r.work.claims = append(r.work.claims, loyalty.Claim{Name: name, Owner: c.ID})
	return c
}

// FreeCoupon takes the next code of a pool that nobody holds, the oldest first; nil:
// the pool is empty. A code that came back a moment ago is free again.
func (r *Run) FreeCoupon(pool string) (*loyalty.Coupon, error) {
	asked := r.batch.asked.pools[pool]
	if asked == 0 {
		return nil, &NeedMoreError{needs: loyalty.CustomerNeeds{Pools: map[string]int{pool: 1}}}
	}
	loaded := r.batch.free[pool]
	all := len(loaded) < asked // there are no more behind them
	free := r.free(pool)
	switch {
	case len(free) > 0 && (all || (len(loaded) > 0 && loyalty.CompareID(free[0].ID, loaded[len(loaded)-1].ID) <= 0)):
		return free[0].Clone(), nil
	case all:
		return nil, nil
	}
	// Older ones may lie behind those that were loaded.
	return nil, &NeedMoreError{needs: loyalty.CustomerNeeds{Pools: map[string]int{pool: asked}}}
}

// free lists the codes of a pool that nobody holds, as far as they were loaded and
// as the events so far left them, the oldest first.
func (r *Run) free(pool string) (free []*loyalty.Coupon) {
	known := make(map[string]*loyalty.Coupon, len(r.batch.free[pool]))
	for i := range r.batch.free[pool] {
		known[r.batch.free[pool][i].Code] = &r.batch.free[pool][i]
	}
	for _, later := range []map[string]*loyalty.Coupon{r.batch.coupons, r.work.coupons} {
		for code, c := range later {
			if _, listed := known[code]; listed || c.Pool == pool {
				known[code] = c
			}
		}
	}
	for _, c := range known {
		if c.Pool == pool && c.State == loyalty.CouponCreated {
			free = append(free, c)
		}
	}
	slices.SortFunc(free, func(a, b *loyalty.Coupon) int { return loyalty.CompareID(a.ID, b.ID) })
	return free
}

// ChangedCoupon keeps what an event made of a coupon.
func (r *Run) ChangedCoupon(e *loyalty.Event, c *loyalty.Coupon) {
	if r.work.coupons == nil {
		r.work.coupons = map[string]*loyalty.Coupon{}
	}
	c.Version++
	r.work.coupons[c.Code] = c
	effects := e.Tell()
	effects.Coupons = slices.DeleteFunc(effects.Coupons, func(o loyalty.CouponEffect) bool { return o.ID == c.ID })
	effects.Coupons = append(effects.Coupons, loyalty.EffectOfCoupon(c))
}

// writeCoupons adds the coupons that changed to the batch's writes.
func (b *batch) writeCoupons() {
	for _, code := range slices.Sorted(maps.Keys(b.changed)) {
		after := *b.coupons[code]
		if before, ok := b.storedCoupon(code); ok {
			b.writes.Coupons = append(b.writes.Coupons, loyalty.Changed[loyalty.Coupon]{Before: before, After: after})
		} else {
			b.writes.NewCoupons = append(b.writes.NewCoupons, after)
		}
	}
}

// storedCoupon is a coupon as it was loaded, by its code or out of a pool.
func (b *batch) storedCoupon(code string) (loyalty.Coupon, bool) {
	if c, ok := b.loaded.Coupons[code]; ok {
		return c, true
	}
	for _, free := range b.loaded.Free {
		if i := slices.IndexFunc(free, func(c loyalty.Coupon) bool { return c.Code == code }); i >= 0 {
			return free[i], true
		}
	}
	return loyalty.Coupon{}, false
}

// SealName seals the name of a coupon under this customer's key.
func (r *Run) SealName(n loyalty.CouponName, coupon loyalty.ID) (loyalty.CouponName, error) {
	if len(n.Texts) == 0 {
		return loyalty.CouponName{}, nil
	}
	if err := r.Require(loyalty.CustomerNeeds{Key: true}); err != nil {
		return loyalty.CouponName{}, err
	}
	if r.Customer.Key == nil {
		return loyalty.CouponName{}, nil
	}
	sealed, err := loyalty.Seal(r.Customer.Key, coupon[:], loyalty.JSON(n.Texts))
	return loyalty.CouponName{Sealed: sealed, Customer: r.Customer.ID}, err
}

package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Coupons gives access to all coupons, as the submission left them, not only to this customer's: any customer may send
// any code.
type Coupons struct{ run *Run }

// Coupons returns the programme's coupons.
func (r *Run) Coupons() Coupons { return Coupons{r} }

// Find returns a coupon by its code, in any case of the letters and of any holder. Changes through the pointer are
// recorded by Changed. It fails with ErrCouponNotFound.
func (in Coupons) Find(code string) (*loyalty.Coupon, error) {
	for _, c := range in.run.work.coupons { // few
		if c.Code == code {
			return c, nil
		}
	}

	if err := in.run.Require(loyalty.CustomerNeeds{Coupons: []string{code}}); err != nil {
		return nil, err
	}

	id := in.run.batch.names[loyalty.CodeName(code)]
	if c, ok := in.run.work.coupons[id]; ok {
		return c, nil
	}
	if c, ok := in.run.batch.coupons[id]; ok {
		return c.Clone(), nil
	}

	return nil, loyalty.ErrCouponNotFound
}

// New claims a code and returns its coupon, to be filled in and recorded by Changed. It fails with
// ErrCouponExists if the code was ever used.
func (in Coupons) New(code string) (*loyalty.Coupon, error) {
	if err := loyalty.CheckName("code", code); err != nil {
		return nil, err
	}
	if err := in.run.Require(loyalty.CustomerNeeds{Coupons: []string{code}}); err != nil {
		return nil, err
	}
	c := in.Take(code)
	if c == nil {
		return nil, loyalty.ErrCouponExists.With("code", code).At("data.code")
	}
	return c, nil
}

// Take claims a code for a new coupon; nil if the code is used as far as was loaded. A use that was
// not loaded is found when the batch is written.
func (in Coupons) Take(code string) *loyalty.Coupon {
	name := loyalty.CodeName(code)
	if _, taken := in.run.Owner(name); taken {
		return nil
	}
	c := &loyalty.Coupon{ID: in.run.couponID(), Code: code, State: loyalty.CouponCreated, CreatedAt: in.run.Now}
	in.run.work.claims = append(in.run.work.claims, loyalty.Claim{Name: name, Owner: c.ID})
	return c
}

// couponID makes an id after those of the coupons that were made for this customer in the batch: among coupons of one
// millisecond, the id tells which is the newest.
func (r *Run) couponID() loyalty.ID {
	r.account.coupon = loyalty.NewID(r.Now, r.account.coupon)
	return r.account.coupon
}

// Next returns the oldest code of a pool that no customer holds; nil if the pool is empty. A code
// that was given back earlier in the batch is free again.
func (in Coupons) Next(pool string) (*loyalty.Coupon, error) {
	asked := in.run.batch.asked.pools[pool]
	if asked == 0 {
		return nil, &NeedMoreError{needs: loyalty.CustomerNeeds{Pools: map[string]int{pool: 1}}}
	}

	loaded := in.run.batch.free[pool]
	all := len(loaded) < asked // there are no more free codes
	free := in.free(pool)
	switch {
	case len(free) > 0 && (all || (len(loaded) > 0 && loyalty.CompareID(free[0].ID, loaded[len(loaded)-1].ID) <= 0)):
		return free[0].Clone(), nil
	case all:
		return nil, nil
	}

	// There may be older free codes beyond those that were loaded.
	return nil, &NeedMoreError{needs: loyalty.CustomerNeeds{Pools: map[string]int{pool: asked}}}
}

// free lists the codes of a pool that no customer holds, as far as they were loaded and as the
// events so far left them, oldest first.
func (in Coupons) free(pool string) (free []*loyalty.Coupon) {
	known := make(map[loyalty.ID]*loyalty.Coupon, len(in.run.batch.free[pool]))
	for i := range in.run.batch.free[pool] {
		known[in.run.batch.free[pool][i].ID] = &in.run.batch.free[pool][i]
	}

	for _, later := range []map[loyalty.ID]*loyalty.Coupon{in.run.batch.coupons, in.run.work.coupons} {
		for id, c := range later {
			if _, listed := known[id]; listed || c.Pool == pool {
				known[id] = c
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

// Changed records a coupon's new state on an event.
func (in Coupons) Changed(e *loyalty.Event, c *loyalty.Coupon) {
	if in.run.work.coupons == nil {
		in.run.work.coupons = map[loyalty.ID]*loyalty.Coupon{}
	}
	c.Version++
	in.run.work.coupons[c.ID] = c
	effects := e.Tell()
	effects.Coupons = slices.DeleteFunc(effects.Coupons, func(o loyalty.Coupon) bool { return o.ID == c.ID })
	effects.Coupons = append(effects.Coupons, *c.Clone())
}

// Claimed lists the codes of the coupons that this customer has claimed and can still use, sorted.
func (in Coupons) Claimed() ([]string, error) {
	if err := in.run.Require(loyalty.CustomerNeeds{Codes: true}); err != nil {
		return nil, err
	}

	known := map[string]bool{}
	for code, expires := range in.run.account.was().Codes {
		known[code] = expires.IsZero() || in.run.At.Before(expires)
	}

	for _, later := range []map[loyalty.ID]*loyalty.Coupon{in.run.batch.coupons, in.run.work.coupons} {
		for _, c := range later {
			known[c.Code] = c.Customer == in.run.Customer.ID && c.StateAt(in.run.At) == loyalty.CouponClaimed
		}
	}

	maps.DeleteFunc(known, func(_ string, claimed bool) bool { return !claimed })
	return slices.Sorted(maps.Keys(known)), nil
}

// ClaimedUntil returns the expiry of each coupon that this customer has claimed and can still use,
// as they were before this submission. Coupons that never expire are left out.
func (in Coupons) ClaimedUntil() (map[string]time.Time, error) {
	codes, err := in.Claimed()
	if err != nil {
		return nil, err
	}
	until := map[string]time.Time{}
	for _, code := range codes {
		if at := in.run.account.was().Codes[code]; !at.IsZero() {
			until[code] = at
		}
	}
	return until, nil
}

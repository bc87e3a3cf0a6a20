package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Coupons are all that there are, as the submission left them: a code may be anyone's.
type Coupons struct{ run *Run }

// Coupons are those of the programme.
func (r *Run) Coupons() Coupons { return Coupons{r} }

// Find gives a coupon by its code, whoever holds it. What is changed through the pointer is
// kept by Changed. It fails with ErrCouponNotFound.
func (in Coupons) Find(code string) (*loyalty.Coupon, error) {
	if c, ok := in.run.work.coupons[code]; ok {
		return c, nil
	}
	if err := in.run.Require(loyalty.CustomerNeeds{Coupons: []string{code}}); err != nil {
		return nil, err
	}
	c, ok := in.run.batch.coupons[code]
	if !ok {
		return nil, loyalty.ErrCouponNotFound
	}
	return c.Clone(), nil
}

// New claims a code and gives its coupon to change and to keep by Changed. It fails with
// ErrCouponExists when the code was ever used.
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

// Take claims a code for a new coupon; nil: as far as was loaded, it is used. What was not
// loaded is found out when the batch is written.
func (in Coupons) Take(code string) *loyalty.Coupon {
	name := loyalty.Name{Kind: loyalty.NameCoupon, Value: code}
	if _, taken := in.run.Owner(name); taken {
		return nil
	}
	c := &loyalty.Coupon{ID: loyalty.NewID(in.run.Now, loyalty.ID{}), Code: code, State: loyalty.CouponCreated, CreatedAt: in.run.Now}
	in.run.work.claims = append(in.run.work.claims, loyalty.Claim{Name: name, Owner: c.ID})
	return c
}

// Next takes the oldest code of a pool that no customer holds; nil: the pool is empty. A code that came back a moment ago is free again.
func (in Coupons) Next(pool string) (*loyalty.Coupon, error) {
	asked := in.run.batch.asked.pools[pool]
	if asked == 0 {
		return nil, &NeedMoreError{needs: loyalty.CustomerNeeds{Pools: map[string]int{pool: 1}}}
	}
	loaded := in.run.batch.free[pool]
	all := len(loaded) < asked // there are no more behind them
	free := in.free(pool)
	switch {
	case len(free) > 0 && (all || (len(loaded) > 0 && loyalty.CompareID(free[0].ID, loaded[len(loaded)-1].ID) <= 0)):
		return free[0].Clone(), nil
	case all:
		return nil, nil
	}
	// Older ones may lie behind those that were loaded.
	return nil, &NeedMoreError{needs: loyalty.CustomerNeeds{Pools: map[string]int{pool: asked}}}
}

// free lists the codes of a pool that no customer holds, as far as they were loaded and
// as the events so far left them, the oldest first.
func (in Coupons) free(pool string) (free []*loyalty.Coupon) {
	known := make(map[string]*loyalty.Coupon, len(in.run.batch.free[pool]))
	for i := range in.run.batch.free[pool] {
		known[in.run.batch.free[pool][i].Code] = &in.run.batch.free[pool][i]
	}
	for _, later := range []map[string]*loyalty.Coupon{in.run.batch.coupons, in.run.work.coupons} {
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

// Changed keeps what an event made of a coupon.
func (in Coupons) Changed(e *loyalty.Event, c *loyalty.Coupon) {
	if in.run.work.coupons == nil {
		in.run.work.coupons = map[string]*loyalty.Coupon{}
	}
	c.Version++
	in.run.work.coupons[c.Code] = c
	effects := e.Tell()
	effects.Coupons = slices.DeleteFunc(effects.Coupons, func(o loyalty.Coupon) bool { return o.ID == c.ID })
	effects.Coupons = append(effects.Coupons, *c.Clone())
}

// Claimed lists the codes of the coupons that this customer has claimed and can
// still use, in order.
func (in Coupons) Claimed() ([]string, error) {
	if err := in.run.Require(loyalty.CustomerNeeds{Codes: true}); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for code, expires := range in.run.account.was().Codes {
		known[code] = expires.IsZero() || in.run.At.Before(expires)
	}
	for _, later := range []map[string]*loyalty.Coupon{in.run.batch.coupons, in.run.work.coupons} {
		for code, c := range later {
			known[code] = c.Customer == in.run.Customer.ID && c.StateAt(in.run.At) == loyalty.CouponClaimed
		}
	}
	maps.DeleteFunc(known, func(_ string, claimed bool) bool { return !claimed })
	return slices.Sorted(maps.Keys(known)), nil
}

// ClaimedUntil tells when the coupons end that this customer has claimed and can still
// use: those that do, as they were before this submission.
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

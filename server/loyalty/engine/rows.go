package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// RewardClaim finds a reward that the customer claimed or received, by the
// event that records it. What is changed through the pointer is kept by
// ChangedClaim; nil: there is none.
func (r *Run) RewardClaim(event loyalty.ID) (*loyalty.RewardClaim, error) {
	if err := r.Require(loyalty.CustomerNeeds{Claims: true}); err != nil {
		return nil, err
	}
	return r.account.claims[event], nil
}

// RewardClaims lists the customer's claims, the oldest first.
func (r *Run) RewardClaims() ([]*loyalty.RewardClaim, error) {
	if err := r.Require(loyalty.CustomerNeeds{Claims: true}); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(r.account.claims), func(a, b *loyalty.RewardClaim) int { return loyalty.CompareID(a.ID, b.ID) }), nil
}

// ChangedClaim keeps what an event of this customer made of a claim.
func (r *Run) ChangedClaim(e *loyalty.Event, c *loyalty.RewardClaim) {
	c.UpdatedAt, c.Dirty = r.Now, true
	r.account.claims[c.ID] = c
	told := *c
	told.Burn = slices.Clone(c.Burn)
	e.Tell().Claims = append(e.Tell().Claims, told)
}

// writeClaims adds the claims that changed to the batch's writes.
func (a *account) writeClaims(w *loyalty.Writes) {
	for _, id := range slices.SortedFunc(maps.Keys(a.claims), loyalty.CompareID) {
		after := a.claims[id]
		if !after.Dirty {
			continue
		}
		if before, ok := a.storedClaim(id); ok {
			w.RewardClaims = append(w.RewardClaims, loyalty.Changed[loyalty.RewardClaim]{Before: before, After: *after})
		} else {
			w.NewRewardClaims = append(w.NewRewardClaims, *after)
		}
	}
}

// storedClaim is a claim as it was loaded, for its guard.
func (a *account) storedClaim(id loyalty.ID) (loyalty.RewardClaim, bool) {
	if a.loaded == nil {
		return loyalty.RewardClaim{}, false
	}
	c, ok := a.loaded.Claims[id]
	return c, ok
}

// RewardStanding is a customer's progress with one reward (ProgressReward).
type RewardStanding struct {
	// Claims of theirs that stand: what max_claims counts. A claim that was passed
	// on still counts, one that was received does not.
	Claims        int64     `json:"claims"`
	LastClaimedAt time.Time `json:"last_claimed_at"`
	// Received are claims that another customer made.
	Received []loyalty.ID `json:"received,omitempty"`
	// Coupons are codes of this reward that came alone, by coupon_transfer.
	Coupons []string `json:"coupons,omitempty"`
}

// Merge adds what another account of the same person stands for.
func (s *RewardStanding) Merge(o RewardStanding) {
	s.Claims += o.Claims
	if o.LastClaimedAt.After(s.LastClaimedAt) {
		s.LastClaimedAt = o.LastClaimedAt
	}
	s.Received = append(slices.Clip(s.Received), o.Received...)
	s.Coupons = append(slices.Clip(s.Coupons), o.Coupons...)
}

// RewardStanding reads the customer's progress with a reward; zero where there is
// none.
func (r *Run) RewardStanding(reward string) (s RewardStanding, err error) {
	_, err = r.Progress(loyalty.ProgressReward, reward, &s)
	return s, err
}

// SetRewardStanding keeps a standing, or nothing where nothing is left of it: a customer who
// gave everything back is stored as one who never claimed, which the journal gives too.
func (r *Run) SetRewardStanding(e *loyalty.Event, reward string, s RewardStanding) error {
	if s.Claims == 0 && len(s.Received) == 0 && len(s.Coupons) == 0 {
		return r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressReward, Key: reward}, nil, time.Time{})
	}
	return r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressReward, Key: reward}, s, time.Time{})
}

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

// FreeCoupon takes the next code of a pool that no customer holds, the oldest first; nil:
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

// free lists the codes of a pool that no customer holds, as far as they were loaded and
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
	effects.Coupons = slices.DeleteFunc(effects.Coupons, func(o loyalty.Coupon) bool { return o.ID == c.ID })
	effects.Coupons = append(effects.Coupons, *c.Clone())
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

// Tally reads a count; one that was never counted is 0.
func (r *Run) Tally(key string) (int64, error) {
	if n, ok := r.work.tallies[key]; ok {
		return n, nil
	}
	if err := r.Require(loyalty.CustomerNeeds{Tallies: []string{key}}); err != nil {
		return 0, err
	}
	return r.batch.tallies[key], nil
}

// Count moves a tally by n in the name of an event.
func (r *Run) Count(e *loyalty.Event, key string, n int64) error {
	before, err := r.Tally(key)
	if err != nil {
		return err
	}
	if r.work.tallies == nil {
		r.work.tallies = map[string]int64{}
	}
	r.work.tallies[key] = before + n
	e.Tell().Tallies = append(e.Tell().Tallies, loyalty.Tally{Key: key, Count: n})
	return nil
}

// writeTallies adds the counts that changed to the batch's writes.
func (b *batch) writeTallies() {
	for _, key := range slices.Sorted(maps.Keys(b.tallies)) {
		after := b.tallies[key]
		switch before, known := b.loaded.Tallies[key]; {
		case !known && after != 0:
			b.writes.NewTallies = append(b.writes.NewTallies, loyalty.Tally{Key: key, Count: after})
		case known && before != after:
			b.writes.Tallies = append(b.writes.Tallies, loyalty.Changed[loyalty.Tally]{Before: loyalty.Tally{Key: key, Count: before}, After: loyalty.Tally{Key: key, Count: after}})
		}
	}
}

// giftKey names the figures of a campaign for a customer.
type giftKey struct {
	customer loyalty.ID
	campaign string
}

// noteGifts adds what an event tells of campaigns to the batch.
// They are summed by campaign: a purchase of thousands of lines is one row of figures.
func (b *batch) noteGifts(e *loyalty.Event) {
	if e.Effects == nil {
		return
	}
	for _, x := range e.Effects.Campaigns {
		if b.gifts == nil {
			b.gifts = map[giftKey]*loyalty.CampaignFigures{}
		}
		key := giftKey{e.Customer, x.Campaign}
		if b.gifts[key] == nil {
			b.gifts[key] = &loyalty.CampaignFigures{}
		}
		b.gifts[key].Add(loyalty.FiguresOf(e, x))
	}
}

// writeGifts adds what campaigns did to the batch's writes.
func (b *batch) writeGifts() {
	for key, figures := range b.gifts {
		b.writes.CampaignGifts = append(b.writes.CampaignGifts, loyalty.CampaignGift{Customer: key.customer, Campaign: key.campaign, CampaignFigures: *figures})
	}
	slices.SortFunc(b.writes.CampaignGifts, func(x, y loyalty.CampaignGift) int {
		return cmp.Or(cmp.Compare(x.Campaign, y.Campaign), loyalty.CompareID(x.Customer, y.Customer))
	})
}

// JoinTicket puts a customer on the operation's list. Who is on it already stays.
func JoinTicket(e *Engine, o *loyalty.BulkOperation) *Ticket { return e.membership(o.Target, false) }

// LeaveTicket takes a customer off the operation's list. Who is not on it stays off.
func LeaveTicket(e *Engine, o *loyalty.BulkOperation) *Ticket { return e.membership(o.Target, true) }

// membership is a ticket without an event. The customer's version grows with it:
// no customer gets on a list who leaves the programme or is merged at the same moment.
func (e *Engine) membership(list string, gone bool) *Ticket {
	return e.Task(func(r *Run) error {
		if r.Customer.Status == loyalty.OptedOut {
			return loyalty.ErrCustomerNotFound.At("customer")
		}
		r.work.members = append(r.work.members, loyalty.Membership{List: list, Customer: r.Customer.ID, Gone: gone})
		r.changed = true
		return nil
	})
}

// lists are the ids of the customer lists that the customer is on, as far as they
// were loaded.
func (r *Run) lists() []string {
	if r.account.loaded == nil || r.account.loaded.Lists == nil {
		return []string{}
	}
	return r.account.loaded.Lists
}

package rebuild

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// coupon folds what an event made of a coupon: the highest version is the last.
func (rb *Rebuild) coupon(x *loyalty.CouponEffect) {
	if version, matched := rb.matched[x.ID]; matched {
		if x.Version <= version {
			return
		}
		delete(rb.matched, x.ID) // the stored row is behind the journal
	}
	if j := rb.coupons[x.ID]; j == nil || x.Version >= j.Version {
		rb.coupons[x.ID] = x
		rb.touched = append(rb.touched, x.ID)
	}
}

// Touched lists the coupons that events told of since it was asked last. Whoever
// shows them to Match keeps memory from growing with all coupons.
func (rb *Rebuild) Touched() []loyalty.ID {
	list := rb.touched
	rb.touched = nil
	slices.SortFunc(list, loyalty.CompareID)
	return slices.Compact(list)
}

// Match lets a coupon go whose stored row is as the events so far left it. Other
// rows it leaves to Coupon: events that are still to come may explain them.
func (rb *Rebuild) Match(s *loyalty.Coupon) {
	j := rb.coupons[s.ID]
	if j == nil {
		return
	}
	same := true
	quiet := &Rebuild{into: rb.into, report: func(Difference) { same = false }}
	quiet.compare(j, s)
	if same {
		delete(rb.coupons, s.ID)
		rb.matched[s.ID] = s.Version
	}
}

// Coupon compares one stored coupon, after all families. One that no event tells
// of is a code of a pool that was never held.
func (rb *Rebuild) Coupon(s *loyalty.Coupon) {
	if _, matched := rb.matched[s.ID]; matched {
		return
	}
	j, told := rb.coupons[s.ID]
	delete(rb.coupons, s.ID)
	if !told {
		if !rb.place(s.Customer, "coupon "+s.Code).exists(s.Pool != "", true) {
			return
		}
		j = new(loyalty.EffectOfCoupon(s))
		j.State, j.Customer, j.Version, j.Uses, j.ClaimedAt, j.RedeemedAt, j.Balance = loyalty.CouponCreated, loyalty.ID{}, 0, nil, nil, nil, 0
		if s.Type == loyalty.CouponGiftCard {
			j.Balance = int64(s.Value)
		}
	}
	rb.compare(j, s)
}

func (rb *Rebuild) compare(j *loyalty.CouponEffect, s *loyalty.Coupon) {
	p := rb.place(s.Customer, "coupon "+s.Code)
	holder, _ := rb.survivor(j.Customer)
	stored, _ := rb.survivor(s.Customer)
	differ(p, "code", j.Code, s.Code)
	differ(p, "version", j.Version, s.Version)
	differ(p, "state", j.State, s.State)
	differ(p, "customer", holder, stored)
	differ(p, "type", j.Type, s.Type)
	differ(p, "value", j.Value, int64(s.Value))
	differ(p, "balance", j.Balance, int64(s.Balance))
	differ(p, "currency", j.Currency, s.Currency)
	differ(p, "pool", j.Pool, s.Pool)
	differ(p, "reward", j.Reward, s.Reward)
	differ(p, "cost", j.Cost, int64(s.Cost))
	p.instant("created_at", j.CreatedAt, s.CreatedAt)
	p.instant("claimed_at", loyalty.Deref(j.ClaimedAt), s.ClaimedAt)
	p.instant("redeemed_at", loyalty.Deref(j.RedeemedAt), s.RedeemedAt)
	p.instant("expires_at", loyalty.Deref(j.ExpiresAt), s.ExpiresAt)
	if !j.Name.IsZero() || !s.Name.IsZero() || len(j.Stores)+len(s.Stores)+len(j.Products)+len(s.Products) > 0 {
		p.document("name", j.Name, s.Name)
		p.document("stores", j.Stores, s.Stores)
		p.document("products", j.Products, s.Products)
	}
	if len(j.Uses)+len(s.Uses) > 0 {
		p.document("uses", j.Uses, s.Uses)
	}
}

package store

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ExplainCoupons is ExplainEvents for coupons.
func (s *Store) ExplainCoupons(q loyalty.CouponQuery) (plan string, err error) {
	list, err := couponsOf(holder(q.Holder, q.Ref), &q, false)
	if err != nil {
		return "", err
	}
	text, _ := list.sql()
	return s.explained(text.seenAt(q.At))
}

// ExplainCustomers is ExplainEvents for customers.
func (s *Store) ExplainCustomers(q loyalty.CustomerQuery) (plan string, err error) {
	list, err := customersOf(q, s.searching(q))
	if err != nil {
		return "", err
	}
	return s.explain(list)
}

// ExplainCounts gives the plans of what is counted: usage, and the codes of pools.
func (s *Store) ExplainCounts(q loyalty.CouponUsageQuery, pools ...string) (usage, stock string, err error) {
	counted, err := usageOf(q)
	if err != nil {
		return "", "", err
	}
	if usage, err = s.explained(counted); err != nil {
		return "", "", err
	}
	stock, err = s.explained(stockOf(pools, time.Now()))
	return usage, stock, err
}

// ExplainClaims is ExplainEvents for claims, and for the history of a coupon.
func (s *Store) ExplainClaims(q loyalty.ClaimQuery, coupon loyalty.ID) (claims, history string, err error) {
	if claims, err = s.explain(claimsOf(holder(q.Customer, q.Ref), q)); err != nil {
		return "", "", err
	}
	history, err = s.explained(couponMoves(sqlFragment{"?", []any{UUID(coupon)}}, 100, nil).sqlFragment)
	return claims, history, err
}

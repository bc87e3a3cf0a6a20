package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// explained gives PostgreSQL's plan of a statement that is built, as it was followed.
func explained(db *gorm.DB, built *gorm.DB) (plan string, err error) {
	st := built.Session(&gorm.Session{DryRun: true}).Find(&[]map[string]any{}).Statement
	err = db.Raw("EXPLAIN (ANALYZE, FORMAT JSON) " + db.Dialector.Explain(st.SQL.String(), st.Vars...)).Row().Scan(&plan)
	return plan, err
}

// ExplainCoupons is ExplainEvents for coupons.
func (s *Store) ExplainCoupons(q loyalty.CouponQuery) (plan string, err error) {
	err = s.consistent(context.Background(), func(db *gorm.DB) error {
		list, err := couponsOf(db, &q)
		if err != nil {
			return err
		}
		plan, err = explain(db, list)
		return err
	})
	return plan, err
}

// ExplainCustomers is ExplainEvents for customers.
func (s *Store) ExplainCustomers(q loyalty.CustomerQuery) (plan string, err error) {
	err = s.consistent(context.Background(), func(db *gorm.DB) error {
		list, err := customersOf(q, s.searching(q.Search))
		if err != nil {
			return err
		}
		plan, err = explain(db, list)
		return err
	})
	return plan, err
}

// ExplainCounts gives the plans of what is counted: usage, and the codes of pools.
func (s *Store) ExplainCounts(q loyalty.CouponUsageQuery, pools ...string) (usage, stock string, err error) {
	err = s.consistent(context.Background(), func(db *gorm.DB) error {
		built, err := usageOf(db, q)
		if err != nil {
			return err
		}
		if usage, err = explained(db, built); err != nil {
			return err
		}
		stock, err = explained(db, stockOf(db, pools, Millis(time.Now())))
		return err
	})
	return usage, stock, err
}

// ExplainClaims is ExplainEvents for claims, and for the history of a coupon.
func (s *Store) ExplainClaims(q loyalty.ClaimQuery, coupon loyalty.ID) (claims, history string, err error) {
	err = s.consistent(context.Background(), func(db *gorm.DB) error {
		owners, err := accounts(db, q.Customer)
		if err != nil {
			return err
		}
		if claims, err = explain(db, claimsOf(owners, q)); err != nil {
			return err
		}
		return db.Raw("EXPLAIN (ANALYZE, FORMAT JSON) "+couponMoves, UUID(coupon), 100).Row().Scan(&history)
	})
	return claims, history, err
}

package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Coupon finds a coupon by its code, with the customer who holds it; of a merged
// one with the one they became part of. It fails with loyalty.ErrCouponNotFound.
func (s couponStore) Coupon(ctx context.Context, code string) (loyalty.Coupon, loyalty.Customer, error) {
	var coupon loyalty.Coupon
	var holder loyalty.Customer
	err := s.consistent(ctx, func(db *gorm.DB) error {
		named := db.Table("names").Select("owner").Where("kind = ? AND value = ?", loyalty.NameCoupon, cleanText(code))
		found, err := couponTable.first(db.Where("id = (?)", named))
		if err != nil {
			return err
		}
		if found == nil {
			return loyalty.ErrCouponNotFound
		}
		coupon = *found
		if err := s.openNames(db, &coupon); err != nil {
			return err
		}
		if coupon.Customer == (loyalty.ID{}) {
			return nil
		}
		holder, err = survivor(db, UUID(coupon.Customer))
		return err
	})
	return coupon, holder, err
}

package store

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// codesShown is how many codes CodesAlike returns at most.
const codesShown = 20

// CodesAlike returns usable codes that claim their exact form, because an older code differs from them only in case;
// at most codesShown.
func (s upkeep) CodesAlike(ctx context.Context) (codes []string, err error) {
	err = s.read.WithContext(ctx).Raw(`SELECT n.value FROM names n JOIN coupons c ON c.id = n.owner
WHERE n.kind = ? AND n.value <> lower(n.value) AND c.state NOT IN (?, ?, ?) ORDER BY n.value LIMIT ?`,
		loyalty.NameCoupon, loyalty.CouponRedeemed, loyalty.CouponInvalidated, loyalty.CouponExpired, codesShown).Scan(&codes).Error
	return codes, s.classify(err)
}

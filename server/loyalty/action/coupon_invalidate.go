package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// coupon_invalidate ends a coupon for good, whatever state it is in.
var couponInvalidate = loyalty.Action[events.CouponInvalidateData]{
	Name: "coupon_invalidate", Standing: loyalty.Earner,
	Needs: func(d events.CouponInvalidateData, n *loyalty.CustomerNeeds) { n.Coupons = []string{d.Code} },
	Apply: func(r *loyalty.Run, d events.CouponInvalidateData) error { return r.InvalidateCoupon(r.Event, d.Code) },
}

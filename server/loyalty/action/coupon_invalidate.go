package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// coupon_invalidate ends a coupon for good, whatever state it is in.
var couponInvalidate = engine.Action[events.CouponInvalidateData]{
	Name: "coupon_invalidate", Standing: engine.Earner,
	Needs: func(d events.CouponInvalidateData, n *loyalty.CustomerNeeds) { n.Coupons = []string{d.Code} },
	Apply: func(r *engine.Run, d events.CouponInvalidateData) error { return coupon.Invalidate(r, r.Event, d.Code) },
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// coupon_unredeem takes the last redemption of a coupon back: it is in the state
// before, and what was used of a gift card is on it again.
var couponUnredeem = engine.Action[events.CouponUnredeemData]{
	Name: "coupon_unredeem", Standing: engine.Earner,
	Needs: func(d events.CouponUnredeemData, n *loyalty.CustomerNeeds) { n.Coupons = []string{d.Code} },
	Apply: func(r *engine.Run, d events.CouponUnredeemData) error { return coupon.Unredeem(r, r.Event, d.Code) },
}

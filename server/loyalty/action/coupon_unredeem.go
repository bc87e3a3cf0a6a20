package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// coupon_unredeem takes the last redemption of a coupon back: the coupon returns to the state before, and the amount
// used returns to a gift card.
var couponUnredeem = engine.Action[events.CouponUnredeemData]{
	Name: "coupon_unredeem", Standing: engine.Earner,
	Needs: func(d events.CouponUnredeemData, n *loyalty.CustomerNeeds) { n.Coupons = []string{d.Code} },
	Apply: func(r *engine.Run, d events.CouponUnredeemData) error { return coupon.Unredeem(r, r.Event, d.Code) },
}

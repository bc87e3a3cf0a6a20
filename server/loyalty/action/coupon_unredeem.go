package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// coupon_unredeem takes the last redemption of a coupon back: it is in the state
// before, and what was used of a gift card is on it again.
var couponUnredeem = loyalty.Action[events.CouponUnredeemData]{
	Name: "coupon_unredeem", Standing: loyalty.Earner,
	Needs: func(d events.CouponUnredeemData, n *loyalty.CustomerNeeds) { n.Coupons = []string{d.Code} },
	Apply: func(r *loyalty.Run, d events.CouponUnredeemData) error { return r.UnredeemCoupon(r.Event, d.Code) },
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// unassign_coupon takes a claimed coupon from the customer, for another to have: the
// one that is named, or the only one.
var unassignCoupon = engine.Action[events.UnassignCouponData]{
	Name: "unassign_coupon", Standing: engine.Earner,
	Needs: func(d events.UnassignCouponData, n *loyalty.CustomerNeeds) {
		if d.Code == nil {
			// all that they have: whether there is only one is for the rule to see
			n.Codes = true
		} else {
			n.Coupons = []string{*d.Code}
		}
	},
	Apply: func(r *engine.Run, d events.UnassignCouponData) error {
		if d.Code == nil {
			return coupon.UnassignOnly(r, r.Event)
		}
		return coupon.Unassign(r, r.Event, *d.Code)
	},
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// unassign_coupon takes a claimed coupon from the customer, so that another can have it: the named one, or the only
// one.
var unassignCoupon = engine.Action[events.UnassignCouponData]{
	Name: "unassign_coupon", Standing: engine.Earner,
	Needs: func(d events.UnassignCouponData, n *loyalty.CustomerNeeds) {
		if d.Code == nil {
			// all of the customer's codes: the rule checks whether there is only one
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

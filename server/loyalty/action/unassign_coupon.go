package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// unassign_coupon takes a claimed coupon from the customer, for another to have: the
// one that is named, or the only one.
var unassignCoupon = loyalty.Action[events.UnassignCouponData]{
	Name: "unassign_coupon", Standing: loyalty.Earner,
	Needs: func(d events.UnassignCouponData, n *loyalty.CustomerNeeds) {
		if d.Code == nil {
			n.Codes = true
		} else {
			n.Coupons = []string{*d.Code}
		}
	},
	Apply: func(r *loyalty.Run, d events.UnassignCouponData) error {
		if d.Code == nil {
			return r.UnassignOnly(r.Event)
		}
		return r.UnassignCoupon(r.Event, *d.Code)
	},
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// unassign_coupon takes a claimed coupon from the customer, for another to have.
var unassignCoupon = loyalty.Action[events.UnassignCouponData]{
	Name: "unassign_coupon", Standing: loyalty.Earner,
	Needs: func(d events.UnassignCouponData, n *loyalty.CustomerNeeds) { n.Coupons = []string{d.Code} },
	Apply: func(r *loyalty.Run, d events.UnassignCouponData) error { return r.UnassignCoupon(r.Event, d.Code) },
}

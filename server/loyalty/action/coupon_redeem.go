package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// coupon_redeem uses a coupon of the customer, or one that no customer holds. Of a gift card it uses the amount, or the
// whole balance if none is sent.
var couponRedeem = engine.Action[events.CouponRedeemData]{
	Name: "coupon_redeem", Standing: engine.Spender,
	Needs: func(d events.CouponRedeemData, n *loyalty.CustomerNeeds) {
		n.Coupons = []string{d.Code}
		// a gift card pays in its own currency only
		if d.TransactionID != nil {
			n.Transactions = []string{*d.TransactionID}
		}
	},
	Apply: func(r *engine.Run, d events.CouponRedeemData) error {
		_, err := coupon.Redeem(r, r.Event, coupon.Redemption{Code: d.Code, Amount: d.Amount, Cost: deref(d.Cost)})
		return err
	},
}

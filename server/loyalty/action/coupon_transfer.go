package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// coupon_transfer passes a coupon of the customer on. An e-mail address that no customer has creates an inactive
// customer.
var couponTransfer = engine.Action[events.CouponTransferData]{
	Name: "coupon_transfer", Standing: engine.Spender,
	Needs: func(d events.CouponTransferData, n *loyalty.CustomerNeeds) {
		n.Key = true // the event is sealed anew, without the receiver
		if code := deref(d.Code); code != "" {
			n.Coupons = []string{code}
		} else {
			// the claim of the reward, which moves along, tells which coupon it is
			n.Claims, n.Progress = true, loyalty.Kinds(loyalty.ProgressReward)
		}
	},
	Check: func(d events.CouponTransferData) error {
		if deref(d.Code) == "" && deref(d.RewardID) == "" {
			return loyalty.ErrPropertyEmpty.With("property", "code").At("data.code")
		}
		return checkAddressee(d.Target, d.Email)
	},
	Apply: func(r *engine.Run, d events.CouponTransferData) error {
		return coupon.Transfer(r, deref(d.Code), deref(d.RewardID),
			coupon.Addressee{Target: deref(d.Target), Email: deref(d.Email)})
	},
}

// checkAddressee refuses a transfer without a recipient.
func checkAddressee(target, email *string) error {
	if deref(target) == "" && loyalty.EmailKey(deref(email)) == "" {
		return loyalty.ErrPropertyEmpty.With("property", "target").At("data.target")
	}
	return nil
}

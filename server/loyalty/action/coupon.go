package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// giftCoupon is the older form of coupon_create: with an amount it makes a gift card.
var giftCoupon = engine.Action[events.CouponData]{
	Name: "coupon", Standing: engine.Earner,
	Needs: func(d events.CouponData, n *loyalty.CustomerNeeds) { n.Coupons = []string{d.Code} },
	Apply: func(r *engine.Run, d events.CouponData) error {
		expires, err := end(r, "expiration_date", d.ExpirationDate)
		if err != nil {
			return err
		}
		c := loyalty.Coupon{Type: loyalty.CouponAmount, ExpiresAt: expires}
		if d.Amount != nil {
			c.Type, c.Value, c.Balance = loyalty.CouponGiftCard, money.Parts(*d.Amount), money.Parts(*d.Amount)
		}
		return coupon.Give(r, r.Event, d.Code, c)
	},
}

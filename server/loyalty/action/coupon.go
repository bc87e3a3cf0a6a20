package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// giftCoupon is the older form of coupon_create: with an amount it makes a gift card.
var giftCoupon = loyalty.Action[events.CouponData]{
	Name: "coupon", Standing: loyalty.Earner,
	Needs: func(d events.CouponData, n *loyalty.CustomerNeeds) { n.Coupons = []string{d.Code} },
	Apply: func(r *loyalty.Run, d events.CouponData) error {
		expires, err := moment("expiration_date", d.ExpirationDate)
		if err != nil {
			return err
		}
		c := loyalty.Coupon{Type: loyalty.CouponAmount, ExpiresAt: expires}
		if d.Amount != nil {
			c.Type, c.Value, c.Balance = loyalty.CouponGiftCard, *d.Amount, *d.Amount
		}
		return r.GiveCoupon(r.Event, d.Code, c)
	},
}

package coupon

import (
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// withdrawn are the attributes of the coupon_invalidate that takes a campaign's coupon back.
type withdrawn struct {
	Code     string `json:"code"`
	Campaign string `json:"campaign"`
}

// Withdraw takes back a coupon that a campaign gave for something that is undone now, by a coupon_invalidate, and
// reports whether it was used. The coupon may belong to any customer by now. A use stays; the rest of a gift card goes.
// A code that was given anew since is another coupon.
func Withdraw(r *engine.Run, e *loyalty.Event, campaign string, given loyalty.GivenCoupon) (used bool, err error) {
	c, err := r.Coupons().Find(given.Code)
	switch {
	case errors.Is(err, loyalty.ErrCouponNotFound):
		return false, nil
	case err != nil:
		return false, err
	case c.Given != given.Event:
		return false, nil
	}

	if used = len(c.Uses) > 0; used {
		Trace(r, "skipped", "reason.used", c)
	}

	switch c.State {
	case loyalty.CouponInvalidated:
		return used, nil
	case loyalty.CouponRedeemed:
		// its use may be taken back later, and the coupon must not become usable then
		c.Voided = true
		r.Coupons().Changed(e, c)
		return used, nil
	}

	if err := c.Move("invalidate", r.At); err != nil {
		return used, err
	}

	r.Coupons().Changed(r.Derive(e, "coupon_invalidate", withdrawn{c.Code, campaign}), c)
	Trace(r, "applied", "reason.coupon_taken_back", c)
	return used, nil
}

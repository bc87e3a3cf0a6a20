package loyalty

import (
	"errors"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Redemption is one use of a coupon.
type Redemption struct {
	Code string
	// Amount is how much of a gift card is used; nil: all of it. Other coupons are
	// used as a whole, whatever it says.
	Amount *money.Amount
	Cost   money.Amount // what it costs the business
}

// RedeemCoupon uses a coupon in the name of an event of this customer, at the (effective)
// time of the run. It must be theirs or nobody's, who uses it then holds it. It
// fails with ErrCouponNotFound (1601), and with ErrCouponBalance (1606) for more
// than a gift card has.
func (r *Run) RedeemCoupon(e *Event, d Redemption) (*Coupon, error) {
	c, err := r.redeemable(d.Code)
	if err != nil {
		return nil, err
	}
	return c, r.redeem(e, c, d)
}

// redeemable finds a coupon that this customer may redeem.
func (r *Run) redeemable(code string) (*Coupon, error) {
	c, err := r.Coupon(code)
	if err != nil {
		return nil, locateCoupon(err)
	}
	_, open := couponMoves["redeem"][c.StateAt(r.At)]
	if !open || (c.Customer != r.Customer.ID && c.Customer != (ID{})) {
		r.traceCoupon("refused", "reason.coupon", c)
		return nil, ErrCouponNotFound.At("data.code")
	}
	if pool := Pools.Of(r.Programme)[c.Pool]; pool != nil && c.State == CouponCreated {
		c.shape(pool.Coupon, r.Programme.Settings.Currency) // nobody had it yet: it is what the pool says now
	}
	return c, nil
}

func (r *Run) redeem(e *Event, c *Coupon, d Redemption) error {
	use := CouponUse{Event: e.ID, At: r.At, Transaction: e.Transaction, Before: c.State, Cost: d.Cost}
	trigger := "redeem"
	if c.Type == CouponGiftCard {
		use.Amount = c.Balance
		if d.Amount != nil {
			use.Amount = *d.Amount
		}
		if use.Amount > c.Balance {
			r.traceCoupon("refused", "reason.balance", c)
			return ErrCouponBalance.At("data.amount")
		}
		if use.Amount < c.Balance {
			trigger = "redeem_part"
		}
	}
	if err := c.Move(trigger, r.At); err != nil {
		return err
	}
	c.Balance -= use.Amount
	c.Uses = append(c.Uses, use)
	c.RedeemedAt = r.At
	if c.Customer == (ID{}) {
		c.Customer, c.ClaimedAt = r.Customer.ID, r.At
	}
	r.ChangedCoupon(e, c)
	r.traceCoupon("applied", "reason.redeemed", c)
	return nil
}

// UnredeemCoupon takes the last use of a coupon of this customer back: it is what it was
// before. It fails with ErrCouponNotFound (1601), and with ErrForbiddenState for
// one that is not redeemed.
func (r *Run) UnredeemCoupon(e *Event, code string) error {
	c, err := r.OwnCoupon(code)
	if err != nil {
		return err
	}
	if err := c.Move("unredeem", r.At); err != nil {
		return err
	}
	c.undo(len(c.Uses) - 1)
	r.ChangedCoupon(e, c)
	return nil
}

// undo takes the i-th use back. Of a gift card it may be one that others followed.
func (c *Coupon) undo(i int) {
	use := c.Uses[i]
	c.Balance += use.Amount
	switch {
	case i == len(c.Uses)-1:
		c.State = use.Before
	default:
		c.Uses[i+1].Before = use.Before
		if c.Balance > 0 {
			c.State = CouponPartiallyRedeemed
		}
	}
	c.Uses = slices.Delete(c.Uses, i, i+1)
	c.RedeemedAt = time.Time{}
	if n := len(c.Uses); n > 0 {
		c.RedeemedAt = c.Uses[n-1].At
	}
	if c.State == CouponCreated || c.State == CouponUnassigned {
		c.Customer, c.ClaimedAt = ID{}, time.Time{}
	}
}

// OwnCoupon finds a coupon that this customer holds; anybody else's is as good as
// none. It fails with ErrCouponNotFound (1601).
func (r *Run) OwnCoupon(code string) (*Coupon, error) {
	c, err := r.Coupon(code)
	switch {
	case err != nil:
		return nil, locateCoupon(err)
	case c.Customer != r.Customer.ID:
		return nil, ErrCouponNotFound.At("data.code")
	}
	return c, nil
}

// UnassignCoupon takes a claimed coupon from this customer, for somebody else to have.
func (r *Run) UnassignCoupon(e *Event, code string) error {
	c, err := r.OwnCoupon(code)
	if err != nil {
		return err
	}
	if err := c.Move("unassign", r.At); err != nil {
		return err
	}
	c.Customer, c.ClaimedAt = ID{}, time.Time{}
	r.ChangedCoupon(e, c)
	return nil
}

// InvalidateCoupon ends a coupon of this customer, or one that nobody holds, for good.
func (r *Run) InvalidateCoupon(e *Event, code string) error {
	c, err := r.Coupon(code)
	switch {
	case err != nil:
		return locateCoupon(err)
	case c.Customer != r.Customer.ID && c.Customer != (ID{}):
		return ErrCouponNotFound.At("data.code")
	}
	if err := c.Move("invalidate", r.At); err != nil {
		return err
	}
	r.ChangedCoupon(e, c)
	return nil
}

// locateCoupon names the attribute of a code that was not found; any other error,
// a call for more rows among them, stays as it is.
func locateCoupon(err error) error {
	if errors.Is(err, ErrCouponNotFound) {
		return at(err, "data.code")
	}
	return err
}

// at puts a failure of the rules at the place of the field that caused it.
func at(err error, field string) error {
	var e *Error
	if errors.As(err, &e) {
		return e.At(field)
	}
	return err
}

func (r *Run) traceCoupon(verdict, reason string, c *Coupon) {
	if r.Tracing() {
		r.TraceInput(Verdict{Rule: "coupon", Verdict: verdict, Reason: reason, Input: map[string]any{"code": c.Code, "state": string(c.StateAt(r.At))}})
	}
}

// UnassignOnly is UnassignCoupon of the one coupon that this customer has claimed. It
// fails with ErrCouponNotFound (1601), and with ErrSeveral.
func (r *Run) UnassignOnly(e *Event) error {
	all, err := r.claimedCodes()
	if err != nil {
		return err
	}
	code, err := only("code", all, ErrCouponNotFound)
	if err != nil {
		return err
	}
	if err := r.UnassignCoupon(e, code); err != nil {
		return err
	}
	return r.fillIn("code", code)
}

package coupon

import (
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Redemption is one use of a coupon.
type Redemption struct {
	Code string
	// Amount is how much of a gift card is used; nil means all of it. Other coupons are always used
	// as a whole.
	Amount *money.Amount
	Cost   money.Amount // what it costs the business
}

// Redeem uses a coupon on an event of this customer, at the run's effective time. The coupon must be theirs, or held by
// no customer; then it becomes theirs. It fails with ErrCouponNotFound (1601), with ErrCouponBalance (1606) for more
// than a gift card has, and with ErrCouponCurrency for a gift card of another currency than the purchase that the event
// names.
func Redeem(r *engine.Run, e *loyalty.Event, d Redemption) (*loyalty.Coupon, error) {
	c, err := Redeemable(r, d.Code)
	if err != nil {
		return nil, err
	}

	// an unknown purchase, or another customer's, says nothing about its currency
	if t := r.Bought(e.Transaction); t != nil {
		if err := paysIn(r, c, t); err != nil {
			return nil, loyalty.AtField(err, "data.code")
		}
	}

	if err := Use(r, e, c, d); err != nil {
		return nil, err
	}

	return c, asMade(r, d.Code, c)
}

// Redeemable returns a coupon that this customer may redeem.
func Redeemable(r *engine.Run, code string) (*loyalty.Coupon, error) {
	c, err := r.Coupons().Find(code)
	if err != nil {
		return nil, locateCoupon(err)
	}
	_, open := loyalty.CouponMoves["redeem"][c.StateAt(r.At)]
	if !open || (c.Customer != r.Customer.ID && c.Customer != (loyalty.ID{})) {
		Trace(r, "refused", "reason.coupon", c)
		return nil, loyalty.ErrCouponNotFound.At("data.code")
	}
	AsPoolSays(r.Programme, c)
	return c, nil
}

// Use redeems a coupon that Redeemable returned. Using a part of a gift card leaves the rest
// redeemable; a coupon of no customer becomes this customer's, who alone can take the use back. It
// fails with ErrCouponBalance (1606).
func Use(r *engine.Run, e *loyalty.Event, c *loyalty.Coupon, d Redemption) error {
	// each use keeps the state before it, so that an unredeem restores it instead of guessing
	use := loyalty.CouponUse{Event: e.ID, At: r.At, Transaction: e.Transaction, Before: c.State, Cost: d.Cost}
	trigger := "redeem"
	if c.Type == loyalty.CouponGiftCard {
		use.Amount = money.Amount(c.Balance)
		if d.Amount != nil {
			use.Amount = *d.Amount
		}
		if use.Amount > money.Amount(c.Balance) {
			Trace(r, "refused", "reason.balance", c)
			return loyalty.ErrCouponBalance.At("data.amount")
		}
		if use.Amount < money.Amount(c.Balance) {
			trigger = "redeem_part"
		}
	}

	if err := c.Move(trigger, r.At); err != nil {
		return err
	}

	c.Balance -= money.Parts(use.Amount)
	c.Uses = append(c.Uses, use)
	c.RedeemedAt = r.At
	if c.Customer == (loyalty.ID{}) {
		c.Customer, c.ClaimedAt = r.Customer.ID, r.At
	}

	r.Coupons().Changed(e, c)
	Trace(r, "applied", "reason.redeemed", c)
	return nil
}

// Unredeem takes back the last use of a coupon of this customer, which restores the coupon's state
// before it. It fails with ErrCouponNotFound (1601), and with ErrForbiddenState for a coupon that
// is not redeemed.
func Unredeem(r *engine.Run, e *loyalty.Event, code string) error {
	c, err := Own(r, code)
	if err != nil {
		return err
	}
	if err := c.Move("unredeem", r.At); err != nil {
		return err
	}
	c.Undo(len(c.Uses) - 1)
	r.Coupons().Changed(e, c)
	return asMade(r, code, c)
}

// Own returns a coupon that this customer holds. It fails with ErrCouponNotFound (1601), also for
// another customer's coupon, so that holders are not disclosed.
func Own(r *engine.Run, code string) (*loyalty.Coupon, error) {
	c, err := r.Coupons().Find(code)
	switch {
	case err != nil:
		return nil, locateCoupon(err)
	case c.Customer != r.Customer.ID:
		return nil, loyalty.ErrCouponNotFound.At("data.code")
	}
	return c, nil
}

// Unassign takes a claimed coupon from this customer, so that another customer can have it.
func Unassign(r *engine.Run, e *loyalty.Event, code string) error {
	c, err := Own(r, code)
	if err != nil {
		return err
	}
	if err := c.Move("unassign", r.At); err != nil {
		return err
	}
	c.Customer, c.ClaimedAt = loyalty.ID{}, time.Time{}
	r.Coupons().Changed(e, c)
	return asMade(r, code, c)
}

// Invalidate ends a coupon of this customer, or one that no customer holds, for good.
func Invalidate(r *engine.Run, e *loyalty.Event, code string) error {
	c, err := r.Coupons().Find(code)
	switch {
	case err != nil:
		return locateCoupon(err)
	case c.Customer != r.Customer.ID && c.Customer != (loyalty.ID{}):
		return loyalty.ErrCouponNotFound.At("data.code")
	}
	if err := c.Move("invalidate", r.At); err != nil {
		return err
	}
	r.Coupons().Changed(e, c)
	return asMade(r, code, c)
}

// asMade replaces a code in the submitted event by that of its coupon, if it was typed in other letters: conditions,
// webhooks and lists of events see one form of a code.
func asMade(r *engine.Run, typed string, c *loyalty.Coupon) error {
	if typed == c.Code {
		return nil
	}
	return r.FillIn("code", c.Code)
}

// locateCoupon names the attribute of a code that was not found. Any other error, such as a need to
// load more, is returned unchanged.
func locateCoupon(err error) error {
	if errors.Is(err, loyalty.ErrCouponNotFound) {
		return loyalty.AtField(err, "data.code")
	}
	return err
}

// Trace explains in a preview what happened to a coupon, and in which state it was.
func Trace(r *engine.Run, verdict, reason string, c *loyalty.Coupon) {
	if r.Tracing() {
		r.TraceInput(loyalty.Verdict{Rule: "coupon", Verdict: verdict, Reason: reason,
			Input: map[string]any{"code": c.Code, "state": string(c.StateAt(r.At))}})
	}
}

// UnassignOnly is Unassign for the only coupon that this customer has claimed. It fails with
// ErrCouponNotFound (1601), and with ErrSeveral.
func UnassignOnly(r *engine.Run, e *loyalty.Event) error {
	all, err := r.Coupons().Claimed()
	if err != nil {
		return err
	}
	code, err := engine.OnlyOne("code", all, loyalty.ErrCouponNotFound)
	if err != nil {
		return err
	}
	if err := Unassign(r, e, code); err != nil {
		return err
	}
	return r.FillIn("code", code)
}

package coupon

import (
	"errors"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// CouponSource is the source of a coupon that the platform gives.
type CouponSource struct {
	Pool     string          // the pool whose next code is given
	Template *CouponTemplate // without a pool: its properties, under a random code
	Reward   string          // the reward that gives it; empty: none
}

// Issue gives this customer a coupon on one of their events: the next free code of a pool, a new one by the pool's
// pattern, or a random one. It is claimed, and expires valid_days later by the programme's clock. It fails with
// ErrPoolEmpty (120212), and with ErrActionOff while the module coupons is off.
func Issue(r *engine.Run, e *loyalty.Event, from CouponSource) (*loyalty.Coupon, error) {
	if err := CouponsOn(r, e.Action); err != nil {
		return nil, err
	}

	c, template, err := nextCoupon(r, from)
	if err != nil {
		return nil, err
	}
	if err := c.Move("claim", r.At); err != nil {
		return nil, err
	}

	Shape(c, template, r.Programme.Settings.Currency)
	c.Customer, c.Reward, c.Uses = r.Customer.ID, from.Reward, nil
	c.Given, c.Voided = e.ID, false
	c.ClaimedAt, c.RedeemedAt, c.ExpiresAt = r.At, time.Time{}, template.expiry(r.At, r.Programme.Location)
	r.Coupons().Changed(e, c)
	return c, nil
}

// CouponsOn refuses actions that give or use coupons while their module is off.
func CouponsOn(r *engine.Run, action string) error {
	if r.Programme.On[programme.ModuleCoupons] {
		return nil
	}
	return loyalty.ErrActionOff.With("module", programme.ModuleCoupons).With("action", action)
}

// MayIssue returns the error with which an action could give no coupon of a source now, as far as it is known before a
// code is drawn; nil if it could.
func MayIssue(r *engine.Run, action string, from CouponSource) error {
	err := CouponsOn(r, action)
	if err == nil && from.Pool != "" {
		_, _, err = poolCode(r, from.Pool)
	}
	return err
}

// nextCoupon finds or makes the coupon to give.
func nextCoupon(r *engine.Run, from CouponSource) (*loyalty.Coupon, *CouponTemplate, error) {
	if from.Pool == "" {
		c, err := drawCoupon(r, ownPattern, "")
		return c, from.Template, err
	}

	c, pool, err := poolCode(r, from.Pool)
	if err != nil {
		return nil, nil, err
	}

	if c == nil {
		if c, err = drawCoupon(r, pool.Codes, pool.ID); err != nil {
			return nil, nil, err
		}
		c.Pool = pool.ID
	}

	// A code that was taken from its holder is free again, and its validity begins anew.
	c.ExpiresAt = time.Time{}
	return c, pool.Coupon, nil
}

// poolCode returns the next code of a pool that no customer holds; nil if it must be drawn from the pool's pattern. It
// fails with ErrPoolEmpty (120212).
func poolCode(r *engine.Run, id string) (*loyalty.Coupon, *Pool, error) {
	pool := Pools.Of(r.Programme)[id]
	if pool == nil { // it was archived meanwhile
		return nil, nil, loyalty.ErrPoolEmpty.With("pool", id)
	}
	c, err := r.Coupons().Next(pool.ID)
	if err == nil && c == nil && pool.Source != PoolGenerated {
		err = loyalty.ErrPoolEmpty.With("pool", pool.ID)
	}
	return c, pool, err
}

// Shape fills in a coupon from a template. An amount without a currency is in the programme's.
func Shape(c *loyalty.Coupon, t *CouponTemplate, currency string) {
	c.Type, c.Value, c.Currency, c.Name = t.Type, money.Parts(t.Value), t.Currency, loyalty.CouponName{Texts: t.Name}
	c.Stores, c.Products = slices.Clone(t.Stores), slices.Clone(t.Products)
	c.Balance = 0
	if t.Type == loyalty.CouponGiftCard {
		c.Balance = c.Value
	}
	if c.Currency == "" && (t.Type == loyalty.CouponAmount || t.Type == loyalty.CouponGiftCard) {
		c.Currency = currency
	}
}

// AsPoolSays gives a code that was never held the present properties of its pool, which apply when it is given or
// redeemed. Other codes stay as they are, as do those of an archived pool.
func AsPoolSays(p *programme.Programme, c *loyalty.Coupon) {
	if pool := Pools.Of(p)[c.Pool]; pool != nil && c.State == loyalty.CouponCreated {
		Shape(c, pool.Coupon, p.Settings.Currency)
	}
}

// expiry is when a coupon given at an instant expires: valid_days later at the same time of day;
// zero means never.
func (t *CouponTemplate) expiry(at time.Time, loc *time.Location) time.Time {
	if t.ValidDays == 0 {
		return time.Time{}
	}
	return at.In(loc).AddDate(0, 0, t.ValidDays).UTC()
}

// Check completes the document's schema: all types but free_shipping need a value, and no
// percentage is above 100. field is the template's place in the request.
func (t *CouponTemplate) Check(field string) error {
	fault := func(name, reason string) error {
		return programme.Fault(field+"."+name, loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": reason})
	}
	switch {
	case t.Type == loyalty.CouponFreeShipping:
		return nil
	case t.Value <= 0:
		return programme.Fault(field+".value", loyalty.ErrPropertyEmpty.Name, nil)
	case t.Type == loyalty.CouponPercentage && t.Value > 100*money.Unit:
		return fault("value", "range")
	}
	return nil
}

// Give gives this customer a coupon under a code that the caller chose, on one of the customer's events. c has its
// properties; its name is the caller's own text, which is forgotten when this customer leaves. A code that was taken
// from its holder can be given again; any other code that was ever used is refused with ErrCouponExists.
func Give(r *engine.Run, e *loyalty.Event, code string, c loyalty.Coupon) error {
	known, err := r.Coupons().Find(code)
	if errors.Is(err, loyalty.ErrCouponNotFound) || (err == nil && known.State != loyalty.CouponUnassigned) {
		known, err = r.Coupons().New(code)
	}
	if err != nil {
		return err
	}

	c.ID, c.CreatedAt, c.Version = known.ID, known.CreatedAt, known.Version
	c.Code, c.State = known.Code, loyalty.CouponCreated
	if c.Name, err = engine.SealName(r, c.Name, c.ID); err != nil {
		return err
	}
	if err := c.Move("claim", time.Time{}); err != nil {
		return err
	}
	if c.Currency == "" && (c.Type == loyalty.CouponAmount || c.Type == loyalty.CouponGiftCard) {
		c.Currency = r.Programme.Settings.Currency
	}

	c.Customer, c.ClaimedAt, c.Given = r.Customer.ID, r.At, e.ID
	r.Coupons().Changed(e, &c)
	Trace(r, "applied", "reason.claimed", &c)
	return asMade(r, code, &c)
}

package loyalty

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
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
	if pool := r.Programme.Pools[c.Pool]; pool != nil && c.State == CouponCreated {
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

// RedeemedCoupon is a coupon that a purchase redeemed, and by which event.
type RedeemedCoupon struct {
	Code  string `json:"code"`
	Event ID     `json:"event"`
}

// couponUsed are the attributes of the events by which a purchase redeems and
// unredeems its coupons.
type couponUsed struct {
	Code          string `json:"code"`
	TransactionID string `json:"transaction_id"`
}

// RedeemCoupons uses the coupons that a checkout names, each by a derived
// coupon_redeem, gift cards as a whole; one that is named twice is used once. The
// purchase's store and lines are known by now. One that cannot be used refuses the
// purchase: besides the failures of RedeemCoupon with ErrSuspended, ErrCouponStore or
// ErrCouponProduct, all naming the code's place.
func (r *Run) RedeemCoupons(e *Event, t *Transaction, single *string, list []string) error {
	places := map[string]bool{}
	use := func(code, field string) error {
		if places[code] {
			return nil
		}
		places[code] = true
		return at(r.redeemFor(e, t, code), field)
	}
	if single != nil {
		if err := use(*single, "data.coupon_code"); err != nil {
			return err
		}
	}
	for i, code := range list {
		if err := use(code, "data.coupons["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) redeemFor(e *Event, t *Transaction, code string) error {
	if r.Customer.Status == Suspended {
		return ErrSuspended
	}
	c, err := r.redeemable(code)
	if err != nil {
		return err
	}
	if err := r.fits(c, t); err != nil {
		return err
	}
	used := r.Derive(e, "coupon_redeem", couponUsed{code, t.Name})
	t.Detail.Coupons = append(slices.Clip(t.Detail.Coupons), RedeemedCoupon{code, used.ID})
	return r.redeem(used, c, Redemption{Code: code})
}

// fits holds a coupon against the store and the lines of a purchase.
func (r *Run) fits(c *Coupon, t *Transaction) error {
	var store string
	if raw, ok := t.Detail.Attributes["store"]; ok && json.Unmarshal(raw, &store) != nil {
		store = ""
	}
	here := func(id string) bool { return store != "" && r.Programme.ShopID(id) == r.Programme.ShopID(store) }
	if len(c.Stores) > 0 && !slices.ContainsFunc(c.Stores, here) {
		r.traceCoupon("refused", "reason.store", c)
		return ErrCouponStore.With("code", c.Code)
	}
	bought := func(l Line) bool { return slices.Contains(c.Products, l.ProductID) }
	if len(c.Products) > 0 && !slices.ContainsFunc(t.Detail.Items, bought) {
		r.traceCoupon("refused", "reason.product", c)
		return ErrCouponProduct.With("code", c.Code)
	}
	return nil
}

// unredeemCoupons gives the coupons of a rejected purchase back, each by a derived
// coupon_unredeem; what was taken back or invalidated meanwhile stays so.
func (r *Run) unredeemCoupons(e *Event, t *Transaction) error {
	codes := make([]string, len(t.Detail.Coupons))
	for i, used := range t.Detail.Coupons {
		codes[i] = used.Code
	}
	if err := r.require(CustomerNeeds{Coupons: codes}); err != nil {
		return err
	}
	for _, used := range t.Detail.Coupons {
		c, err := r.Coupon(used.Code)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(c.Uses, func(u CouponUse) bool { return u.Event == used.Event })
		if i < 0 || c.State == CouponInvalidated {
			continue
		}
		undone := r.Derive(e, "coupon_unredeem", couponUsed{used.Code, t.Name})
		c.undo(i)
		r.ChangedCoupon(undone, c)
	}
	t.Detail.Coupons = nil
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
	if r.work.tracing {
		r.TraceInput(Verdict{Rule: "coupon", Verdict: verdict, Reason: reason, Input: map[string]any{"code": c.Code, "state": string(c.StateAt(r.At))}})
	}
}

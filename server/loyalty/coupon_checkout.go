package loyalty

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// RedeemedCoupon is a coupon that a purchase redeemed, and by which event; without
// one, a gift card that is to pay as soon as a pending purchase costs more.
type RedeemedCoupon struct {
	Code  string `json:"code"`
	Event ID     `json:"event,omitzero"`
}

// couponUsed are the attributes of the events by which a purchase redeems and
// unredeems its coupons.
type couponUsed struct {
	Code          string        `json:"code"`
	TransactionID string        `json:"transaction_id"`
	Amount        *money.Amount `json:"amount,omitempty"` // of a gift card
}

// useOf words what a purchase does with a coupon; n counts for gift cards only.
func (t *Transaction) useOf(c *Coupon, n money.Amount) couponUsed {
	used := couponUsed{Code: c.Code, TransactionID: t.Name}
	if c.Type == CouponGiftCard {
		used.Amount = &n
	}
	return used
}

// RedeemCoupons uses the coupons that a checkout names, each by a derived
// coupon_redeem; one that is named twice is used once. Gift cards pay in the order
// in which they are named, each as much as it has and the total still needs; one
// that is not needed is not touched. The purchase's store and lines are known by
// now. One that cannot be used refuses the purchase, or is left out with a warning:
// besides the failures of RedeemCoupon with ErrSuspended, ErrCouponStore or
// ErrCouponProduct, all naming the code's place.
func (r *Run) RedeemCoupons(e *Event, t *Transaction, single *string, list []string) error {
	places, left := map[string]bool{}, t.Total
	use := func(code, field string) error {
		if places[code] {
			return nil
		}
		places[code] = true
		return r.unusable(at(r.redeemFor(e, t, code, &left), field))
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

// unusable decides what a code brings that a checkout cannot use: its refusal, or a
// warning where the programme rather records a sale that has happened.
func (r *Run) unusable(err error) error {
	var e *Error
	if !r.Programme.Purchase.RecordInvalid || !errors.As(err, &e) || (e.Kind != NotFound && e.Kind != Refused) {
		return err
	}
	r.Warn(e)
	return nil
}

// kept says whether a checkout leaves a coupon alone, for a coupon_redeem to come,
// because its pool says so. Nobody judges it now.
func (r *Run) kept(code string) (bool, error) {
	c, err := r.Coupon(code)
	if err != nil {
		if errors.Is(err, ErrCouponNotFound) {
			err = nil // what redeems it will say so
		}
		return false, err
	}
	pool := Pools.Of(r.Programme)[c.Pool]
	if pool == nil || pool.AutoRedeem == nil || *pool.AutoRedeem {
		return false, nil
	}
	r.traceCoupon("skipped", "reason.kept", c)
	return true, nil
}

// redeemFor uses one coupon; left is what nothing has paid yet.
func (r *Run) redeemFor(e *Event, t *Transaction, code string, left *money.Amount) error {
	if kept, err := r.kept(code); kept || err != nil {
		return err
	}
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
	if c.Type != CouponGiftCard {
		return r.redeemIn(e, t, c, 0)
	}
	pays := min(c.Balance, *left)
	*left -= pays
	if pays == 0 {
		r.traceCoupon("skipped", "reason.paid", c)
		if t.State == Pending {
			t.redeemed(RedeemedCoupon{Code: code})
		}
		return nil
	}
	return r.redeemIn(e, t, c, pays)
}

// redeemIn writes the coupon_redeem of a purchase; n counts for gift cards only.
func (r *Run) redeemIn(e *Event, t *Transaction, c *Coupon, n money.Amount) error {
	used := r.Derive(e, "coupon_redeem", t.useOf(c, n))
	t.redeemed(RedeemedCoupon{c.Code, used.ID})
	return r.redeem(used, c, Redemption{Code: c.Code, Amount: &n})
}

// redeemed notes a coupon with the purchase, in the place of a gift card that was
// waiting to pay.
func (t *Transaction) redeemed(u RedeemedCoupon) {
	all := slices.Clone(t.Detail.Coupons)
	if i := slices.Index(all, RedeemedCoupon{Code: u.Code}); i >= 0 {
		all[i] = u
	} else {
		all = append(all, u)
	}
	t.Detail.Coupons = all
}

// fits holds a coupon against the store and the lines of a purchase.
func (r *Run) fits(c *Coupon, t *Transaction) error {
	var store string
	if raw, ok := t.Detail.Attributes["store"]; ok && json.Unmarshal(raw, &store) != nil {
		store = ""
	}
	if !r.Programme.soldAt(c.Stores, store) {
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

// usesOf finds the uses of a coupon by a purchase that still stand, the last one
// first.
func (t *Transaction) usesOf(c *Coupon) (places []int) {
	for i := len(c.Uses) - 1; i >= 0; i-- {
		if slices.Contains(t.Detail.Coupons, RedeemedCoupon{c.Code, c.Uses[i].Event}) {
			places = append(places, i)
		}
	}
	return places
}

// codes lists the coupons of a purchase in the order in which they were named.
func (t *Transaction) codes() (codes []string) {
	for _, used := range t.Detail.Coupons {
		if !slices.Contains(codes, used.Code) {
			codes = append(codes, used.Code)
		}
	}
	return codes
}

// boughtWith gives the coupons of a purchase in the order in which they were named.
func (r *Run) boughtWith(t *Transaction) ([]*Coupon, error) {
	codes := t.codes()
	if err := r.require(CustomerNeeds{Coupons: codes}); err != nil {
		return nil, err
	}
	coupons := make([]*Coupon, len(codes))
	for i, code := range codes {
		c, err := r.Coupon(code)
		if err != nil {
			return nil, err
		}
		coupons[i] = c
	}
	return coupons, nil
}

// unredeemCoupons gives the coupons of a rejected purchase back, each by a derived
// coupon_unredeem; what was taken back or invalidated meanwhile stays so.
func (r *Run) unredeemCoupons(e *Event, t *Transaction) error {
	coupons, err := r.boughtWith(t)
	if err != nil {
		return err
	}
	for _, c := range coupons {
		if c.State == CouponInvalidated {
			continue
		}
		for _, i := range t.usesOf(c) {
			r.returnUse(e, t, c, i, c.Uses[i].Amount)
		}
	}
	t.Detail.Coupons = nil
	return nil
}

// returnUse gives an amount of a use back, or all of it, by a derived
// coupon_unredeem.
func (r *Run) returnUse(e *Event, t *Transaction, c *Coupon, i int, n money.Amount) {
	undone := r.Derive(e, "coupon_unredeem", t.useOf(c, n))
	if n == c.Uses[i].Amount {
		c.undo(i)
	} else {
		c.shrink(i, n)
	}
	r.ChangedCoupon(undone, c)
}

// CouponFeature is the module coupons.
var CouponFeature = Feature{
	Name: "coupons", Rejected: func(r *Run, e *Event, t *Transaction) error { return r.unredeemCoupons(e, t) },
}

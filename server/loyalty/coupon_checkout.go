package loyalty

import (
	"encoding/json"
	"slices"
	"strconv"
)

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

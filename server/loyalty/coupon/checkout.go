package coupon

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// couponUsed are the attributes of the events by which a purchase redeems and
// unredeems its coupons.
type couponUsed struct {
	Code          string        `json:"code"`
	TransactionID string        `json:"transaction_id"`
	Amount        *money.Amount `json:"amount,omitempty"` // of a gift card
}

// useOf returns the attributes of a coupon's use by a purchase; n counts for gift cards only.
func useOf(t *loyalty.Transaction, c *loyalty.Coupon, n money.Amount) couponUsed {
	used := couponUsed{Code: c.Code, TransactionID: t.Name}
	if c.Type == loyalty.CouponGiftCard {
		used.Amount = &n
	}
	return used
}

// RedeemCoupons uses the coupons that a checkout names, each by a derived coupon_redeem; a code that is named twice is
// used once. Gift cards pay in the order in which they are named, each as much as it has and the total still needs; a
// card that is not needed is not touched. The purchase's store and lines must be known. A coupon that cannot be used
// refuses the purchase, or is left out with a warning. The errors are those of Redeem, and ErrSuspended,
// ErrCouponStore, ErrCouponProduct and ErrCouponCurrency; all of them name the code's place.
func RedeemCoupons(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, single *string, list []string) error {
	used, left := map[string]bool{}, money.Amount(t.Total)
	use := func(code, field string) error {
		name, _, err := named(r, code)
		if err != nil || used[name] { // named twice, as coupon_code and in coupons or in other letters, it is used once
			return err
		}
		used[name] = true
		return Unusable(r, loyalty.AtField(redeemFor(r, e, t, code, &left), field))
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

// WriteAsMade replaces the codes that a checkout names by those of their coupons in the submitted event, if they were
// typed in other letters: conditions, webhooks and lists of events see one form of a code.
func WriteAsMade(r *engine.Run, single *string, list []string) error {
	if single != nil {
		made, known, err := named(r, *single)
		if err == nil && known && made != *single {
			err = r.FillIn("coupon_code", made)
		}
		if err != nil {
			return err
		}
	}

	all := slices.Clone(list)
	for i, code := range list {
		made, known, err := named(r, code)
		if err != nil {
			return err
		}
		if known {
			all[i] = made
		}
	}

	if slices.Equal(all, list) {
		return nil
	}

	return r.FillIn("coupons", all)
}

// named returns the one form of a code that a checkout names: that of its coupon, if the coupon is known.
func named(r *engine.Run, code string) (name string, known bool, err error) {
	c, err := r.Coupons().Find(code)
	switch {
	case errors.Is(err, loyalty.ErrCouponNotFound):
		return loyalty.NameKey(code), false, nil
	case err != nil:
		return "", false, err
	}
	return c.Code, true, nil
}

// Unusable decides what happens if a checkout names a code that it cannot use: a refusal, or a
// warning if the programme prefers to record a sale that has happened.
func Unusable(r *engine.Run, err error) error {
	var e *loyalty.Error
	if !r.Programme.Purchase.RecordInvalid || !errors.As(err, &e) ||
		(e.Kind != loyalty.NotFound && e.Kind != loyalty.Refused) {
		return err
	}
	r.Warn(e)
	return nil
}

// kept reports whether a checkout leaves a coupon to a later coupon_redeem, because its pool says
// so. It is not checked then.
func kept(r *engine.Run, code string) (bool, error) {
	c, err := r.Coupons().Find(code)
	if err != nil {
		if errors.Is(err, loyalty.ErrCouponNotFound) {
			err = nil // redeeming it later will report the error
		}
		return false, err
	}
	pool := Pools.Of(r.Programme)[c.Pool]
	if pool == nil || pool.AutoRedeem == nil || *pool.AutoRedeem {
		return false, nil
	}
	Trace(r, "skipped", "reason.kept", c)
	return true, nil
}

// redeemFor uses one coupon; left is the unpaid part of the total. A gift card that has nothing left to pay is recorded
// with a pending purchase, because an update may need it.
func redeemFor(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, code string, left *money.Amount) error {
	if kept, err := kept(r, code); kept || err != nil {
		return err
	}
	if r.Customer.Status == loyalty.Suspended {
		return loyalty.ErrSuspended
	}

	c, err := Redeemable(r, code)
	if err != nil {
		return err
	}
	if err := fits(r, c, t); err != nil {
		return err
	}
	if c.Type != loyalty.CouponGiftCard {
		return redeemIn(r, e, t, c, 0)
	}

	pays := min(money.Amount(c.Balance), *left)
	*left -= pays
	if pays == 0 {
		Trace(r, "skipped", "reason.paid", c)
		if t.State == loyalty.Pending {
			redeemed(t, loyalty.RedeemedCoupon{Code: c.Code})
		}
		return nil
	}

	return redeemIn(r, e, t, c, pays)
}

// redeemIn writes the coupon_redeem of a purchase; n counts for gift cards only.
func redeemIn(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, c *loyalty.Coupon, n money.Amount) error {
	used := r.Derive(e, "coupon_redeem", useOf(t, c, n))
	redeemed(t, loyalty.RedeemedCoupon{Code: c.Code, Event: used.ID})
	return Use(r, used, c, Redemption{Code: c.Code, Amount: &n})
}

// redeemed records a coupon with the purchase, in place of a gift card that was waiting to pay.
func redeemed(t *loyalty.Transaction, u loyalty.RedeemedCoupon) {
	all := slices.Clone(t.Detail.Coupons)
	// without an event: it was recorded and has paid nothing yet
	if i := slices.Index(all, loyalty.RedeemedCoupon{Code: u.Code}); i >= 0 {
		all[i] = u
	} else {
		all = append(all, u)
	}
	t.Detail.Coupons = all
}

// fits checks a coupon against the store, the lines and the currency of a purchase.
func fits(r *engine.Run, c *loyalty.Coupon, t *loyalty.Transaction) error {
	var store string
	if raw, ok := t.Detail.Attributes["store"]; ok && json.Unmarshal(raw, &store) != nil {
		store = ""
	}

	if !r.Programme.SoldAt(c.Stores, store) {
		Trace(r, "refused", "reason.store", c)
		return loyalty.ErrCouponStore.With("code", c.Code)
	}

	bought := func(l loyalty.Line) bool { return slices.Contains(c.Products, l.ProductID) }
	if len(c.Products) > 0 && !slices.ContainsFunc(t.Detail.Items, bought) {
		Trace(r, "refused", "reason.product", c)
		return loyalty.ErrCouponProduct.With("code", c.Code)
	}

	return paysIn(r, c, t)
}

// paysIn refuses a gift card of another currency than the purchase's: its balance is money, and is never converted.
// Coupons of other types are applied by the till, which knows their value.
func paysIn(r *engine.Run, c *loyalty.Coupon, t *loyalty.Transaction) error {
	p := r.Programme
	if c.Type != loyalty.CouponGiftCard || p.SameCurrency(c.Currency, t.Currency()) {
		return nil
	}
	Trace(r, "refused", "reason.currency", c)
	return loyalty.ErrCouponCurrency.With("code", c.Code).With("currency", p.ShownCurrency(c.Currency)).
		With("paid", p.ShownCurrency(t.Currency()))
}

// usesOf returns the places of a coupon's uses by a purchase that still stand, last one first.
func usesOf(t *loyalty.Transaction, c *loyalty.Coupon) (places []int) {
	for i := len(c.Uses) - 1; i >= 0; i-- {
		if slices.Contains(t.Detail.Coupons, loyalty.RedeemedCoupon{Code: c.Code, Event: c.Uses[i].Event}) {
			places = append(places, i)
		}
	}
	return places
}

// codes lists the coupons of a purchase in the order in which they were named.
func codes(t *loyalty.Transaction) (codes []string) {
	for _, used := range t.Detail.Coupons {
		if !slices.Contains(codes, used.Code) {
			codes = append(codes, used.Code)
		}
	}
	return codes
}

// boughtWith returns the coupons of a purchase in the order in which they were named.
func boughtWith(r *engine.Run, t *loyalty.Transaction) ([]*loyalty.Coupon, error) {
	codes := codes(t)
	if r.Require(loyalty.CustomerNeeds{Coupons: codes}) != nil {
		if err := r.Require(loyalty.CustomerNeeds{Coupons: waitingCodes(r, codes)}); err != nil {
			return nil, err
		}
	}

	coupons := make([]*loyalty.Coupon, len(codes))
	for i, code := range codes {
		c, err := r.Coupons().Find(code)
		if err != nil {
			return nil, err
		}
		coupons[i] = c
	}

	return coupons, nil
}

// waitingCodes adds the codes of pending purchases: those that come due together are decided one after the other, and
// loading the codes of each separately would have all of them decided again.
func waitingCodes(r *engine.Run, all []string) []string {
	all = slices.Clone(all)
	for _, t := range r.Purchases() {
		if t.State == loyalty.Pending {
			all = append(all, codes(t)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unredeemCoupons gives back the coupons of a rejected purchase, each by a derived coupon_unredeem. Coupons that were
// taken back or invalidated meanwhile stay as they are.
func unredeemCoupons(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	coupons, err := boughtWith(r, t)
	if err != nil {
		return err
	}

	for _, c := range coupons {
		if c.State == loyalty.CouponInvalidated {
			continue
		}
		for _, i := range usesOf(t, c) {
			returnUse(r, e, t, c, i, c.Uses[i].Amount)
		}
	}

	t.Detail.Coupons = nil
	return nil
}

// returnUse gives an amount of a use back, or all of it, by a derived
// coupon_unredeem.
func returnUse(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, c *loyalty.Coupon, i int, n money.Amount) {
	undone := r.Derive(e, "coupon_unredeem", useOf(t, c, n))
	// giving all of it back restores the coupon's state before the use; a part reduces the use
	if n == c.Uses[i].Amount {
		c.Undo(i)
	} else {
		c.Shrink(i, n)
	}
	r.Coupons().Changed(undone, c)
}

// CouponFeature is the module coupons.
var CouponFeature = engine.Feature{
	Name: "coupons", Rejected: unredeemCoupons,
}

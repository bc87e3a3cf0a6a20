package coupon

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// RepayCards lets the gift cards of a pending purchase pay its current total, in the order in which they were named: a
// surplus goes back to them, and a shortfall comes from the cards that can still be redeemed. A use that was taken back
// by hand, and a card that is invalid, stay as they are.
func RepayCards(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	coupons, err := boughtWith(r, t)
	if err != nil {
		return err
	}

	left := money.Amount(t.Total)
	for _, c := range coupons {
		uses, waits := usesOf(t, c), slices.Contains(t.Detail.Coupons, loyalty.RedeemedCoupon{Code: c.Code})
		if !waits && (c.Type != loyalty.CouponGiftCard || len(uses) == 0) {
			continue
		}
		if err := repay(r, e, t, c, uses, &left); err != nil {
			return err
		}
	}

	return nil
}

// repay adjusts what one gift card pays to what is left of the total.
func repay(
	r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, c *loyalty.Coupon, uses []int, left *money.Amount,
) error {
	var paid, more money.Amount
	for _, i := range uses {
		paid += c.Uses[i].Amount
	}

	needed := *left
	if paysIn(r, c, t) != nil { // the update changed the currency: the card pays none of it
		needed = 0
	}

	switch {
	case paid < needed && mayPay(r, c, t):
		more = min(money.Amount(c.Balance), needed-paid)
		*left -= paid + more
	default:
		*left -= min(paid, needed)
		if paid > needed {
			returnToCard(r, e, t, c, uses, paid-needed)
		}
	}

	if more == 0 {
		return nil
	}

	return redeemIn(r, e, t, c, more)
}

// mayPay reports whether a gift card of a purchase can be redeemed for it once more.
func mayPay(r *engine.Run, c *loyalty.Coupon, t *loyalty.Transaction) bool {
	if r.Customer.Status == loyalty.Suspended {
		return false
	}
	again, err := Redeemable(r, c.Code)
	if err != nil || again.Type != loyalty.CouponGiftCard || fits(r, again, t) != nil {
		return false
	}
	*c = *again // a code of a pool that was never held gets the pool's present value
	return true
}

// returnToCard gives an amount that a purchase used back to a gift card, the last use first. A use of which nothing is
// left no longer belongs to the purchase, but the card still does.
func returnToCard(
	r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, c *loyalty.Coupon, uses []int, n money.Amount,
) {
	if c.State == loyalty.CouponInvalidated {
		return
	}

	for _, i := range uses {
		back, used := min(n, c.Uses[i].Amount), c.Uses[i].Event
		if back == 0 {
			continue
		}
		n -= back
		gone := back == c.Uses[i].Amount
		returnUse(r, e, t, c, i, back)
		if gone {
			unredeemed(t, loyalty.RedeemedCoupon{Code: c.Code, Event: used})
		}
	}
}

// unredeemed replaces a use that was taken back by its card, which may be used again.
func unredeemed(t *loyalty.Transaction, u loyalty.RedeemedCoupon) {
	all := slices.Clone(t.Detail.Coupons)
	i := slices.Index(all, u)
	others := slices.ContainsFunc(all, func(o loyalty.RedeemedCoupon) bool { return o.Code == u.Code && o != u })
	if others {
		all = slices.Delete(all, i, i+1)
	} else {
		all[i].Event = loyalty.ID{}
	}
	t.Detail.Coupons = all
}

// RefundCards gives each gift card its share of all refunds of a purchase so far: the refunded part of the total,
// applied to what the card paid, floored to what can be paid in the currency. So parts never give more than the whole,
// and the last part gives the rest. Other coupons stay redeemed.
func RefundCards(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	coupons, err := boughtWith(r, t)
	if err != nil {
		return err
	}

	cards := slices.Clone(t.Detail.Cards)
	for _, c := range slices.Backward(coupons) {
		uses := usesOf(t, c)
		if c.Type != loyalty.CouponGiftCard || len(uses) == 0 {
			continue
		}
		i := slices.IndexFunc(cards, func(p loyalty.CardPayment) bool { return p.Code == c.Code })
		if i < 0 {
			i, cards = len(cards), append(cards, loyalty.CardPayment{Code: c.Code, Paid: paidIn(c, uses)})
		}
		back := min(cardShare(t, c.Currency, &cards[i]), paidIn(c, uses))
		if back > 0 {
			cards[i].Back += back
			returnToCard(r, e, t, c, uses, back)
		}
	}

	t.Detail.Cards = cards
	if t.Refunded < t.OriginalTotal {
		return nil
	}

	waits := func(u loyalty.RedeemedCoupon) bool { return u.Event == loyalty.ID{} }
	t.Detail.Coupons, t.Detail.Cards = slices.DeleteFunc(slices.Clone(t.Detail.Coupons), waits), nil
	return nil
}

// paidIn is what these uses of a gift card still pay.
func paidIn(c *loyalty.Coupon, uses []int) (paid money.Amount) {
	for _, i := range uses {
		paid += c.Uses[i].Amount
	}
	return paid
}

// cardShare is what a gift card is due of all that was refunded, less what it got back before. A purchase that cost
// nothing has nothing to share.
func cardShare(t *loyalty.Transaction, currency string, p *loyalty.CardPayment) money.Amount {
	refunded, total := money.Amount(t.Refunded), money.Amount(t.OriginalTotal)
	switch {
	case total == 0:
		return 0
	case refunded >= total:
		return p.Paid - p.Back
	}
	due := money.Amount(money.Floor.Share(int64(p.Paid), refunded, total))
	return max(0, due-due%money.Smallest(currency)-p.Back)
}

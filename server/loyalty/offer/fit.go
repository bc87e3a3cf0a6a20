package offer

import (
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Cart is a purchase that has not been made yet.
type Cart struct {
	Currency string        // of its amounts; empty: the programme's
	Store    string        // its id or name; empty: none was sent
	Total    *money.Amount // the amount to pay, shipping included; nil: the subtotals less Discount
	Discount money.Amount  // on the cart as a whole; included in Total if that was sent
	Shipping money.Amount  // included in Total
	Items    []CartItem
}

// CartItem is a line of a cart.
type CartItem struct {
	ProductID string
	// Category is a category, or several: separated by commas, or as a path such
	// as Grocery > Coffee.
	Category string
	Quantity int64
	Price    money.Amount  // of one piece, before the discount
	Discount money.Amount  // of one piece
	Subtotal *money.Amount // of the line; nil: (Price - Discount) x Quantity
}

// Fits returns why a cart does not meet an offer's conditions, apart from dates and limits, or how much the offer takes
// off. A discount on items applies to each piece of every eligible line. It never exceeds the price of the line or of
// the cart's goods; shipping does not count as goods. It is rounded once, as a whole, so that many lines do not add up
// their roundings.
func (o *Offer) Fits(p *programme.Programme, cart Cart) (reason string, off money.Amount) {
	lines := cart.lines()
	total := cart.goods(lines)
	if !o.required(cart) || total <= 0 && o.Type == offerCart {
		return offerCartUnfit, 0
	}

	if o.MinTotal > 0 {
		switch base, covered := p.InBase(total, cart.Currency); {
		case !covered:
			return offerNoRate, 0
		case base < o.MinTotal:
			return offerCartUnfit, 0
		}
	}

	d, covered := o.Discount.in(p, cart.Currency)
	if !covered {
		return offerNoRate, 0
	}
	if o.Type == offerCart {
		return "", d.capped(d.off(total, 1), total)
	}

	return o.onItems(d, cart, lines, total)
}

// onItems is Fits for an offer on items.
func (o *Offer) onItems(
	d discount, cart Cart, lines []money.Amount, total money.Amount,
) (reason string, off money.Amount) {
	var costs, offs []money.Amount
	for i, item := range cart.Items {
		if slices.ContainsFunc(o.EligibleItems, func(e OfferItem) bool { return e.names(item) && e.enough(cart) }) {
			costs, offs = append(costs, lines[i]), append(offs, d.off(lines[i], item.Quantity))
		}
	}
	switch {
	case len(costs) == 0:
		return offerCartUnfit, 0
	case d.Type == percentDiscount: // of all lines together
		return "", d.capped(d.off(sumAmounts(costs), 1), total)
	}
	return "", d.capped(sumAmounts(offs), total)
}

// goods is the price of the goods of a cart, at least 0. The caller's total wins, because its till may have applied
// discounts of its own; the lines are added up only without one.
func (c Cart) goods(lines []money.Amount) money.Amount {
	if c.Total != nil {
		return max(0, *c.Total-max(0, c.Shipping))
	}
	return max(0, sumAmounts(lines)-max(0, c.Discount))
}

// required reports whether the cart has the items that an offer requires: all of them, or any.
func (o *Offer) required(cart Cart) bool {
	if len(o.RequiredItems) == 0 {
		return true
	}
	there := func(i OfferItem) bool { return i.enough(cart) }
	if o.RequiredMatch == "any" {
		return slices.ContainsFunc(o.RequiredItems, there)
	}
	return !slices.ContainsFunc(o.RequiredItems, func(i OfferItem) bool { return !there(i) })
}

// enough reports whether a cart has as many pieces as required. It counts down, by no more than what is left, so that
// huge quantities cannot overflow.
func (i OfferItem) enough(cart Cart) bool {
	left := max(1, i.MinQuantity)
	for _, item := range cart.Items {
		if i.names(item) {
			left -= min(left, item.Quantity)
		}
	}
	return left == 0
}

// names reports whether a line is one of an offer's products.
func (i OfferItem) names(item CartItem) bool {
	if i.Type == "product" {
		return item.ProductID == i.ID
	}
	parts := strings.FieldsFunc(item.Category, func(r rune) bool { return r == ',' || r == '>' })
	return item.Category == i.ID || slices.ContainsFunc(parts, func(p string) bool { return strings.TrimSpace(p) == i.ID })
}

// discount is the discount of an offer in the currency of a cart.
type discount struct {
	OfferDiscount
	unit money.Amount // the currency's smallest
}

// in is the discount in a currency; false if it is a sum of money and no exchange rate covers the currency.
func (d OfferDiscount) in(p *programme.Programme, currency string) (discount, bool) {
	own, covered := discount{d, money.Smallest(p.ShownCurrency(currency))}, true
	if d.Type != percentDiscount {
		own.Value, covered = p.ExchangeTo(currency).Of(d.Value, "")
	}
	return own, covered
}

// capped rounds a discount to the currency's smallest unit, and to no more than what the goods cost.
func (d discount) capped(off, total money.Amount) money.Amount {
	off = min(off, total).RoundTo(d.unit)
	if off > total { // the price of the goods has a fraction of the smallest unit
		off -= d.unit
	}
	return off
}

// off is the discount on a number of pieces that together cost an amount. A percentage is rounded to the smallest unit
// here, because a product that is rounded twice can miss the nearest one.
func (d discount) off(amount money.Amount, quantity int64) money.Amount {
	pieces := money.Amount(quantity).Decimal().Shift(money.Scale)
	worth, value := amount.Decimal(), d.Value.Decimal()
	off := value.Mul(pieces)
	switch d.Type {
	case fixedPrice:
		off = worth.Sub(off)
	case percentDiscount:
		unit := d.unit.Decimal()
		off = worth.Mul(value).Shift(-2).DivRound(unit, 0).Mul(unit)
	}

	if off.GreaterThan(worth) {
		return max(amount, 0)
	}

	exact, err := money.FromDecimal(off)
	if err != nil { // far below zero: a fixed price above every price
		return 0
	}

	return max(exact, 0)
}

// lines is the price of each line of a cart, 0 if a discount exceeds it.
func (c Cart) lines() []money.Amount {
	costs := make([]money.Amount, len(c.Items))
	for i, item := range c.Items {
		if item.Subtotal != nil {
			costs[i] = max(0, *item.Subtotal)
			continue
		}
		pieces := money.Amount(item.Quantity).Decimal().Shift(money.Scale)
		cost, err := money.FromDecimal(max(0, item.Price-item.Discount).Decimal().Mul(pieces))
		if err != nil {
			cost = maxAmount
		}
		costs[i] = cost
	}

	return costs
}

// maxAmount caps the sums of a cart. No real price comes near it, and sums must not overflow.
const maxAmount money.Amount = 1<<63 - 1

func sumAmounts(amounts []money.Amount) (total money.Amount) {
	for _, a := range amounts {
		next, err := money.Add(total, a)
		if err != nil {
			return maxAmount
		}
		total = next
	}
	return total
}

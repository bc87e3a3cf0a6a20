package offer

import (
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Cart is a purchase that has not been made yet.
type Cart struct {
	Store    string        // by its id or name; empty: none is told
	Total    *money.Amount // what is to be paid, shipping included; nil: the subtotals less Discount
	Discount money.Amount  // on the cart as a whole; part of Total where that is told
	Shipping money.Amount  // part of Total
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

// Fits reports whether a cart meets an offer's conditions, apart from dates and limits, and how much
// the offer takes off. A discount on items applies to each piece of every eligible line. It never
// exceeds the price of the line or of the cart's goods, and shipping is not among the goods.
func (o *Offer) Fits(cart Cart) (bool, money.Amount) {
	lines := cart.lines()
	total := cart.goods(lines)
	if total < o.MinTotal || !o.required(cart) {
		return false, 0
	}
	if o.Type == offerCart {
		return total > 0, min(total, o.Discount.off(total, 1))
	}
	fits, off := false, make([]money.Amount, len(lines))
	for i, item := range cart.Items {
		if slices.ContainsFunc(o.EligibleItems, func(e OfferItem) bool { return e.names(item) && e.enough(cart) }) {
			fits, off[i] = true, o.Discount.off(lines[i], item.Quantity)
		}
	}
	return fits, min(total, sumAmounts(off))
}

// goods is what the goods of a cart cost, at least 0. The caller's total wins, because their till may
// have applied discounts of its own; the lines are added up only without one.
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

// enough reports whether a cart has as many pieces as required. It counts down, by no more than what
// is left, so that huge quantities cannot overflow.
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

// off is the discount on a number of pieces that together cost an amount.
func (d OfferDiscount) off(amount money.Amount, quantity int64) money.Amount {
	pieces := money.Amount(quantity).Decimal().Shift(money.Scale)
	worth, value := amount.Decimal(), d.Value.Decimal()
	off := value.Mul(pieces)
	switch d.Type {
	case fixedPrice:
		off = worth.Sub(off)
	case percentDiscount:
		off = worth.Mul(value).Shift(-2).Round(money.Scale)
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

// lines is the price of each line of a cart, 0 where a discount exceeds it.
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

package offer

import (
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Cart is a purchase that is not made yet.
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

// Fits says whether a cart meets the conditions of an offer, its dates and limits
// aside, and what the offer takes off it. A discount on items is one for each
// piece of every eligible line; it never exceeds what the line costs, nor what the
// goods of the cart do. Shipping is no part of them.
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

// goods is what the goods of a cart cost: never less than nothing.
// A total that the caller tells counts, with whatever their till did; only without one the
// lines are added up.
func (c Cart) goods(lines []money.Amount) money.Amount {
	if c.Total != nil {
		return max(0, *c.Total-max(0, c.Shipping))
	}
	return max(0, sumAmounts(lines)-max(0, c.Discount))
}

// required says whether the items are there that an offer asks for: all of them,
// or any.
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

// enough says whether a cart has as many pieces as are asked for.
// It counts down, and each line by no more than is left, so that quantities of any size
// cannot overflow.
func (i OfferItem) enough(cart Cart) bool {
	left := max(1, i.MinQuantity)
	for _, item := range cart.Items {
		if i.names(item) {
			left -= min(left, item.Quantity)
		}
	}
	return left == 0
}

// names says whether a line is what an offer means.
func (i OfferItem) names(item CartItem) bool {
	if i.Type == "product" {
		return item.ProductID == i.ID
	}
	parts := strings.FieldsFunc(item.Category, func(r rune) bool { return r == ',' || r == '>' })
	return item.Category == i.ID || slices.ContainsFunc(parts, func(p string) bool { return strings.TrimSpace(p) == i.ID })
}

// off is what is taken off so many pieces that cost an amount together.
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

// lines gives what each line of a cart costs; one whose discount exceeds its price
// costs nothing.
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

// maxAmount is where sums of a cart end: beyond it no price is meant.
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

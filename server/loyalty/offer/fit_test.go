package offer

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// euros is a sum in currency units.
func euros(t require.TestingT, text string) money.Amount {
	a, err := money.Parse(text)
	require.NoError(t, err)
	return a
}

// euroProgramme is a programme in euros, which knows what forints are worth and no other currency.
func euroProgramme(t *testing.T) *programme.Programme {
	rate, err := money.ParseRate("0.0025")
	require.NoError(t, err)
	return &programme.Programme{Settings: loyalty.Settings{Currency: "EUR"}, ExchangeRates: map[string]money.Rate{"HUF": rate}}
}

func TestOfferFits(t *testing.T) {
	amount := func(text string) money.Amount { return euros(t, text) }
	line := func(product, category string, quantity int64, subtotal string) CartItem {
		s := amount(subtotal)
		return CartItem{ProductID: product, Category: category, Quantity: quantity, Subtotal: &s}
	}

	product := func(id string, least int64) OfferItem { return OfferItem{"product", id, least} }
	beans, pot := line("p-501", "Grocery > Coffee", 2, "60"), line("p-733", "Kitchen, Coffee", 1, "39.99")
	cart := Cart{Items: []CartItem{beans, pot}}
	paid := amount("89.99")
	p := euroProgramme(t)
	coupled := Cart{Total: &paid, Items: cart.Items}

	for name, c := range map[string]struct {
		offer Offer
		cart  Cart
		fits  bool
		off   string
	}{
		"ten percent of the cart": {Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("10")}}, cart, true, "10"},
		"ten percent of what is to be paid": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("10")}}, coupled, true, "9"},
		"a percentage is rounded to cents": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("40")}}, Cart{Items: []CartItem{line("p", "", 1, "51.86")}}, true, "20.74"},
		"half a cent is rounded away from zero": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("50")}}, Cart{Items: []CartItem{line("p", "", 1, "0.01")}}, true, "0.01"},
		"less than half of a cent is nothing": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("49.9999")}}, Cart{Items: []CartItem{line("p", "", 1, "0.01")}}, true, "0"},
		"it is rounded once": { // 20.744999 by way of 20.7450 would be 20.75
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("41.49")}}, Cart{Items: []CartItem{line("p", "", 1, "49.9999")}}, true, "20.74"},
		"the parts add up": { // by line it would be 3 x 0.13
			Offer{Type: offerCombined, RequiredItems: []OfferItem{product("p", 1)}, EligibleItems: []OfferItem{product("p", 1)},
				Discount: OfferDiscount{percentDiscount, amount("50")}},
			Cart{Items: []CartItem{line("p", "", 1, "0.25"), line("p", "", 1, "0.25"), line("p", "", 1, "0.25")}}, true, "0.38"},
		"a combined offer on a sum": {
			Offer{Type: offerCombined, RequiredItems: []OfferItem{product("p-733", 1)}, EligibleItems: []OfferItem{product("p-501", 1), product("p-733", 1)},
				Discount: OfferDiscount{percentDiscount, amount("40")}},
			Cart{Items: []CartItem{line("p-501", "", 1, "11.87"), line("p-733", "", 1, "39.99")}}, true, "20.74"},
		"no yen has a part": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("10")}}, Cart{Currency: "jpy", Total: new(amount("985"))}, true, "99"},
		"a dinar has a thousand": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("10")}}, Cart{Currency: "KWD", Total: new(amount("9.985"))}, true, "0.999"},
		"a sum of money is exchanged": {
			Offer{Type: offerCart, Discount: OfferDiscount{fixedDiscount, amount("5")}}, Cart{Currency: "HUF", Total: new(amount("90000"))}, true, "2000"},
		"a price is exchanged": {
			Offer{Type: offerCart, Discount: OfferDiscount{fixedPrice, amount("25")}}, Cart{Currency: " huf", Total: new(amount("10500"))}, true, "500"},
		"a percentage needs no rate": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("10")}}, Cart{Currency: "USD", Total: new(amount("50"))}, true, "5"},
		"a sum of money needs one": {
			Offer{Type: offerCart, Discount: OfferDiscount{fixedDiscount, amount("5")}}, Cart{Currency: "USD", Total: new(amount("50"))}, false, "0"},
		"the total that is needed, in another currency": {
			Offer{Type: offerCart, MinTotal: amount("50"), Discount: OfferDiscount{percentDiscount, amount("10")}}, Cart{Currency: "HUF", Total: new(amount("20000"))}, true, "2000"},
		"a forint below it": {
			Offer{Type: offerCart, MinTotal: amount("50"), Discount: OfferDiscount{percentDiscount, amount("10")}}, Cart{Currency: "HUF", Total: new(amount("19999"))}, false, "0"},
		"a total in a currency without a rate is not compared": {
			Offer{Type: offerCart, MinTotal: amount("50"), Discount: OfferDiscount{percentDiscount, amount("10")}}, Cart{Currency: "USD", Total: new(amount("500"))}, false, "0"},
		"the whole cart": {Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("100")}}, cart, true, "99.99"},
		"the total that is needed": {
			Offer{Type: offerCart, MinTotal: amount("99.99"), Discount: OfferDiscount{fixedDiscount, amount("5")}}, cart, true, "5"},
		"a cent below it": {
			Offer{Type: offerCart, MinTotal: amount("100"), Discount: OfferDiscount{fixedDiscount, amount("5")}}, cart, false, "0"},
		"what is to be paid counts": {
			Offer{Type: offerCart, MinTotal: amount("99.99"), Discount: OfferDiscount{fixedDiscount, amount("5")}}, coupled, false, "0"},
		"no more than the cart": {Offer{Type: offerCart, Discount: OfferDiscount{fixedDiscount, amount("500")}}, cart, true, "99.99"},
		"the cart for a price":  {Offer{Type: offerCart, Discount: OfferDiscount{fixedPrice, amount("80")}}, cart, true, "19.99"},
		"a price above the cart's": {
			Offer{Type: offerCart, Discount: OfferDiscount{fixedPrice, amount("900000000000")}}, cart, true, "0"},
		"an empty cart": {Offer{Type: offerCart, Discount: OfferDiscount{fixedDiscount, amount("5")}}, Cart{}, false, "0"},

		"off each piece": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("p-501", 0)}, Discount: OfferDiscount{fixedDiscount, amount("2.50")}}, cart, true, "5"},
		"a price for each piece": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("p-501", 0)}, Discount: OfferDiscount{fixedPrice, amount("25")}}, cart, true, "10"},
		"never more than the line": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("p-733", 0)}, Discount: OfferDiscount{fixedDiscount, amount("900000000000")}}, cart, true, "39.99"},
		"percent of the lines": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{{"category", "Coffee", 0}}, Discount: OfferDiscount{percentDiscount, amount("10")}}, cart, true, "10"},
		"a category of a path": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{{"category", "Grocery", 0}}, Discount: OfferDiscount{percentDiscount, amount("50")}}, cart, true, "30"},
		"a whole path": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{{"category", "Grocery > Coffee", 0}}, Discount: OfferDiscount{percentDiscount, amount("50")}}, cart, true, "30"},
		"part of a word is none": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{{"category", "Grocer", 0}}, Discount: OfferDiscount{percentDiscount, amount("50")}}, cart, false, "0"},
		"a product is no category": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("Coffee", 0)}, Discount: OfferDiscount{percentDiscount, amount("50")}}, cart, false, "0"},
		"a line counts once": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("p-501", 0), {"category", "Coffee", 0}}, Discount: OfferDiscount{fixedDiscount, amount("1")}}, cart, true, "3"},
		"as many pieces as are needed": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{{"category", "Coffee", 3}}, Discount: OfferDiscount{fixedDiscount, amount("1")}}, cart, true, "3"},
		"one piece too few": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{{"category", "Coffee", 4}}, Discount: OfferDiscount{fixedDiscount, amount("1")}}, cart, false, "0"},

		"combined": {
			Offer{Type: offerCombined, RequiredItems: []OfferItem{product("p-733", 1)}, EligibleItems: []OfferItem{product("p-501", 1)},
				Discount: OfferDiscount{percentDiscount, amount("100")}}, cart, true, "60"},
		"combined, and one is missing": {
			Offer{Type: offerCombined, RequiredItems: []OfferItem{product("p-733", 1), product("p-1", 1)}, EligibleItems: []OfferItem{product("p-501", 1)},
				Discount: OfferDiscount{percentDiscount, amount("100")}}, cart, false, "0"},
		"combined, and any will do": {
			Offer{Type: offerCombined, RequiredItems: []OfferItem{product("p-1", 1), product("p-733", 1)}, RequiredMatch: "any",
				EligibleItems: []OfferItem{product("p-501", 1)}, Discount: OfferDiscount{percentDiscount, amount("100")}}, cart, true, "60"},
		"combined, and none is there": {
			Offer{Type: offerCombined, RequiredItems: []OfferItem{product("p-733", 2)}, RequiredMatch: "any",
				EligibleItems: []OfferItem{product("p-501", 1)}, Discount: OfferDiscount{percentDiscount, amount("100")}}, cart, false, "0"},
		"combined, without what it is on": {
			Offer{Type: offerCombined, RequiredItems: []OfferItem{product("p-733", 1)}, EligibleItems: []OfferItem{product("p-1", 1)},
				Discount: OfferDiscount{percentDiscount, amount("100")}}, cart, false, "0"},

		"a line without a subtotal": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("10")}},
			Cart{Items: []CartItem{{ProductID: "p", Quantity: 3, Price: amount("32.50"), Discount: amount("2.50")}}}, true, "9"},
		"numbers beyond every price": {
			Offer{Type: offerCart, Discount: OfferDiscount{fixedDiscount, amount("5")}},
			Cart{Items: []CartItem{{ProductID: "p", Quantity: 9007199254740991, Price: amount("900000000000")}}}, true, "5"},

		"shipping is not discounted": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("10")}}, Cart{Total: &paid, Shipping: amount("4.99"), Items: cart.Items}, true, "8.5"},
		"shipping counts for no least sum": {
			Offer{Type: offerCart, MinTotal: amount("85.01"), Discount: OfferDiscount{fixedDiscount, amount("5")}}, Cart{Total: &paid, Shipping: amount("4.99")}, false, "0"},
		"the whole of the goods, not their shipping": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("100")}}, Cart{Total: &paid, Shipping: amount("4.99")}, true, "85"},
		"more shipping than is to be paid": {
			Offer{Type: offerCart, Discount: OfferDiscount{fixedDiscount, amount("5")}}, Cart{Total: &paid, Shipping: amount("900000000000")}, false, "0"},
		"shipping is no part of the lines": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("100")}}, Cart{Shipping: amount("4.99"), Items: cart.Items}, true, "99.99"},
		"what is off the cart already": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("50")}}, Cart{Discount: amount("19.99"), Items: cart.Items}, true, "40"},
		"what is off is in the total": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("50")}}, Cart{Total: &paid, Discount: amount("19.99"), Items: cart.Items}, true, "45"},
		"more off than there is": {
			Offer{Type: offerCart, Discount: OfferDiscount{fixedDiscount, amount("5")}}, Cart{Discount: amount("100"), Items: cart.Items}, false, "0"},
		"more off the lines than is left of the cart": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("p-501", 0)}, Discount: OfferDiscount{percentDiscount, amount("100")}},
			Cart{Discount: amount("59.99"), Items: cart.Items}, true, "40"},
		"nothing to be paid": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("10")}}, Cart{Total: new(amount("0")), Items: cart.Items}, false, "0"},
		"a discount of nothing": {Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, 0}}, cart, true, "0"},
		"a price of nothing":    {Offer{Type: offerCart, Discount: OfferDiscount{fixedPrice, 0}}, cart, true, "99.99"},
		"the very price":        {Offer{Type: offerCart, Discount: OfferDiscount{fixedPrice, amount("99.99")}}, cart, true, "0"},
		"a ten-thousandth above the price": {
			Offer{Type: offerCart, Discount: OfferDiscount{fixedPrice, amount("99.9899")}}, cart, true, "0"},
		"no more than what the goods cost, where that is a part of a cent": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("100")}}, Cart{Items: []CartItem{line("p", "", 1, "0.0199")}}, true, "0.01"},
		"a line whose discount exceeds its price costs nothing": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("p", 0)}, Discount: OfferDiscount{fixedDiscount, amount("5")}},
			Cart{Items: []CartItem{{ProductID: "p", Quantity: 3, Price: amount("1"), Discount: amount("2")}, line("q", "", 1, "10")}}, true, "0"},
		"nor does it make the others cheaper": {
			Offer{Type: offerCart, Discount: OfferDiscount{percentDiscount, amount("100")}},
			Cart{Items: []CartItem{{ProductID: "p", Quantity: 3, Price: amount("1"), Discount: amount("2")}, line("q", "", 1, "10")}}, true, "10"},
		"as many pieces as there can be": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("p", 9007199254740991)}, Discount: OfferDiscount{fixedDiscount, amount("900000000000")}},
			Cart{Items: []CartItem{line("p", "", 9007199254740991, "12.34")}}, true, "12.34"},
		"a price for as many pieces as there can be": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("p", 0)}, Discount: OfferDiscount{fixedPrice, amount("900000000000")}},
			Cart{Items: []CartItem{line("p", "", 9007199254740991, "12.34")}}, true, "0"},
		"one piece too few of very many": {
			Offer{Type: offerOnItems, EligibleItems: []OfferItem{product("p", 9007199254740991)}, Discount: OfferDiscount{fixedDiscount, amount("1")}},
			Cart{Items: []CartItem{line("p", "", 9007199254740990, "12.34")}}, false, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			reason, off := c.offer.Fits(p, c.cart)
			require.Equal(t, c.fits, reason == "", reason)
			require.Equal(t, amount(c.off).String(), off.String())
		})
	}
}

// TestOfferNeverExceedsTheCart: whatever the cart and the offer, what is taken off
// lies between nothing and the cart's total, and nothing is taken off a cart that
// does not fit.
func TestOfferNeverExceedsTheCart(t *testing.T) {
	money4 := rapid.Map(rapid.Int64Range(0, 1<<50), func(n int64) money.Amount { return money.Amount(n) })
	id := rapid.SampledFrom([]string{"a", "b", "c"})
	items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) CartItem {
		item := CartItem{ProductID: id.Draw(t, "product"), Category: id.Draw(t, "category"), Quantity: rapid.Int64Range(1, 1<<53-1).Draw(t, "quantity")}
		if rapid.Bool().Draw(t, "with a subtotal") {
			item.Subtotal = new(money4.Draw(t, "subtotal"))
		} else {
			item.Price, item.Discount = money4.Draw(t, "price"), money4.Draw(t, "discount")
		}
		return item
	}), 0, 4)

	asked := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) OfferItem {
		return OfferItem{rapid.SampledFrom([]string{"product", "category"}).Draw(t, "type"), id.Draw(t, "id"), rapid.Int64Range(0, 3).Draw(t, "least")}
	}), 0, 3)
	p := euroProgramme(t)
	rapid.Check(t, func(t *rapid.T) {
		o := Offer{
			Type: rapid.SampledFrom([]string{offerCart, offerOnItems, offerCombined}).Draw(t, "type"), MinTotal: money4.Draw(t, "least") / 1000,
			RequiredItems: asked.Draw(t, "required"), EligibleItems: asked.Draw(t, "eligible"),
			Discount: OfferDiscount{rapid.SampledFrom([]string{fixedPrice, fixedDiscount, percentDiscount}).Draw(t, "discount"), money4.Draw(t, "value")},
		}

		if o.Discount.Type == percentDiscount {
			o.Discount.Value %= 100*money.Unit + 1
		}

		cart := Cart{Currency: rapid.SampledFrom([]string{"", "EUR", "HUF", "JPY"}).Draw(t, "currency"), Items: items.Draw(t, "cart"), Discount: money4.Draw(t, "off already"), Shipping: money4.Draw(t, "shipping")}
		if rapid.Bool().Draw(t, "with a total") {
			cart.Total = new(money4.Draw(t, "total"))
		}

		reason, off := o.Fits(p, cart)
		require.GreaterOrEqual(t, off, money.Amount(0))
		if o.Type != offerCart {
			require.LessOrEqual(t, off, sumAmounts(cart.lines()))
		}

		if cart.Total != nil {
			require.LessOrEqual(t, off, max(0, *cart.Total-cart.Shipping))
		} else {
			require.LessOrEqual(t, off, max(0, sumAmounts(cart.lines())-cart.Discount))
		}

		require.True(t, reason == "" || off == 0)
		require.Zero(t, off%money.Smallest(cart.Currency))
	})
}

package condition

// moneyFields are the facts, and the attributes of the contract, that are amounts of money in the
// currency of their purchase or event.
var moneyFields = map[string]bool{
	"total": true, "original_total": true, "refunded": true, "subtotal": true, "price": true, "discount": true,
	"shipping": true, "amount": true, "value": true,
}

// currencyField is the attribute and the fact with the currency of an amount.
const currencyField = "currency"

// IsMoney reports whether a fact or an attribute of this name is an amount of money.
func IsMoney(name string) bool { return moneyFields[name] }

// spot records what a condition reads about money: an amount, or its currency.
func (c *compiler) spot(name string) {
	switch {
	case name == currencyField:
		c.currency = true
	case moneyFields[name]:
		c.money = true
	}
}

// BlindToCurrency reports whether the condition reads an amount of money but no currency: it then treats 5,000 forints
// like 5,000 euros.
func (c *Condition) BlindToCurrency() bool { return c != nil && c.money && !c.currency }

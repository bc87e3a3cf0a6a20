package programme

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// currencyRates are rates by currencyKey.
type currencyRates map[string]money.Rate

// currencyKey normalises a currency for comparison: inside events it is any text, and eur is EUR.
func currencyKey(text string) string { return strings.ToUpper(strings.TrimSpace(text)) }

// ratesByKey keys rates by currencyKey. Of two spellings of one currency the first in the alphabet counts.
func ratesByKey(rates map[string]money.Rate) currencyRates {
	by := make(currencyRates, len(rates))
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		if _, twice := by[currencyKey(name)]; !twice {
			by[currencyKey(name)] = rates[name]
		}
	}
	return by
}

// currency is a currency in the form in which it is compared; empty text is the programme's.
func (p *Programme) currency(text string) string {
	if key := currencyKey(text); key != "" {
		return key
	}
	return currencyKey(p.Settings.Currency)
}

// Exchange converts totals of purchases into the currency of a structure. The zero value knows only one currency,
// whatever its name.
type Exchange struct {
	To    string        // the structure's
	own   string        // the programme's, which purchases without a currency have
	rates currencyRates // units of the programme's currency for one of each
}

// ExchangeTo returns the exchange of a structure by spend.
func (p *Programme) ExchangeTo(currency string) Exchange {
	return Exchange{To: p.currency(currency), own: p.currency(""), rates: p.ExchangeRates}
}

// largestSum is the greatest amount that the contract allows; conversions are capped at it.
const largestSum = 900_000_000_000 * money.Unit

// Value returns an amount of a currency in that of the structure, rounded half away from zero; 0 if no rate covers it.
// It depends on the configuration alone, so that a refund takes off exactly what its purchase brought.
func (x Exchange) Value(total int64, currency string) int64 {
	value, _ := x.Of(money.Amount(total), currency)
	return int64(value)
}

// Of is Value, and reports whether a rate covers the currency.
func (x Exchange) Of(amount money.Amount, currency string) (value money.Amount, covered bool) {
	from := currencyKey(currency)
	if from == "" {
		from = x.own
	}
	if from == x.To {
		return amount, true
	}
	rate, known := x.rate(from)
	over, covered := x.rate(x.To)
	if !known || !covered {
		return 0, false
	}
	return rate.Convert(amount, over, largestSum), true
}

// InBase returns an amount of a currency in the programme's, and false if no exchange rate covers it, so that it cannot
// be compared or added.
func (p *Programme) InBase(amount money.Amount, currency string) (money.Amount, bool) {
	return p.ExchangeTo("").Of(amount, currency)
}

// SameCurrency reports whether two currencies are the same; no currency is the programme's.
func (p *Programme) SameCurrency(a, b string) bool { return p.currency(a) == p.currency(b) }

// ShownCurrency is a currency as messages name it; no currency is the programme's.
func (p *Programme) ShownCurrency(text string) string { return p.currency(text) }

// KnowsOthers reports whether the programme has a rate for a currency other than its own, so that its purchases may
// come in several.
func (p *Programme) KnowsOthers() bool {
	for _, rates := range []currencyRates{p.ExchangeRates, p.Purchase.CurrencyRates} {
		for key := range rates {
			if key != p.currency("") {
				return true
			}
		}
	}
	return false
}

func (x Exchange) rate(currency string) (money.Rate, bool) {
	if currency == x.own {
		return money.One, true
	}
	r, ok := x.rates[currency]
	return r, ok
}

// Form returns a text that differs between exchanges that differ.
func (x Exchange) Form() string {
	sum := sha256.Sum256(loyalty.JSON([]any{x.To, x.own, x.rates}))
	return x.To + "-" + hex.EncodeToString(sum[:6])
}

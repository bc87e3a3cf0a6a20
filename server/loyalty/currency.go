package loyalty

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// currencyRates are rates by currency, as currencyKey has it.
type currencyRates map[string]money.Rate

// currencyKey makes what callers write comparable: currencies inside events are any
// text, and eur is EUR.
func currencyKey(text string) string { return strings.ToUpper(strings.TrimSpace(text)) }

// ratesByKey makes rates found by currencyKey. Of two spellings of one currency the
// first in the alphabet counts.
func ratesByKey(rates map[string]money.Rate) currencyRates {
	by := make(currencyRates, len(rates))
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		if _, twice := by[currencyKey(name)]; !twice {
			by[currencyKey(name)] = rates[name]
		}
	}
	return by
}

// currency is a currency as it is compared; empty text is the programme's.
func (p *Programme) currency(text string) string {
	if key := currencyKey(text); key != "" {
		return key
	}
	return currencyKey(p.Settings.Currency)
}

// Currency is what a purchase was paid in, as its sender wrote it; empty: nobody said,
// so it is the programme's.
func (t *Transaction) Currency() string {
	var text string
	if raw, ok := t.Detail.Attributes["currency"]; ok && json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// exchange turns what purchases come to into the currency of a structure. The zero
// value knows only one currency, whatever its name.
type exchange struct {
	to    string        // the structure's
	own   string        // the programme's, which purchases without a currency have
	rates currencyRates // units of the programme's currency for one of each
}

// exchangeTo makes the exchange of a structure by spend.
func (p *Programme) exchangeTo(currency string) exchange {
	return exchange{to: p.currency(currency), own: p.currency(""), rates: p.ExchangeRates}
}

// Paid is the currency that a structure by spend adds up; empty for others.
func (s *Structure) Paid() string { return s.exchange.to }

// largestSum is the greatest amount that the contract knows: what counts is never more.
const largestSum = 900_000_000_000 * money.Unit

// value is an amount of a currency in that of the structure, rounded half away from
// zero; 0 where no rate covers it. It is a function of the configuration alone, so
// that a refund takes off exactly what its purchase brought.
func (x exchange) value(total int64, currency string) int64 {
	from := currencyKey(currency)
	if from == "" {
		from = x.own
	}
	if from == x.to {
		return total
	}
	rate, known := x.rate(from)
	over, covered := x.rate(x.to)
	if !known || !covered {
		return 0
	}
	return int64(rate.Convert(money.Amount(total), over, largestSum))
}

func (x exchange) rate(currency string) (money.Rate, bool) {
	if currency == x.own {
		return money.One, true
	}
	r, ok := x.rates[currency]
	return r, ok
}

// form tells one exchange from another.
func (x exchange) form() string {
	sum := sha256.Sum256(marshal([]any{x.to, x.own, x.rates}))
	return x.to + "-" + hex.EncodeToString(sum[:6])
}

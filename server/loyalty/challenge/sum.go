package challenge

import (
	"encoding/json"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// sumScale is the scale of sums other than points: 1/10,000, as money.
const sumScale = int64(money.Unit)

// amount is how far an occurrence moves a criterion, in the criterion's scale. It sees the same facts as conditions,
// but money exactly and in the programme's currency; noRate is a currency that no exchange rate converts. A value that
// is absent, not a number, or negative moves nothing, so that progress never goes back.
func amount(o *engine.Occurrence, k *Criterion) (n int64, noRate string, err error) {
	if k.Sum == "" {
		return 1, "", nil
	}

	n, err = sumOf(o, k)
	if n = min(max(0, n), maxSum); err != nil || n == 0 || !sumsMoney(k.Sum) {
		return n, "", err
	}

	currency, err := paidIn(o)
	if err != nil {
		return 0, "", err
	}

	worth, covered := o.Programme.InBase(money.Amount(n), currency)
	if !covered {
		return 0, currency, nil
	}

	return int64(worth), "", nil
}

// sumsMoney reports whether a criterion adds up money: an amount of the purchase or of a line, or an attribute that the
// contract declares as money. Other attributes are plain numbers.
func sumsMoney(path string) bool {
	return condition.IsMoney(path[strings.LastIndexByte(path, '.')+1:])
}

// paidIn is the currency of an occurrence's money, as it was sent: that of its own attributes, or of its purchase.
func paidIn(o *engine.Occurrence) (string, error) {
	data, err := o.SeenAttributes()
	if err != nil {
		return "", err
	}
	if heir, inherits := data.(condition.Heir); inherits {
		data = heir.With("currency")
	}
	if own := loyalty.TextOf(engine.AttributesOf(data)["currency"]); own != "" {
		return own, nil
	}
	if t := o.Purchase(); t != nil {
		return t.Currency(), nil
	}

	return "", nil
}

// sumOf reads the number that a criterion adds up.
func sumOf(o *engine.Occurrence, k *Criterion) (n int64, err error) {
	record, field, _ := strings.Cut(strings.TrimPrefix(k.Sum, "event."), ".")
	switch record {
	case "points":
		n = o.Points()
	case "data":
		var data condition.Attributes
		data, err = o.SeenAttributes()
		if heir, inherits := data.(condition.Heir); inherits {
			name, _, _ := strings.Cut(field, ".")
			data = heir.With(name)
		}
		n = number(engine.AttributesOf(data), field)

	case "transaction":
		n, err = purchaseNumber(o, field)
	case "item":
		n, err = lineNumber(o, field)
	}

	return n, err
}

// purchaseNumber reads a number of the purchase as rules have it now. It reads the purchase instead of the facts, which
// are inexact decimals for comparisons.
func purchaseNumber(o *engine.Occurrence, field string) (int64, error) {
	t := o.Purchase()
	if t == nil {
		return 0, nil
	}

	switch field {
	case "total":
		return int64(t.Total), nil
	case "original_total":
		return int64(t.OriginalTotal), nil
	case "refunded":
		return int64(t.Refunded), nil
	// points, converted to the scale of money, because a criterion has one scale
	case "earned":
		return scaled(t.Earned), nil
	case "burned":
		return scaled(t.Burned), nil
	}

	f, _, err := o.PurchaseFacts()
	if err != nil {
		return 0, err
	}

	return number(engine.AttributesOf(f.Data), strings.TrimPrefix(field, "data.")), nil
}

// lineNumber reads a number of the occurrence's line. A criterion about lines is evaluated once for each.
func lineNumber(o *engine.Occurrence, field string) (int64, error) {
	switch {
	case o.Line == nil:
		return 0, nil
	case field == "quantity":
		return scaled(o.Line.Quantity), nil
	case field == "subtotal":
		return int64(o.Line.Subtotal), nil
	}
	_, line, err := o.PurchaseFacts()
	if err != nil {
		return 0, err
	}
	return number(engine.AttributesOf(line.Data), strings.TrimPrefix(field, "data.")), nil
}

// scaled is a whole number in the scale of sums.
func scaled(n int64) int64 {
	if n > maxSum/sumScale {
		return maxSum
	}
	return n * sumScale
}

// maxSum bounds one number and every sum: it reaches any threshold.
const maxSum = int64(1)<<62 - 1

// number reads an attribute exactly; 0 if it is not a number. More than four decimals are cut off.
func number(attributes map[string]json.RawMessage, path string) int64 {
	name, rest, nested := strings.Cut(path, ".")
	raw, ok := attributes[name]
	if !ok {
		return 0
	}

	if nested {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			return 0
		}
		return number(inner, rest)
	}

	// as a decimal: ten thousand times 0.1 must be 1,000
	rate, err := money.ParseRate(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}

	n, err := rate.Points(money.Amount(sumScale)*money.Unit, money.Floor)
	if err != nil && rate.Sign() > 0 {
		return maxSum
	}

	return min(n, maxSum)
}

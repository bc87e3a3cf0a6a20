package loyalty

import (
	"encoding/json"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// sumScale is what sums other than points are kept in: 1/10,000, as money.
const sumScale = int64(money.Unit)

// amount is by how much an occurrence moves a criterion, in its scale. It sees
// what conditions see, but money exactly. A number that is absent, is none, or is
// below zero moves nothing: progress never goes back.
func (o *occurrence) amount(k *Criterion) (int64, error) {
	if k.Sum == "" {
		return 1, nil
	}
	if err := o.see(k.Is); err != nil {
		return 0, err
	}
	record, field, _ := strings.Cut(strings.TrimPrefix(k.Sum, "event."), ".")
	var n int64
	switch record {
	case "points":
		n = o.known.Event.Points
	case "data":
		n = number(o.known.Event.Data, field)
	case "transaction":
		n = o.purchaseNumber(field)
	case "item":
		n = o.lineNumber(field)
	}
	return min(max(0, n), maxSum), nil
}

func (o *occurrence) purchaseNumber(field string) int64 {
	t := o.purchase()
	if t == nil {
		return 0
	}
	switch field {
	case "total":
		return int64(t.Total)
	case "original_total":
		return int64(t.OriginalTotal)
	case "refunded":
		return int64(t.Refunded)
	case "earned":
		return scaled(t.Earned)
	case "burned":
		return scaled(t.Burned)
	}
	return number(o.known.Transaction.Data, strings.TrimPrefix(field, "data."))
}

func (o *occurrence) lineNumber(field string) int64 {
	switch {
	case o.line == nil:
		return 0
	case field == "quantity":
		return scaled(o.line.Quantity)
	case field == "subtotal":
		return int64(o.line.Subtotal)
	}
	return number(o.known.Item.Data, strings.TrimPrefix(field, "data."))
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

// number reads an attribute, exactly; 0 where it is none. More than four decimals
// are cut off.
func number(attributes map[string]any, path string) int64 {
	name, rest, nested := strings.Cut(path, ".")
	raw, ok := attributes[name].(json.RawMessage)
	if !ok {
		return 0
	}
	if nested {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			return 0
		}
		return number(values(inner), rest)
	}
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

package programme

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// CheckDates refuses dates that include no instant.
func CheckDates(d loyalty.Dates) error {
	if !d.EndsAt.IsZero() && !d.StartsAt.Before(d.EndsAt.Time) {
		return Fault("ends_at", "must_follow", map[string]any{"other": "starts_at"})
	}
	return nil
}

// CustomFields returns the attributes of an entity that the schema of its type does not have; nil if there are none.
func CustomFields(e loyalty.Entity) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Data, &fields) != nil {
		return nil // Decode reports the fault
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return !strings.HasPrefix(name, "cf_") })
	return fields
}

// CompileCondition compiles a condition; its error names the field.
func CompileCondition(field, source string) (*condition.Condition, error) {
	c, err := condition.Compile(source)
	if err != nil {
		return nil, Fault(field, "condition_invalid", map[string]any{"fault": err.Error()}).Because(err)
	}
	return c, nil
}

// Fault returns a failure of kind Invalid whose message is that of its only detail. The name is a translation key;
// {property} is the last part of the field.
func Fault(field, name string, args map[string]any) *loyalty.Error {
	all := map[string]any{"property": field[strings.LastIndexByte(field, '.')+1:]}
	for k, v := range args {
		all[k] = v
	}

	e := &loyalty.Error{Kind: loyalty.Invalid, Code: loyalty.ErrPropertyInvalid.Code, Name: name}
	switch name {
	case loyalty.ErrPropertyEmpty.Name:
		e.Code = loyalty.ErrPropertyEmpty.Code
	case loyalty.ErrPropertyUnknown.Name:
		e.Code = loyalty.ErrPropertyUnknown.Code
	}

	if name == loyalty.ErrValueTaken.Name {
		e.Kind, e.Code = loyalty.ErrValueTaken.Kind, loyalty.ErrValueTaken.Code
	}

	e.Args, e.Details = all, []loyalty.Detail{{Field: field, Name: name, Args: all}}
	return e
}

// NotWith returns the fault of a property that does not go with the value of another one.
func NotWith(field, with, value string) *loyalty.Error {
	return Fault(field, "not_with_value", map[string]any{"other": with, "value": value})
}

// Unfit refuses an attribute that does not go with the value of another one; it names both, because the caller may have
// meant either.
func Unfit(attribute, other, value string) *loyalty.Error {
	e := NotWith("data."+attribute, other, value)
	e.Details = append(e.Details, Fault("data."+other, "not_together", map[string]any{"other": attribute}).Details...)
	return e
}

// object reads a JSON object of configuration strictly: every property is taken by its name, and done refuses the
// properties that were not taken. null counts as absent. The first fault stays, and later takes change nothing.
type object struct {
	at     string // path of the object, such as "config"
	values map[string]json.RawMessage
	err    *loyalty.Error
}

// openObject parses an object. An absent object and null count as {}. A property named twice is refused, because
// readers disagree on which of the two counts.
func openObject(raw json.RawMessage, at string) *object {
	o := &object{at: at, values: map[string]json.RawMessage{}}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return o
	}

	if !json.Valid(raw) || raw[0] != '{' {
		o.err = Fault(at, "must_be_type", map[string]any{"type": "object"})
		return o
	}

	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // the brace; the text is valid JSON
	for d.More() {
		token, _ := d.Token()
		name, _ := token.(string)
		var value json.RawMessage
		_ = d.Decode(&value)
		if _, twice := o.values[name]; twice {
			o.fail(name, "not_unique", nil)
		}
		o.values[name] = value
	}

	return o
}

func (o *object) field(name string) string { return o.at + "." + name }

func (o *object) fail(name, why string, args map[string]any) {
	if o.err == nil {
		o.err = Fault(o.field(name), why, args)
	}
}

func (o *object) refuse(err *loyalty.Error) {
	if o.err == nil {
		o.err = err
	}
}

// take decodes a property into target, if it was sent.
func (o *object) take(name, kind string, target any) bool {
	raw, sent := o.values[name]
	delete(o.values, name)
	if !sent || string(raw) == "null" || o.err != nil {
		return false
	}
	if err := json.Unmarshal(raw, target); err != nil {
		o.fail(name, "must_be_type", map[string]any{"type": kind})
		return false
	}
	return true
}

// done returns the first fault, or refuses the properties that were not taken.
func (o *object) done() error {
	for _, name := range slices.Sorted(maps.Keys(o.values)) {
		o.fail(name, loyalty.ErrPropertyUnknown.Name, nil)
	}
	if o.err != nil {
		return o.err
	}
	return nil
}

func (o *object) flag(name string, into *bool) { o.take(name, "boolean", into) }

func (o *object) choice(name string, into *string, allowed ...string) {
	if o.take(name, "string", into) {
		o.oneOf(name, *into, allowed)
	}
}

func (o *object) oneOf(name, value string, allowed []string) {
	for _, a := range allowed {
		if value == a {
			return
		}
	}
	o.fail(name, "must_be_one_of", map[string]any{"values": strings.Join(allowed, ", ")})
}

// language refuses an unknown language.
func (o *object) language(name, code string) {
	if !loyalty.IsLanguage(code) {
		o.fail(name, "bad_format", map[string]any{"format": "ISO 639-1"})
	}
}

// count takes a whole number from least to most.
func (o *object) count(name string, into *int, least, most int) {
	n := int64(least)
	if !o.take(name, "integer", &n) {
		return
	}
	switch {
	case n < int64(least):
		o.fail(name, "too_small", map[string]any{"limit": least})
	case n > int64(most):
		o.fail(name, "too_large", map[string]any{"limit": most})
	}
	*into = int(n)
}

// value takes the value of one point, which must be above zero.
func (o *object) value(name string, into *money.Amount) {
	if !o.take(name, "number", into) {
		return
	}
	switch {
	case *into <= 0:
		o.fail(name, "too_small", map[string]any{"limit": "0.0001"})
	case *into > maxPointValue:
		o.fail(name, "too_large", map[string]any{"limit": maxPointValue / money.Unit})
	}
}

// maxRate bounds a rate, in points per currency unit.
const maxRate = 1_000_000

func (o *object) rate(name string, into *money.Rate) {
	if o.take(name, "number", into) {
		o.refuseRate(name, *into)
	}
}

func (o *object) refuseRate(name string, r money.Rate) {
	whole, err := r.Points(money.Unit, money.Ceil)
	switch {
	case r.Sign() < 0:
		o.fail(name, "too_small", map[string]any{"limit": 0})
	case err != nil || whole > maxRate:
		o.fail(name, "too_large", map[string]any{"limit": maxRate})
	}
}

// maxCurrency bounds the name of a currency; the contract leaves it free text.
const maxCurrency = 64

func (o *object) rates(name string, into *map[string]money.Rate) {
	if !o.take(name, "object of numbers", into) {
		return
	}
	for _, currency := range slices.Sorted(maps.Keys(*into)) {
		if n := utf8.RuneCountInString(currency); n == 0 || n > maxCurrency || strings.TrimSpace(currency) != currency {
			o.fail(name, loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": strconv.Quote(currency)})
		}
		o.refuseRate(name+"."+currency, (*into)[currency])
	}
}

package contract

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// validation are the options of every validation: all faults of a value, our own formats, and no values or schemas in
// messages.
var validation = []openapi3.SchemaValidationOption{
	openapi3.MultiErrors(),
	openapi3.DisableSchemaErrorDetails(),
	openapi3.WithStringFormatValidators(formats),
}

// validate lets kin-openapi decide on a scalar, after the checks that kin-openapi cannot make because it compares
// numbers as binary fractions. It returns the value as it is stored, an id without the blanks around it.
func (k *checker) validate(s *Schema, v any) any {
	if text, ok := v.(string); ok && s.trimmed {
		v = strings.TrimSpace(text)
	}

	if n, ok := v.(json.Number); ok {
		kept, ok := k.exact(s, n)
		if !ok {
			return v
		}
		if kept != n {
			v = kept
		}
	}

	if text, ok := v.(string); ok && s.id && text != "" && !loyalty.Identifying(text) {
		k.fault("property_invalid", "", map[string]any{"property": k.property(), "reason": "name"})
		return v
	}

	if s.plain && s.takes(v) {
		return v
	}
	if text, ok := v.(string); ok && s.pattern > 0 && !k.affords(s, text) {
		return v
	}
	if err := s.source.VisitJSON(v, validation...); err != nil {
		k.schemaFaults(err)
	}

	return v
}

// exact returns a number as it is stored: a whole number without point or exponent, an amount with the decimals of
// amounts. It refuses a number that is too large.
func (k *checker) exact(s *Schema, n json.Number) (json.Number, bool) {
	text, err := string(n), error(nil)
	switch {
	case s.types&takesNumber == 0 && s.types&takesInteger != 0:
		text, err = wholeNumber(text)
	case s.format == "decimal":
		text, err = keptAmount(text)
	default:
		err = finite(n)
	}

	switch {
	case errors.Is(err, money.ErrPrecision):
		k.mustBe(typeNames(s.source))
	case err != nil:
		k.fault(loyalty.ErrTooLarge.Name, "", map[string]any{"property": k.property()})
	}

	return json.Number(text), err == nil
}

// wholeNumber writes a whole number as plain digits: 2.0 and 2e0 are 2, because some clients only have floating-point
// numbers.
func wholeNumber(text string) (string, error) {
	n, err := money.ParseNumber(text)
	if err != nil {
		return text, err
	}
	v, err := n.Whole()
	if err != nil || isInteger(text) {
		return text, err
	}
	return strconv.FormatInt(v, 10), nil
}

// longAmount is the length from which the trailing zeros of an amount are dropped.
const longAmount = 64

// keptAmount rounds a number that has more decimals than an amount. Any other is kept as written.
func keptAmount(text string) (string, error) {
	a, exact, err := money.ParseRounded(text)
	if err != nil || exact && len(text) <= longAmount {
		return text, err
	}
	return a.String(), nil
}

// finite refuses numbers that do not fit a binary fraction (float64).
func finite(n json.Number) error {
	if f, err := n.Float64(); err != nil || math.IsInf(f, 0) {
		return money.ErrRange
	}
	return nil
}

// count applies the limits on the number of properties or items.
func (k *checker) count(s *Schema, n int, of string) {
	least, most := s.source.MinItems, s.source.MaxItems
	if of == "properties" {
		least, most = s.source.MinProps, s.source.MaxProps
	}
	if uint64(n) < least {
		k.fault("too_few", "", map[string]any{"property": k.property(), "limit": least})
	}
	if most != nil && uint64(n) > *most {
		k.fault("too_many", "", map[string]any{"property": k.property(), "limit": *most})
	}
}

// unique refuses a list with a repeated item if the schema asks for unique items.
func (k *checker) unique(s *Schema, items []any) {
	if !s.source.UniqueItems {
		return
	}
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		text := string(AppendJSON(nil, item))
		if seen[text] {
			k.fault("not_unique", "", map[string]any{"property": k.property()})
			return
		}
		seen[text] = true
	}
}

// schemaFaults notes the faults that kin-openapi found, by the keyword that failed. kin-openapi's own text is never
// shown: it may quote the value.
func (k *checker) schemaFaults(err error) {
	var many openapi3.MultiError
	if errors.As(err, &many) {
		for _, one := range many {
			k.schemaFaults(one)
		}
		return
	}

	var found *openapi3.SchemaError
	if !errors.As(err, &found) {
		k.fault("property_invalid", "", map[string]any{"property": k.property(), "reason": "schema"})
		return
	}

	at := len(k.path)
	for _, key := range found.JSONPointer() {
		k.path = append(k.path, pointerStep(key))
	}

	name, args := messageFor(found)
	args["property"] = k.property()
	k.fault(name, "", args)
	k.path = k.path[:at]
}

// pointerStep reads one part of a JSON pointer.
func pointerStep(key string) step {
	if i, ok := formIndex(key); ok {
		return step{"", i}
	}
	return step{key, -1}
}

// messageFor returns the name of the message for a keyword, and its limit.
func messageFor(e *openapi3.SchemaError) (name string, args map[string]any) {
	s := e.Schema
	limit := func(name string, n any) (string, map[string]any) { return name, map[string]any{"limit": n} }
	switch e.SchemaField {
	case "type", "nullable":
		return "must_be_type", map[string]any{"type": typeNames(s)}
	case "enum":
		return "must_be_one_of", map[string]any{"values": s.Enum}
	case "format":
		return "bad_format", map[string]any{"format": formatName(s.Format)}
	case "anyOf", "oneOf":
		return "bad_format", map[string]any{"format": formatNames(s)}
	case "pattern":
		return "bad_pattern", map[string]any{"wanted": wanted(s)}
	case "minLength":
		return limit("too_short", s.MinLength)
	case "maxLength":
		return limit("too_long", *s.MaxLength)
	case "minItems":
		return limit("too_few", s.MinItems)
	case "maxItems":
		return limit("too_many", *s.MaxItems)
	case "minProperties":
		return limit("too_few", s.MinProps)
	case "maxProperties":
		return limit("too_many", *s.MaxProps)
	case "minimum", "exclusiveMinimum":
		return limit("too_small", *s.Min)
	case "maximum", "exclusiveMaximum":
		return limit("too_large", *s.Max)
	case "multipleOf":
		return limit("not_multiple", *s.MultipleOf)
	case "uniqueItems":
		return "not_unique", map[string]any{}
	}

	return "property_invalid", map[string]any{"reason": "schema"}
}

// wanted names what a pattern wants, as a key of the catalogue below "pattern.". The document gives the key with
// x-pattern-words, because no caller should have to read an expression. Patterns that the programme declares have no
// such key.
func wanted(s *openapi3.Schema) string { return cmp.Or(extension(s, "x-pattern-words"), "declared") }

// typeNames lists the types that a schema accepts.
func typeNames(s *openapi3.Schema) string {
	var names []string
	for _, name := range []string{"string", "integer", "number", "boolean", "array", "object"} {
		if typesOf(s)&typeNamed[name] != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// formatName is the name of a format in a message.
func formatName(format string) string {
	if format == "birth-date" {
		return "YYYY-MM-DD, " + oldest + "…" + newest()
	}
	return format
}

// formatNames lists the formats, or else the types, that a value may have.
func formatNames(s *openapi3.Schema) string {
	var names []string
	for _, ref := range append(append(openapi3.SchemaRefs{}, s.AnyOf...), s.OneOf...) {
		if ref.Value == nil {
			continue
		}
		name := ref.Value.Format
		if name == "" {
			name = typeNames(ref.Value)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

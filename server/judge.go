package server

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// judging are the options of every validation: all faults of a value, our own
// formats, and no values or schemas in messages.
var judging = []openapi3.SchemaValidationOption{
	openapi3.MultiErrors(),
	openapi3.DisableSchemaErrorDetails(),
	openapi3.WithStringFormatValidators(formats),
}

// judge lets kin-openapi decide on a value that holds no declared properties,
// after what it cannot see: it compares numbers as binary fractions.
func (k *checker) judge(s *shape, v any) {
	if n, ok := v.(json.Number); ok && !k.exact(s, n) {
		return
	}
	if err := s.schema.VisitJSON(v, judging...); err != nil {
		k.schemaFaults(err)
	}
}

// exact refuses numbers that could not be kept to the last digit.
func (k *checker) exact(s *shape, n json.Number) bool {
	args := map[string]any{"property": k.property()}
	text := string(n)
	switch {
	case s.types&takesNumber == 0 && s.types&takesInteger != 0:
		if !isInteger(text) {
			k.mustBe(typeNames(s.schema))
			return false
		}
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			k.fault(loyalty.ErrTooLarge.Name, "", args)
			return false
		}
	case s.format == "decimal":
		if _, err := money.Parse(text); err != nil {
			if errors.Is(err, money.ErrPrecision) {
				args["reason"] = "precision"
				k.fault("property_invalid", "", args)
			} else {
				k.fault(loyalty.ErrTooLarge.Name, "", args)
			}
			return false
		}
	default:
		if f, err := n.Float64(); err != nil || math.IsInf(f, 0) {
			k.fault(loyalty.ErrTooLarge.Name, "", args)
			return false
		}
	}
	return true
}

// count applies the limits on how many properties or items there may be.
func (k *checker) count(s *shape, n int, of string) {
	least, most := s.schema.MinItems, s.schema.MaxItems
	if of == "properties" {
		least, most = s.schema.MinProps, s.schema.MaxProps
	}
	if uint64(n) < least {
		k.fault("too_few", "", map[string]any{"property": k.property(), "limit": least})
	}
	if most != nil && uint64(n) > *most {
		k.fault("too_many", "", map[string]any{"property": k.property(), "limit": *most})
	}
}

// unique refuses a list that holds one item twice, where the schema wants that.
func (k *checker) unique(s *shape, items []any) {
	if !s.schema.UniqueItems {
		return
	}
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		text := string(appendJSON(nil, item))
		if seen[text] {
			k.fault("not_unique", "", map[string]any{"property": k.property()})
			return
		}
		seen[text] = true
	}
}

// schemaFaults words what kin-openapi found, by the keyword that failed. Its own
// text is never shown.
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
	name, args := wording(found)
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

// wording gives the name of the message for a keyword, and its limit.
func wording(e *openapi3.SchemaError) (name string, args map[string]any) {
	s := e.Schema
	limit := func(name string, n any) (string, map[string]any) { return name, map[string]any{"limit": n} }
	switch e.SchemaField {
	case "type", "nullable":
		return "must_be_type", map[string]any{"type": typeNames(s)}
	case "enum":
		return "must_be_one_of", map[string]any{"values": s.Enum}
	case "format":
		return "bad_format", map[string]any{"format": s.Format}
	case "anyOf", "oneOf":
		return "bad_format", map[string]any{"format": formatNames(s)}
	case "pattern":
		return "bad_pattern", map[string]any{"pattern": s.Pattern}
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

// typeNames lists the types a schema takes.
func typeNames(s *openapi3.Schema) string {
	var names []string
	for _, name := range []string{"string", "integer", "number", "boolean", "array", "object"} {
		if typesOf(s)&scalarTypes[name] != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// formatNames lists the formats, or else types, that a value may choose from.
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

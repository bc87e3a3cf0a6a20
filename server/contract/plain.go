package contract

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// Most values of an event are valid, and most of their schemas have only a type, limits and perhaps a format.
// kin-openapi builds its settings anew for each value, which costs more than the check. So takes accepts the valid
// values of such plain schemas, and kin-openapi decides on all others and says what is wrong.

// isPlain reports whether a schema has only keywords that takes checks. A schema with any other keyword, known here or
// not, is not plain.
func isPlain(schema *openapi3.Schema) bool {
	_, known := formats[schema.Format]
	known = known || schema.Format == ""
	switch typesOf(schema) {
	case takesText:
		known = known && !slices.ContainsFunc(schema.Enum, func(v any) bool { _, text := v.(string); return !text })
	case takesInteger:
		known = (schema.Format == "" || schema.Format == "int64") && len(schema.Enum) == 0
	case takesNumber:
		known = (schema.Format == "" || schema.Format == "decimal") && len(schema.Enum) == 0
	case takesBoolean:
		known = schema.Format == "" && len(schema.Enum) == 0
	default:
		return false
	}

	rest := *schema
	rest.Type, rest.Format, rest.Enum, rest.MinLength, rest.MaxLength, rest.Min, rest.Max = nil, "", nil, 0, nil, nil, nil
	// takes refuses null
	rest.Nullable = false
	// these do not restrict values
	rest.Title, rest.Description, rest.Example, rest.Default, rest.Deprecated = "", "", nil, nil, false
	rest.Extensions, rest.Origin, rest.ExternalDocs = nil, nil, nil
	return known && len(schema.Type.Slice()) == 1 && reflect.ValueOf(rest).IsZero()
}

// takes reports whether a plain schema certainly accepts a value. Whole numbers are in their canonical form already.
func (s *Schema) takes(v any) bool {
	switch v := v.(type) {
	case string:
		return s.types == takesText && s.takesText(v)
	case json.Number:
		return s.types&(takesInteger|takesNumber) != 0 && s.takesNumber(v)
	case bool:
		return s.types == takesBoolean
	}
	return false
}

func (s *Schema) takesText(text string) bool {
	if least, most := s.source.MinLength, s.source.MaxLength; least > 0 || most != nil {
		length := uint64(utf8.RuneCountInString(text))
		if length < least || most != nil && length > *most {
			return false
		}
	}
	if format, ok := formats[s.format]; ok && format.Validate(text) != nil {
		return false
	}
	return len(s.source.Enum) == 0 || slices.Contains(s.source.Enum, any(text))
}

func (s *Schema) takesNumber(n json.Number) bool {
	f, err := n.Float64()
	switch {
	case err != nil:
		return false
	case s.types == takesInteger && (f != math.Trunc(f) || math.Abs(f) >= 1<<63):
		return false
	case s.source.Min != nil && f < *s.source.Min, s.source.Max != nil && f > *s.source.Max:
		return false
	}
	return true
}

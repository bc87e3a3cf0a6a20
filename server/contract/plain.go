package contract

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// Most values of an event are good, and most of their schemas say a type, limits and perhaps a format. kin-openapi makes
// its settings anew for each value, which costs more than the answer. So what such a schema takes is told here, and
// whatever it does not take, or what another schema is asked, is left to kin-openapi, which decides and says why.

// isPlain reports whether a schema says nothing of its values but what takes looks at. A schema with any other keyword,
// known here or not, is not plain.
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
	rest.Nullable = false                                                                               // no null is taken here
	rest.Title, rest.Description, rest.Example, rest.Default, rest.Deprecated = "", "", nil, nil, false // these say nothing of values
	rest.Extensions, rest.Origin, rest.ExternalDocs = nil, nil, nil
	return known && len(schema.Type.Slice()) == 1 && reflect.ValueOf(rest).IsZero()
}

// takes reports whether a plain schema takes a value for certain. A whole number has been written as one before.
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

package openapi_test

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

func camel(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func texts(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.(string)
	}
	return out
}

func property(s *openapi3.Schema, name string) *openapi3.SchemaRef {
	if p := s.Properties[name]; p != nil {
		return p
	}
	for _, part := range s.AllOf {
		if p := property(part.Value, name); p != nil {
			return p
		}
	}
	return nil
}

// eachSchema visits the schemas a document defines or refers to, each once,
// with a path that tells where it stands first.
func eachSchema(doc *openapi3.T, f func(path string, s *openapi3.Schema)) {
	seen := map[*openapi3.Schema]bool{}
	var walk func(string, *openapi3.SchemaRef)
	walk = func(path string, ref *openapi3.SchemaRef) {
		if ref == nil || seen[ref.Value] {
			return
		}
		seen[ref.Value] = true
		f(path, ref.Value)
		for name, p := range ref.Value.Properties {
			walk(path+"."+name, p)
		}
		for i, part := range slices.Concat(ref.Value.AllOf, ref.Value.AnyOf, ref.Value.OneOf) {
			walk(path+"#"+strconv.Itoa(i), part)
		}
		walk(path+"[]", ref.Value.Items)
		walk(path+"{}", ref.Value.AdditionalProperties.Schema)
	}

	for name, ref := range doc.Components.Schemas {
		walk(name, ref)
	}

	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, r := range op.Responses.Map() {
				walk(method+" "+path+" "+status, body(r.Value).Schema)
			}
		}
	}
}

// visit checks a value by a schema, with the formats that the documents name.
func visit(doc *openapi3.T, s *openapi3.Schema, value any, options ...openapi3.SchemaValidationOption) error {
	options = append(options, openapi3.EnableFormatValidation(),
		openapi3.WithStringFormatValidators(textFormats), openapi3.WithNumberFormatValidator("decimal", decimalFormat))
	return doc.ValidateSchemaJSON(s, value, options...)
}

var errFormat = errors.New("not in the format")

func format(ok func(string) bool) openapi3.StringFormatValidator {
	return openapi3.NewCallbackValidator(func(s string) error {
		if !ok(s) {
			return errFormat
		}
		return nil
	})
}

func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func isInstant(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

var textFormats = map[string]openapi3.StringFormatValidator{
	"birth-date":     format(isDay),
	"date":           format(isDay),
	"date-time":      format(isInstant),
	"instant":        format(isInstant),
	"day-or-instant": format(func(s string) bool { return isDay(s) || isInstant(s) }),
	"email":          format(regexp.MustCompile(`^[^@\s]+@[^@\s]+$`).MatchString),
	"uri":            format(regexp.MustCompile(`^[a-z][a-z0-9+.-]*://[^\s/]+\S*$`).MatchString),
	"uuid":           format(regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString),
	"cidr":           format(regexp.MustCompile(`^[0-9a-f.:]+(/\d+)?$`).MatchString),
}

var decimalFormat = openapi3.NewCallbackValidator(func(f float64) error {
	_, decimals, _ := strings.Cut(strconv.FormatFloat(f, 'f', -1, 64), ".")
	if len(decimals) > 4 {
		return errFormat
	}
	return nil
})

package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// drawer makes requests from the documents: what they allow, what lies on their
// bounds, and what they forbid.
type drawer struct{ *rand.Rand }

func (d drawer) once(in int) bool { return d.IntN(in) == 0 }

// value draws something that a schema allows, as far as a schema can tell.
func (d drawer) value(s *openapi3.Schema, depth int) any {
	if s.Example != nil && !d.once(3) {
		return s.Example
	}
	if len(s.Enum) > 0 {
		return s.Enum[d.IntN(len(s.Enum))]
	}

	for _, of := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf} {
		if len(of) > 0 {
			return d.value(of[d.IntN(len(of))].Value, depth)
		}
	}

	switch {
	case len(s.AllOf) > 0:
		return d.all(s, depth)
	case s.Type == nil:
		return d.IntN(100)
	case s.Type.Is("string"):
		return d.text(s)
	case s.Type.Is("integer"):
		return d.integer(s)
	case s.Type.Is("number"):
		return json.Number(fmt.Sprintf("%d.%02d", d.integer(s), d.IntN(100)))
	case s.Type.Is("boolean"):
		return d.once(2)
	case s.Type.Is("array"):
		return d.array(s, depth)
	}

	return d.fields(s, depth)
}

func (d drawer) all(s *openapi3.Schema, depth int) any {
	merged := d.fields(s, depth)
	for _, part := range s.AllOf {
		if fields, ok := d.value(part.Value, depth).(map[string]any); ok {
			maps.Copy(merged, fields)
		}
	}
	return merged
}

func (d drawer) fields(s *openapi3.Schema, depth int) map[string]any {
	fields := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) || depth < 4 && d.once(2) {
			fields[name] = d.value(s.Properties[name].Value, depth+1)
		}
	}
	return fields
}

func (d drawer) array(s *openapi3.Schema, depth int) any {
	n := int(s.MinItems) + d.IntN(3) //nolint:gosec // a few
	if s.MaxItems != nil {
		n = min(n, int(*s.MaxItems)) //nolint:gosec // as above
	}
	list := make([]any, n)
	for i := range list {
		list[i] = d.value(s.Items.Value, depth+1)
	}
	return list
}

// integer draws one on the bounds, or near the lower one.
func (d drawer) integer(s *openapi3.Schema) int64 {
	low, high := int64(0), int64(1000)
	if s.Min != nil {
		low = int64(*s.Min)
		high = max(high, low)
	}

	if s.Max != nil {
		high = min(int64(*s.Max), 1<<53)
		low = min(low, high)
	}

	switch d.IntN(5) {
	case 0:
		return low
	case 1:
		return high
	}

	return low + d.Int64N(min(high-low, 1000)+1)
}

func (d drawer) text(s *openapi3.Schema) any {
	switch s.Format {
	case "date":
		return fmt.Sprintf("2026-%02d-%02d", 1+d.IntN(12), 1+d.IntN(28))
	case "date-time":
		return fmt.Sprintf("2026-%02d-01T10:00:00Z", 1+d.IntN(12))
	case "uuid":
		return "0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01"
	case "email":
		return "member-1001@shop.test"
	case "uri":
		return "https://shop.test/x"
	}

	if s.Pattern != "" && s.Example != nil {
		return s.Example
	}

	n := int(s.MinLength) + d.IntN(12) //nolint:gosec // short
	if s.MaxLength != nil {
		n = int(min(*s.MaxLength, uint64(n))) //nolint:gosec // as above
		if d.once(6) {
			n = int(min(*s.MaxLength, 5000)) //nolint:gosec // on the bound
		}
	}

	letters := []rune("abcXYZ019 -_.:/%+&=;'\"<>é雪🙂")
	var b strings.Builder
	for range n {
		b.WriteRune(letters[d.IntN(len(letters))])
	}

	return b.String()
}

// broken is a value that hardly any schema allows, or one just outside its bounds.
func (d drawer) broken(s *openapi3.Schema) any {
	switch {
	case s.Max != nil && *s.Max < 1<<53 && d.once(2):
		return int64(*s.Max) + 1
	case s.Min != nil && d.once(2):
		return int64(*s.Min) - 1
	case s.MaxLength != nil && *s.MaxLength < 5000 && d.once(3):
		return strings.Repeat("x", int(*s.MaxLength)+1) //nolint:gosec // bounded above
	}

	wrong := []any{
		nil, "", " ", "nobody", true, -1, json.Number("1e400"), json.Number("99999999999999999999"), json.Number("0.00001"),
		[]any{}, []any{nil}, map[string]any{}, map[string]any{"x": "y"}, strings.Repeat("long", 1500), "2026-02-30", "\u0000", "' OR 1=1 --",
		[]any{[]any{[]any{}}}, "\u202e", json.Number("-0"),
	}

	return wrong[d.IntN(len(wrong))]
}

// damage changes one thing of a body: a property that is gone, one too many, one
// that is something else, or the body itself.
func (d drawer) damage(s *openapi3.Schema, body any) any {
	sent, ok := body.(map[string]any)
	if !ok || d.once(12) {
		return d.broken(s)
	}

	fields := maps.Clone(sent)
	names := slices.Sorted(maps.Keys(s.Properties))
	if len(names) == 0 || d.once(6) {
		fields["no_such_property"] = d.broken(s)
		return fields
	}

	name := names[d.IntN(len(names))]
	inner := s.Properties[name].Value
	switch {
	case d.once(3):
		delete(fields, name)
	case d.once(2) && fields[name] != nil && (inner.Type.Is("object") || inner.Type.Is("array")):
		fields[name] = d.deeper(inner, fields[name])
	default:
		fields[name] = d.broken(inner)
	}

	return fields
}

func (d drawer) deeper(s *openapi3.Schema, v any) any {
	list, ok := v.([]any)
	if !ok || len(list) == 0 || s.Items == nil {
		return d.damage(s, v)
	}
	list = slices.Clone(list)
	i := d.IntN(len(list))
	list[i] = d.damage(s.Items.Value, list[i])
	return list
}

// queryOf writes a parameter as its declaration says.
func queryOf(p *openapi3.Parameter, v any) string {
	name := url.QueryEscape(p.Name)
	switch v := v.(type) {
	case []any:
		var texts []string
		for _, item := range v {
			texts = append(texts, url.QueryEscape(fmt.Sprint(item)))
		}
		if p.Explode != nil && !*p.Explode {
			return name + "=" + strings.Join(texts, ",")
		}
		return name + "=" + strings.Join(texts, "&"+name+"=")
	case map[string]any:
		return strings.Join(bracketed(p.Name, v), "&")
	}

	return name + "=" + url.QueryEscape(fmt.Sprint(v))
}

// bracketed writes nested values as name[key][key]=value.
func bracketed(name string, v any) (pairs []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, bracketed(name+"["+key+"]", v[key])...)
		}
		return pairs
	case []any:
		for i, item := range v {
			pairs = append(pairs, bracketed(fmt.Sprintf("%s[%d]", name, i), item)...)
		}
		return pairs
	}
	return []string{url.QueryEscape(name) + "=" + url.QueryEscape(fmt.Sprint(v))}
}

// flat is the schema whose properties a body can have.
func flat(s *openapi3.Schema) *openapi3.Schema {
	if len(s.Properties) > 0 {
		return s
	}
	for _, of := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		if len(of) > 0 {
			return flat(of[0].Value)
		}
	}
	return s
}

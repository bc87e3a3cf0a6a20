package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// scalarsOf gathers the scalars of a schema and of everything in it.
func scalarsOf(ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil || seen[ref.Value] {
		return
	}

	s := ref.Value
	seen[s] = true
	for _, property := range s.Properties {
		scalarsOf(property, seen)
	}

	for _, refs := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
		for _, part := range refs {
			scalarsOf(part, seen)
		}
	}

	scalarsOf(s.Items, seen)
	scalarsOf(s.AdditionalProperties.Schema, seen)
}

// TestPlainTakesWhatTheSchemaTakes holds what is told of plain schemas without kin-openapi against kin-openapi: for every
// schema of the documents and for some that they do not have.
func TestPlainTakesWhatTheSchemaTakes(t *testing.T) {
	schemas := map[*openapi3.Schema]bool{}
	documents, err := Documents()
	require.NoError(t, err)
	for _, d := range documents {
		for _, ref := range d.Spec.Components.Schemas {
			scalarsOf(ref, schemas)
		}
	}

	for _, text := range []string{
		`{"type":"string","minLength":2,"maxLength":3}`, `{"type":"string","enum":["a","b"]}`, `{"type":"string","format":"birth-date"}`,
		`{"type":"string","format":"cidr"}`, `{"type":"string","format":"password"}`, `{"type":"string","pattern":"^a"}`, `{"type":"string","nullable":true}`,
		`{"type":"integer","minimum":0,"maximum":1}`, `{"type":"integer","minimum":0,"exclusiveMinimum":true}`, `{"type":"number","multipleOf":3}`,
		`{"type":"number","enum":[1]}`, `{"type":"boolean","enum":[true]}`, `{"type":"boolean"}`, `{"type":"string","not":{"enum":["a"]}}`,
		`{"type":"number","format":"email"}`, `{"type":"string","enum":["a",1]}`, `{"type":"integer","allOf":[{"minimum":5}]}`, `{}`,
	} {
		var s openapi3.Schema
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		schemas[&s] = true
	}

	values := []any{nil, true, false, []any{}, map[string]any{}}
	for _, n := range []string{"-1", "-0", "0", "1", "2", "5", "1.5", "0.01", "100000000000000", "9007199254740991", "9007199254740993", "-1e300", "1e300"} {
		values = append(values, json.Number(n))
	}

	for _, text := range []string{
		"", "a", "b", "á", "áé", "abc", "abcd", "\U0001f600\U0001f600", "\xff", "2024-02-29", "2023-02-30", "1899-12-31", "2024-02-29T10:00:00Z",
		"a@b.test", "https://a.test/b", "10.0.0.0/8", "EUR", "hu", "active", "point_add", strings.Repeat("x", 255), strings.Repeat("é", 255), strings.Repeat("x", 256), strings.Repeat("x", 70_000),
	} {
		values = append(values, text)
	}

	plain := 0
	for schema := range schemas {
		s := &Schema{source: schema, types: typesOf(schema), format: schema.Format, plain: isPlain(schema)}
		if !s.plain {
			continue
		}
		plain++
		for _, v := range values {
			err := schema.VisitJSON(v, validation...)
			left := v == nil || s.types == takesInteger && strings.HasSuffix(fmt.Sprint(v), "1e300") // to kin-openapi
			require.Equal(t, err == nil && !left, s.takes(v), "%v by %+v: %v", v, schema, err)
		}
	}

	require.Greater(t, plain, len(schemas)/4, "most scalars of the documents are plain")
}

// TestPlainKnowsItsKeywords: a schema that says more than takes looks at is not plain.
func TestPlainKnowsItsKeywords(t *testing.T) {
	for text, plain := range map[string]bool{
		`{"type":"string","description":"d","x-module":"coupons"}`: true,
		`{"type":"string","enum":["a"],"maxLength":3}`:             true,
		`{"type":"integer","format":"int64","minimum":1}`:          true,
		`{"type":"number","format":"decimal"}`:                     true,
		`{"type":"string","format":"instant"}`:                     true,
		`{"type":"string","pattern":"^a"}`:                         false,
		`{"type":"string","format":"password"}`:                    false,
		`{"type":"string","enum":["a",1]}`:                         false,
		`{"type":"number","enum":[1]}`:                             false,
		`{"type":"number","multipleOf":3}`:                         false,
		`{"type":"integer","minimum":0,"exclusiveMinimum":true}`:   false,
		`{"type":"string","not":{"enum":["a"]}}`:                   false,
		`{"allOf":[{"type":"string"}]}`:                            false,
		`{"oneOf":[{"type":"string"},{"type":"integer"}]}`:         false,
		`{"type":"array"}`:                                         false,
		`{"type":"object"}`:                                        false,
		`{}`:                                                       false,
	} {
		var s openapi3.Schema
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		require.Equal(t, plain, isPlain(&s), text)
	}
}

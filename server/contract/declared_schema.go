package contract

import (
	"encoding/json"
	"regexp/syntax"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// compile compiles a declared schema: its attributes and the attributes of every action. Attributes that begin with cf_
// are kept, and others if the schema allows them.
func (d *declarations) compile(text json.RawMessage) (*Schema, error) {
	d.mu.Lock()
	s := d.compiled[string(text)]
	d.mu.Unlock()
	if s != nil {
		return s, nil
	}

	schema, err := d.read(text)
	if err != nil {
		return nil, err
	}

	own, c := &Schema{source: schema}, NewCompiler()
	c.declared = true
	if err := c.fillObject(own); err != nil {
		return nil, loyalty.ErrPropertyInvalid.With("property", "schema").With("reason", "schema").At("schema").Because(err)
	}
	if s = own.extended(d.always); s.extra == noExtra {
		s.extra = customExtra
	}

	d.mu.Lock()
	keep(d.compiled, string(text), s)
	d.mu.Unlock()
	return s, nil
}

// read checks a schema against the language of schemas, and against the rules that this language cannot express.
func (d *declarations) read(text json.RawMessage) (*openapi3.Schema, error) {
	if len(text) > maxDeclaredSize {
		return nil, loyalty.ErrTooLarge.With("property", "schema").At("schema")
	}

	canonical, err := d.language.CheckJSON(text, "schema")
	if err != nil {
		return nil, err
	}

	schema := &openapi3.Schema{}
	if err := json.Unmarshal(canonical, schema); err != nil {
		return nil, loyalty.ErrPropertyInvalid.With("property", "schema").With("reason", "schema").At("schema").Because(err)
	}

	k := checker{prefix: "schema"}
	if !schema.Type.Is("object") {
		k.fault("must_be_one_of", "type", map[string]any{"property": "type", "values": []any{"object"}})
	}

	k.schema(schema)
	if len(k.faults) > 0 {
		return nil, k.failure()
	}

	return schema, nil
}

// schema notes the faults of a schema beyond its own form.
func (k *checker) schema(s *openapi3.Schema) {
	if s.Type.Is("array") && s.Items == nil {
		k.fault(loyalty.ErrPropertyEmpty.Name, "items", map[string]any{"property": "items"})
	}
	if _, err := syntax.Parse(s.Pattern, syntax.Perl); err != nil {
		k.fault("bad_format", "pattern", map[string]any{"property": "pattern", "format": "regexp"})
	}

	for i, name := range s.Required {
		if s.Properties[name] == nil {
			k.within([]step{{"required", -1}, {"", i}}, func() {
				k.fault("property_unknown", "", map[string]any{"property": name})
			})
		}
	}

	k.values(s)
	if s.Items != nil {
		k.within([]step{{"items", -1}}, func() { k.schema(s.Items.Value) })
	}

	for name, p := range s.Properties {
		k.within([]step{{"properties", -1}, {name, -1}}, func() { k.schema(p.Value) })
	}
}

// values checks the values of an enum against the rest of their schema.
func (k *checker) values(s *openapi3.Schema) {
	free, size := *s, 0
	if parsed, err := syntax.Parse(s.Pattern, syntax.Perl); err == nil && s.Pattern != "" {
		size = patternSize(parsed)
	}
	free.Enum = nil
	for i, value := range s.Enum {
		if text, ok := value.(string); ok && size > 0 && !k.affords(&Schema{pattern: size}, text) {
			return
		}
		if err := free.VisitJSON(value, validation...); err != nil {
			k.within([]step{{"enum", -1}, {"", i}}, func() { k.mustBe(typeNames(s)) })
		}
	}
}

// within calls do further down the path.
func (k *checker) within(path []step, do func()) {
	at := len(k.path)
	k.path = append(slices.Clip(k.path), path...)
	do()
	k.path = k.path[:at]
}

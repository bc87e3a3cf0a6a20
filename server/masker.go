package server

import (
	"bytes"
	"encoding/json"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// maskedText replaces a text that identifies a person.
const maskedText = "•••"

// personalNames are properties that identify a person in values that no document describes: the texts of a profile,
// unless many people share them, and other personal properties.
var personalNames = func() map[string]bool {
	names := map[string]bool{"labels": true, "reason": true,
		"review": true, "external_ids": true, "custom": true, "answer": true}
	for _, field := range loyalty.ProfileTexts {
		if !field.Shared {
			names[field.Name] = true
		}
	}
	return names
}()

// masker blanks personal data: by the schema of the answer, in the data of an event by its action, and elsewhere by
// name.
type masker struct {
	vocabulary *contract.Vocabulary
	found      bool                      // there was something to blank
	shapes     map[string]*loyalty.Shape // of the actions so far; nil: unknown action
}

// text masks a JSON text, and reports whether there was anything to mask. A text that cannot be
// parsed counts as personal and is removed as a whole.
func (m *masker) text(body []byte, schemas []*openapi3.Schema) (masked []byte, found bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return []byte("null"), true
	}

	m.found = false
	v = m.value(v, flat(schemas))
	if !m.found {
		return body, false
	}

	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return []byte("null"), true
	}

	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), true
}

// flat are schemas with all schemas that they are composed of.
func flat(schemas []*openapi3.Schema) (all []*openapi3.Schema) {
	for _, s := range schemas {
		if s == nil {
			continue
		}
		all = append(all, s)
		for _, parts := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
			for _, p := range parts {
				all = append(all, flat([]*openapi3.Schema{p.Value})...)
			}
		}
	}
	return all
}

func (m *masker) value(v any, schemas []*openapi3.Schema) any {
	for _, s := range schemas {
		if s.Extensions["x-personal"] == true {
			return m.blank(v)
		}
	}

	switch v := v.(type) {
	case map[string]any:
		m.object(v, schemas)
	case []any:
		var items []*openapi3.Schema
		for _, s := range schemas {
			if s.Items != nil {
				items = append(items, s.Items.Value)
			}
		}
		items = flat(items)
		for i := range v {
			v[i] = m.value(v[i], items)
		}
	}

	return v
}

func (m *masker) object(v map[string]any, schemas []*openapi3.Schema) {
	action, _ := v["action"].(string)

	for name, value := range v {
		if data, ok := value.(map[string]any); ok && name == "data" && action != "" {
			if shape := m.told(action); shape != nil {
				m.shaped(data, shape)
				continue
			}
		}
		under, declared := propertyOf(schemas, name)
		if !declared && (personalNames[name] || m.sealed(schemas, name)) {
			v[name] = m.blank(value)
			continue
		}
		v[name] = m.value(value, under)
	}
}

// told is the shape of an action's attributes, cached because an answer can have thousands of its events.
func (m *masker) told(action string) *loyalty.Shape {
	shape, met := m.shapes[action]
	if met {
		return shape
	}
	if shape, _ = m.vocabulary.Told(action); m.shapes == nil {
		m.shapes = map[string]*loyalty.Shape{}
	}
	m.shapes[action] = shape
	return shape
}

// sealed reports whether an attribute of an object that stands for an event (x-attributes) is sealed with that event.
func (m *masker) sealed(schemas []*openapi3.Schema, name string) bool {
	for _, s := range schemas {
		if action, _ := s.Extensions["x-attributes"].(string); action != "" {
			shape := m.told(action)
			return shape != nil && sealed(shape, name)
		}
	}
	return false
}

// sealed reports whether an attribute is sealed with its event. An undeclared one is, because it may be anything.
func sealed(shape *loyalty.Shape, name string) bool {
	a, declared := shape.Attributes[name]
	return a.Personal || !declared
}

// shaped masks the attributes of an event.
func (m *masker) shaped(data map[string]any, shape *loyalty.Shape) {
	for name, value := range data {
		a := shape.Attributes[name]
		switch {
		case sealed(shape, name):
			data[name] = m.blank(value)
		case a.Items != nil:
			lines, _ := value.([]any)
			for _, line := range lines {
				if l, ok := line.(map[string]any); ok {
					m.shaped(l, a.Items)
				}
			}
		default:
			data[name] = m.value(value, nil)
		}
	}
}

func propertyOf(schemas []*openapi3.Schema, name string) (under []*openapi3.Schema, declared bool) {
	for _, s := range schemas {
		if p := s.Properties[name]; p != nil {
			under, declared = append(under, p.Value), true
		} else if p := s.AdditionalProperties.Schema; p != nil {
			under = append(under, p.Value)
		}
	}
	return flat(under), declared
}

// blank keeps the type of a value and removes its content. An empty value stays as it is.
func (m *masker) blank(v any) any {
	var blank any
	switch v := v.(type) {
	case string:
		if v == "" {
			return v
		}
		blank = maskedText

	case []any:
		if len(v) == 0 {
			return v
		}
		blank = []any{}

	case map[string]any:
		if len(v) == 0 {
			return v
		}
		blank = map[string]any{}

	case json.Number:
		blank = 0
	case bool:
		blank = false
	case nil:
		return nil
	}

	m.found = true
	return blank
}

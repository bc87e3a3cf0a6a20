package contract

import (
	"github.com/getkin/kin-openapi/openapi3"
)

// DataSchema is the JSON Schema of the attributes of an action's events, including those that the programme declares;
// false if there is no such action. No attribute is required: personal attributes and those that were not sent are
// absent.
func (v *Vocabulary) DataSchema(name string) (map[string]any, bool) {
	a, ok := v.known(name)
	if !ok {
		return nil, false
	}
	return a.data.json(), true
}

// json is the schema of recorded data, as JSON Schema.
func (s *Schema) json() map[string]any {
	out := plainly(s.source)
	switch s.kind {
	case object:
		out["type"] = "object"
		properties := map[string]any{}
		for _, p := range s.order {
			properties[p.name] = p.schema.json()
		}
		if len(properties) > 0 {
			out["properties"] = properties
		}
		if s.other != nil {
			out["additionalProperties"] = s.other.json()
		}

	case list:
		out["type"] = "array"
		out["items"] = s.items.json()
	}

	return out
}

// plainly is the JSON Schema of a value itself, without its parts.
func plainly(s *openapi3.Schema) map[string]any {
	out := map[string]any{}
	if s.Type != nil && len(*s.Type) > 0 {
		types := append([]string(nil), *s.Type...)
		if s.Nullable {
			types = append(types, "null")
		}
		if out["type"] = types[0]; len(types) > 1 {
			out["type"] = types
		}
	}

	for word, text := range map[string]string{"format": s.Format, "description": s.Description} {
		if text != "" {
			out[word] = text
		}
	}

	if len(s.Enum) > 0 {
		out["enum"] = s.Enum
	}

	return out
}

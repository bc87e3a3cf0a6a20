package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Entities are the schemas of the entities, as x-entities of the Entities document names them.
type Entities struct {
	byType map[string]*Schema
	texts  *Schema // a translatable text
}

// EntitiesOf reads the schemas of the entities from the Entities document. It fails if that is missing, or if
// x-entities names something that is not an object.
func EntitiesOf(documents []Document) (*Entities, error) {
	for _, d := range documents {
		if d.API == "entities" {
			s, err := newEntitySchemas(d.Spec)
			if err != nil {
				return nil, fmt.Errorf("entities: %w", err)
			}
			return s, nil
		}
	}
	return nil, fmt.Errorf("the contract has no entities")
}

// newEntitySchemas reads the Entities document. It fails if x-entities names something that is not an object.
func newEntitySchemas(doc *openapi3.T) (*Entities, error) {
	named, _ := doc.Extensions["x-entities"].(map[string]any)
	c, s := NewCompiler(), &Entities{byType: make(map[string]*Schema, len(named))}
	for kind, name := range named {
		name, _ := name.(string)
		fields, err := c.Compile(doc.Components.Schemas[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		if fields.kind != object {
			return nil, fmt.Errorf("%s: %s is not an object", kind, name)
		}
		s.byType[kind] = fields
	}

	if len(s.byType) == 0 {
		return nil, fmt.Errorf("x-entities is empty")
	}

	for _, choosing := range c.done {
		choosing.unknown = nil // no handler needs branches of its own
	}

	var err error
	s.texts, err = c.Compile(doc.Components.Schemas["Translations"])
	return s, err
}

// Of returns the schema of a type, extended by the attributes that the programme declares for it. It fails with
// ErrEntityUnknown.
func (s *Entities) Of(kind string, p *programme.Programme) (*Schema, error) {
	fields, ok := s.byType[kind]
	if p.OwnTypes[kind] {
		fields, ok = s.byType[ownTypes], true
	}
	if !ok {
		return nil, loyalty.ErrEntityUnknown.With("type", kind)
	}

	declared := p.Attributes[kind]
	if len(declared) == 0 {
		return fields, nil
	}

	by := &Schema{byName: map[string]*Schema{}}
	for _, a := range declared {
		by.order = append(by.order, property{"cf_" + a.Name, s.attribute(a)})
	}

	return fields.extended(by), nil
}

// Has reports whether the document gives a type of entity a property. Attributes that the programme declares do not
// count.
func (s *Entities) Has(kind, property string) bool {
	fields := s.byType[kind]
	return fields != nil && fields.byName[property] != nil
}

// ownTypes is the name in x-entities for the types that the programme declares.
const ownTypes = "custom/{kind}"

// maxAttribute bounds the text of a declared attribute, in characters.
const maxAttribute = 10_000

// attribute is the schema of a declared attribute's values.
func (s *Entities) attribute(a *loyalty.CustomAttribute) *Schema {
	if a.Translatable {
		return s.texts
	}

	schema := openapi3.NewStringSchema().WithMaxLength(maxAttribute)
	switch a.Type {
	case "number":
		schema = openapi3.NewFloat64Schema()
	case "integer":
		schema = openapi3.NewInt64Schema()
	case "boolean":
		schema = openapi3.NewBoolSchema()
	case "date":
		schema = openapi3.NewStringSchema().WithFormat("date")
	}

	return &Schema{source: schema, types: typesOf(schema), format: schema.Format}
}

// Creation reads the fields of a new entity from a body, without its id, as canonical JSON. It fails as Check does.
func (s *Schema) Creation(body any) (json.RawMessage, error) {
	switch v := body.(type) {
	case map[string]any:
		delete(v, "id")
	case *Form:
		delete(v.children, "id")
	}
	tree, err := s.Check(body, "")
	if err != nil {
		return nil, err
	}
	return AppendJSON(nil, tree), nil
}

// Patch reads the fields of an update: each named field as a whole, and null for a field that is to be removed. In a
// form an empty value stands for null. Required fields are checked when the patch is applied to the entity. It fails as
// Check does, and with ErrPropertyUnknown for a field to be removed that does not exist.
func (s *Schema) Patch(body any) (json.RawMessage, error) { return s.PatchAt(body, "") }

// PatchAt is Patch with a prefix for the fields of its errors.
func (s *Schema) PatchAt(body any, at string) (json.RawMessage, error) {
	sent, gone := s.withoutCleared(body)
	part := *s
	part.required = nil
	tree, err := part.Check(sent, at)
	if err != nil {
		return nil, err
	}

	changes, _ := tree.(map[string]any)
	for _, name := range gone {
		if s.byName[name] == nil && !IsCustom(name) {
			k := checker{prefix: at}
			return nil, loyalty.ErrPropertyUnknown.With("property", name).At(k.field(name))
		}
		changes[name] = nil
	}

	return AppendJSON(nil, changes), nil
}

// withoutCleared takes the properties out of a body that are to be removed: null, and in a form empty. It changes the
// body, and returns the rest and the names of the removed properties in alphabetical order. A body that is no object
// stays as it is, for check to refuse.
func (s *Schema) withoutCleared(body any) (sent any, gone []string) {
	m, ok := body.(map[string]any)
	if form, isForm := body.(*Form); isForm {
		m, _ = form.open(s).(map[string]any)
		ok = m != nil
	}

	if !ok {
		return body, nil
	}

	for _, name := range slices.Sorted(maps.Keys(m)) {
		if v := m[name]; v == nil || isBlankForm(v) {
			gone = append(gone, name)
			delete(m, name)
		}
	}

	return m, gone
}

func isBlankForm(v any) bool {
	n, ok := v.(*Form)
	return ok && n.isText && n.text == ""
}

// IsCustom reports whether a property is a custom attribute: cf_ and a name.
func IsCustom(name string) bool { return len(name) > 3 && name[:3] == "cf_" }

package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// entitySchemas are the schemas of the entities, as x-entities of the Entities
// document names them.
type entitySchemas struct {
	byType map[string]*shape
	texts  *shape // a translatable text
}

// entitiesOf reads the schemas of the entities from the document that has them.
func entitiesOf(documents []document) (*entitySchemas, error) {
	for _, d := range documents {
		if d.api == "entities" {
			s, err := newEntitySchemas(d.spec)
			if err != nil {
				return nil, fmt.Errorf("entities: %w", err)
			}
			return s, nil
		}
	}
	return nil, fmt.Errorf("the contract has no entities")
}

// newEntitySchemas reads the Entities document. It fails when x-entities names
// something that is not an object.
func newEntitySchemas(doc *openapi3.T) (*entitySchemas, error) {
	named, _ := doc.Extensions["x-entities"].(map[string]any)
	c, s := newCompiler(), &entitySchemas{byType: make(map[string]*shape, len(named))}
	for kind, name := range named {
		name, _ := name.(string)
		fields, err := c.compile(doc.Components.Schemas[name])
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
		choosing.unknown = nil // no handler looks for branches of its own
	}
	var err error
	s.texts, err = c.compile(doc.Components.Schemas["Translations"])
	return s, err
}

// of gives the schema of a type together with the attributes that the programme
// declares for it. It fails with ErrEntityUnknown.
func (s *entitySchemas) of(kind string, p *loyalty.Programme) (*shape, error) {
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
	by := &shape{byName: map[string]*shape{}}
	for _, a := range declared {
		by.order = append(by.order, property{"cf_" + a.Name, s.attribute(a)})
	}
	return fields.extended(by), nil
}

// ownTypes stands in x-entities for the types of the programme's own.
const ownTypes = "custom/{kind}"

// maxAttribute bounds the text of a declared attribute, in characters.
const maxAttribute = 10_000

// attribute is the shape of a declared attribute's values.
func (s *entitySchemas) attribute(a *loyalty.CustomAttribute) *shape {
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
	return &shape{schema: schema, types: typesOf(schema), format: schema.Format}
}

// creation reads the fields of a new entity from a body; its id is not one of
// them. A form's values get the types of the schema.
func creation(fields *shape, body any) (json.RawMessage, error) {
	switch v := body.(type) {
	case map[string]any:
		delete(v, "id")
	case *formNode:
		delete(v.children, "id")
	}
	tree, err := fields.check(body, "")
	if err != nil {
		return nil, err
	}
	return appendJSON(nil, tree), nil
}

// patch reads the fields that an update sends: those it names, each as a whole,
// and null for those that go. In a form an empty value stands for null. What is
// required is looked at when the patch is applied.
func patch(fields *shape, body any) (json.RawMessage, error) { return patchAt(fields, body, "") }

// patchAt is patch with what stands before the fields of its errors.
func patchAt(fields *shape, body any, at string) (json.RawMessage, error) {
	sent, gone := withoutNulls(fields, body)
	part := *fields
	part.required = nil
	tree, err := part.check(sent, at)
	if err != nil {
		return nil, err
	}
	changes, _ := tree.(map[string]any)
	for _, name := range gone {
		if fields.byName[name] == nil && !isCustom(name) {
			k := checker{prefix: at}
			return nil, loyalty.ErrPropertyUnknown.With("property", name).At(k.field(name))
		}
		changes[name] = nil
	}
	return appendJSON(nil, changes), nil
}

// withoutNulls takes the properties out of a body that are to go. The body is
// changed; what is no object is left to the schema.
func withoutNulls(fields *shape, body any) (sent any, gone []string) {
	m, ok := body.(map[string]any)
	if form, isForm := body.(*formNode); isForm {
		m, _ = form.open(fields).(map[string]any)
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
	n, ok := v.(*formNode)
	return ok && n.isText && n.text == ""
}

func isCustom(name string) bool { return len(name) > 3 && name[:3] == "cf_" }

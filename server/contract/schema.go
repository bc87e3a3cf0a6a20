package contract

import (
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// kind tells how the values of a schema are walked.
type kind uint8

const (
	scalar kind = iota // validated by kin-openapi as a whole, of any type
	object             // declared properties
	list               // items of one schema
	oneOf              // oneOf with a discriminator
	either             // oneOf of a scalar and a list: a list has the second schema, any other value the first
)

// extraRule tells how to handle properties that a schema does not declare.
type extraRule uint8

const (
	noExtra     extraRule = iota // refused
	customExtra                  // x-extra: custom; names that begin with cf_ are kept
	anyExtra                     // x-extra: any
	typedExtra                   // additionalProperties with a schema
)

// Schema is a compiled schema of a request. This package walks the objects and lists of a body, so that every fault has
// a path and an order; kin-openapi validates the scalars in them. A Schema never changes and may be used by many
// goroutines.
type Schema struct {
	source   *openapi3.Schema
	kind     kind
	nullable bool
	types    typeSet
	plain    bool // a scalar that takes can decide on; see plain.go
	format   string
	trimmed  bool // x-blanks: trimmed; blanks around the text do not belong to it
	id       bool // x-characters: id; the text has only the characters of ids
	pattern  int  // the size of a declared pattern; 0: none

	order    []property // required ones first, in the document's order
	byName   map[string]*Schema
	required []string
	extra    extraRule
	other    *Schema // of typedExtra
	keys     string  // x-keys: the format of the names of typedExtra; language is ISO 639-1, id has no blanks around it

	items *Schema // of list

	one, several *Schema // of either

	by       string // discriminator
	branches map[string]*Schema
	unknown  *Schema // for an unknown value of the discriminator; nil: refused
	// lookup, if set, replaces branches: some branches are declared by the programme.
	lookup func(string) *Schema
}

type property struct {
	name   string
	schema *Schema
}

// typeSet is the set of types that a scalar accepts. The text of a form is converted to one of them.
type typeSet uint8

const (
	takesText typeSet = 1 << iota
	takesInteger
	takesNumber
	takesBoolean
	takesArray
	takesObject
)

var typeNamed = map[string]typeSet{
	"string": takesText, "integer": takesInteger, "number": takesNumber,
	"boolean": takesBoolean, "array": takesArray, "object": takesObject,
}

// Compiler makes Schemas, one for each schema of a document however often it is referred to. Two goroutines must not
// use it at once.
type Compiler struct {
	done     map[*openapi3.Schema]*Schema
	declared bool // by the programme, whose patterns may be expensive
}

// NewCompiler returns an empty compiler.
func NewCompiler() *Compiler { return &Compiler{done: map[*openapi3.Schema]*Schema{}} }

// Compile compiles a schema and everything it refers to. It fails, naming the place, for a schema that is not resolved
// or cannot be walked: a discriminator without a mapping, a branch that is no object, an unknown x-extra.
func (c *Compiler) Compile(ref *openapi3.SchemaRef) (*Schema, error) {
	if ref == nil || ref.Value == nil {
		return nil, fmt.Errorf("a schema is not resolved")
	}
	if s, ok := c.done[ref.Value]; ok {
		return s, nil
	}
	s := &Schema{source: ref.Value, nullable: ref.Value.Nullable, format: ref.Value.Format}
	c.done[ref.Value] = s // before its parts: a schema may contain itself
	return s, c.fill(s)
}

func (c *Compiler) fill(s *Schema) error {
	schema := s.source
	switch {
	case isReference(schema):
		part, err := c.Compile(schema.AllOf[0])
		if err == nil {
			*s = *part
		}
		return err

	case schema.Discriminator != nil && len(schema.OneOf) > 0:
		return c.fillOneOf(s)
	case len(schema.OneOf) == 2 && isList(schema.OneOf[1]):
		return c.fillEither(s)
	case schema.Type.Is("array") && schema.Items != nil:
		s.kind = list
		var err error
		s.items, err = c.Compile(schema.Items)
		return err

	case hasProperties(schema) || schema.AdditionalProperties.Schema != nil || isBare(schema):
		return c.fillObject(s)
	}

	s.types, s.plain, s.trimmed = typesOf(schema), isPlain(schema), extension(schema, "x-blanks") == "trimmed"
	s.id = extension(schema, "x-characters") == "id"
	if c.declared && schema.Pattern != "" {
		parsed, err := syntax.Parse(schema.Pattern, syntax.Perl)
		if err != nil {
			return err
		}
		s.pattern = patternSize(parsed)
	}

	return nil
}

// isReference reports whether a schema only adds a description to another one, which OpenAPI 3.0 can write only as
// allOf.
func isReference(schema *openapi3.Schema) bool {
	return len(schema.AllOf) == 1 && schema.Type == nil && len(schema.Properties) == 0 && !schema.Nullable &&
		len(schema.Extensions) == 0
}

// isBare reports whether a schema is an object without properties, the body of an operation that needs none. Properties
// that are sent to it nevertheless are reported by name.
func isBare(schema *openapi3.Schema) bool {
	additional := schema.AdditionalProperties.Has
	return schema.Type.Is("object") && additional != nil && !*additional
}

func hasProperties(schema *openapi3.Schema) bool {
	return len(schema.Properties) > 0 ||
		slices.ContainsFunc(schema.AllOf,
			func(r *openapi3.SchemaRef) bool { return r.Value != nil && hasProperties(r.Value) })
}

// fillObject collects the properties of a schema and of the schemas that it is composed of.
func (c *Compiler) fillObject(s *Schema) error {
	s.kind, s.byName = object, map[string]*Schema{}
	if err := c.gather(s, s.source); err != nil {
		return err
	}

	for _, name := range s.required {
		if p := s.byName[name]; p != nil {
			s.order = append(s.order, property{name, p})
		}
	}

	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		if !slices.Contains(s.required, name) {
			s.order = append(s.order, property{name, s.byName[name]})
		}
	}

	return c.fillExtra(s)
}

func (c *Compiler) gather(s *Schema, schema *openapi3.Schema) error {
	for _, part := range schema.AllOf {
		if part.Value == nil {
			return fmt.Errorf("allOf is not resolved")
		}
		if err := c.gather(s, part.Value); err != nil {
			return err
		}
	}

	for name, ref := range schema.Properties {
		p, err := c.Compile(ref)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.byName[name] = p
	}

	for _, name := range schema.Required {
		if !slices.Contains(s.required, name) {
			s.required = append(s.required, name)
		}
	}

	return nil
}

// fillExtra reads x-extra and additionalProperties. A schema without them accepts only its declared properties: a
// misspelt name must never be ignored.
func (c *Compiler) fillExtra(s *Schema) (err error) {
	additional := s.source.AdditionalProperties
	switch rule, _ := s.source.Extensions["x-extra"].(string); {
	case rule == "custom":
		s.extra = customExtra
	case rule == "any", rule == "" && additional.Has != nil && *additional.Has:
		s.extra = anyExtra
	case rule != "":
		return fmt.Errorf("x-extra: %s is not known", rule)
	case additional.Schema != nil:
		s.extra, s.keys = typedExtra, extension(s.source, "x-keys")
		s.other, err = c.Compile(additional.Schema)
	}
	return err
}

func isList(ref *openapi3.SchemaRef) bool { return ref.Value != nil && ref.Value.Type.Is("array") }

// fillEither compiles a schema for one value or a list of them. The first schema decides on null.
func (c *Compiler) fillEither(s *Schema) (err error) {
	s.kind = either
	if s.one, err = c.Compile(s.source.OneOf[0]); err != nil {
		return err
	}
	s.several, err = c.Compile(s.source.OneOf[1])
	s.nullable = s.one.nullable
	return err
}

func (c *Compiler) fillOneOf(s *Schema) error {
	s.kind, s.by, s.branches = oneOf, s.source.Discriminator.PropertyName, map[string]*Schema{}
	byRef := map[string]*openapi3.SchemaRef{}
	for _, ref := range s.source.OneOf {
		byRef[ref.Ref] = ref
	}

	for value, target := range s.source.Discriminator.Mapping {
		ref := byRef[target.Ref]
		if ref == nil {
			return fmt.Errorf("discriminator %s: %s is not among oneOf", s.by, value)
		}
		branch, err := c.Compile(ref)
		if err != nil {
			return fmt.Errorf("%s: %w", value, err)
		}
		if branch.kind != object {
			return fmt.Errorf("%s: a branch must be an object", value)
		}
		s.branches[value] = branch
	}

	if len(s.branches) == 0 {
		return fmt.Errorf("discriminator %s has no mapping", s.by)
	}

	s.unknown = s.openBranch()
	return nil
}

// openBranch is the schema for a value of the discriminator that the document lacks: the common properties of all
// branches, with everything else allowed. The engine then reports what is wrong with the value: an action may be
// unknown, internal, or declared by the programme.
func (s *Schema) openBranch() *Schema {
	first := s.branches[slices.Min(slices.Collect(maps.Keys(s.branches)))]
	open := &Schema{
		source: openapi3.NewObjectSchema(), kind: object, required: first.required,
		byName: map[string]*Schema{}, extra: first.extra, other: first.other,
	}
	for _, p := range first.order {
		open.order = append(open.order, property{p.name, s.shared(p)})
		open.byName[p.name] = open.order[len(open.order)-1].schema
	}
	return open
}

// shared is a property that all branches have: its schema if it is the same in all of them, else only its type.
func (s *Schema) shared(p property) *Schema {
	for _, branch := range s.branches {
		if branch.byName[p.name] != p.schema {
			bare := &openapi3.Schema{Type: p.schema.source.Type}
			return &Schema{source: bare, types: typesOf(bare)}
		}
	}
	return p.schema
}

// extended is a copy of an object with the additional properties of a second one; its own come first and win. Without a
// second one it is a plain copy.
func (s *Schema) extended(by *Schema) *Schema {
	out := *s
	out.order, out.byName, out.required = slices.Clone(s.order), maps.Clone(s.byName), slices.Clone(s.required)
	if by == nil {
		return &out
	}

	for _, p := range by.order {
		if out.byName[p.name] != nil {
			continue
		}
		out.order, out.byName[p.name] = append(out.order, p), p.schema
		if slices.Contains(by.required, p.name) {
			out.required = append(out.required, p.name)
		}
	}

	return &out
}

// replace gives a property another schema.
func (s *Schema) replace(name string, with *Schema) {
	s.byName[name] = with
	for i := range s.order {
		if s.order[i].name == name {
			s.order[i].schema = with
		}
	}
}

// drop takes a property out of an object.
func (s *Schema) drop(name string) {
	delete(s.byName, name)
	s.order = slices.DeleteFunc(s.order, func(p property) bool { return p.name == name })
	s.required = slices.DeleteFunc(s.required, func(r string) bool { return r == name })
}

// typesOf returns the types that a scalar accepts: its own, or those of the schemas that it is composed of.
func typesOf(schema *openapi3.Schema) (t typeSet) {
	for _, name := range schema.Type.Slice() {
		t |= typeNamed[name]
	}

	if t != 0 {
		return t
	}

	for _, refs := range []openapi3.SchemaRefs{schema.AllOf, schema.AnyOf, schema.OneOf} {
		for _, ref := range refs {
			if ref.Value != nil {
				t |= typesOf(ref.Value)
			}
		}
	}

	return t
}

package portal

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// deepest bounds the nesting of listed fields.
const deepest = 5

// fieldList lists the fields of a schema in Markdown, with the fields inside them below.
type fieldList struct {
	strings.Builder
	within []*openapi3.Schema // the schemas being listed, so that a recursive one is listed once
}

// fieldsOf lists the fields of a schema.
func fieldsOf(s *openapi3.Schema) string {
	var l fieldList
	l.object(s, 0)
	return l.String()
}

// object lists the fields of an object, or of a list's items.
func (l *fieldList) object(s *openapi3.Schema, depth int) {
	if s == nil || depth > deepest || slices.Contains(l.within, s) {
		return
	}

	l.within = append(l.within, s)
	defer func() { l.within = l.within[:len(l.within)-1] }()
	properties, required := properties(s)
	names := slices.Sorted(maps.Keys(properties))
	slices.SortStableFunc(names, func(a, b string) int { return rank(required, a) - rank(required, b) })
	for _, name := range names {
		l.field(name, properties[name].Value, slices.Contains(required, name), depth)
	}

	if extra := s.AdditionalProperties.Schema; extra != nil && extra.Value != nil {
		l.field("any name", extra.Value, false, depth)
	}
	if s.Items != nil {
		l.object(s.Items.Value, depth)
	}
}

// rank puts required fields first.
func rank(required []string, name string) int {
	if slices.Contains(required, name) {
		return 0
	}
	return 1
}

func (l *fieldList) field(name string, s *openapi3.Schema, required bool, depth int) {
	indent := strings.Repeat("  ", depth)
	notes := kind(s)
	if required {
		notes += ", required"
	}

	fmt.Fprintf(l, "%s- `%s` *%s*", indent, name, notes)
	if module := textOf(s, "x-module"); module != "" {
		fmt.Fprintf(l, ", module [%s](/docs/modules/%s)", module, module)
	}
	if s.Extensions["x-personal"] == true {
		l.WriteString(", personal")
	}

	if text := strings.TrimSpace(description(s)); text != "" {
		before := " — "
		if strings.HasPrefix(text, "- ") { // a list begins on its own line
			before = "\n" + indent + "  "
		}
		l.WriteString(before + strings.ReplaceAll(text, "\n", "\n"+indent+"  "))
	}

	l.WriteString("\n")
	inner := s
	if s.Items != nil {
		inner = s.Items.Value
	}

	l.object(inner, depth+1)
}

// properties are the fields of a schema and of all schemas that it is composed of.
func properties(s *openapi3.Schema) (openapi3.Schemas, []string) {
	all, required := maps.Clone(s.Properties), slices.Clone(s.Required)
	if all == nil {
		all = openapi3.Schemas{}
	}

	for _, part := range s.AllOf {
		more, needed := properties(part.Value)
		for name, p := range more {
			if all[name] == nil {
				all[name] = p
			}
		}
		required = append(required, needed...)
	}

	return all, required
}

// description is the description of a schema, or of the one schema that it refers to.
func description(s *openapi3.Schema) string {
	if s.Description == "" && len(s.AllOf) == 1 {
		return description(s.AllOf[0].Value)
	}
	return s.Description
}

// kind describes the type and bounds of a value.
func kind(s *openapi3.Schema) string {
	if len(s.AllOf) == 1 && s.Type == nil {
		return kind(s.AllOf[0].Value)
	}

	var notes []string
	switch {
	case len(s.OneOf)+len(s.AnyOf) > 0:
		for _, one := range append(slices.Clone(s.OneOf), s.AnyOf...) {
			if name := path.Base(one.Ref); one.Ref != "" {
				notes = append(notes, name)
			} else {
				notes = append(notes, kind(one.Value))
			}
		}
		return strings.Join(slices.Compact(notes), " or ")

	case s.Type.Is("array") && s.Items != nil:
		notes = append(notes, "list of "+kind(s.Items.Value))
	case s.Type != nil:
		notes = append(notes, strings.Join(s.Type.Slice(), " or "))
	default:
		notes = append(notes, "value")
	}

	if s.Format != "" && s.Format != "int64" {
		notes = append(notes, s.Format)
	}
	if s.Nullable {
		notes = append(notes, "or null")
	}

	return strings.Join(append(notes, bounds(s)...), ", ")
}

func bounds(s *openapi3.Schema) (notes []string) {
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprintf("`%v`", v)
		}
		if len(values) > 12 {
			values = append(values[:12], "…")
		}
		notes = append(notes, "one of "+strings.Join(values, " "))
	}

	if s.Min != nil {
		notes = append(notes, "from "+number(*s.Min))
	}
	if s.Max != nil {
		notes = append(notes, "to "+number(*s.Max))
	}
	if s.MaxLength != nil {
		notes = append(notes, fmt.Sprintf("at most %d characters", *s.MaxLength))
	}
	if s.MaxItems != nil {
		notes = append(notes, fmt.Sprintf("at most %d entries", *s.MaxItems))
	}
	if s.Pattern != "" && !strings.Contains(s.Pattern, "`") {
		notes = append(notes, "written as `"+s.Pattern+"`")
	}

	return notes
}

// number writes a bound without an exponent.
func number(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.4f", f), "0"), ".")
}

// textOf is a text among what a schema has beside OpenAPI's own.
func textOf(s *openapi3.Schema, name string) string {
	text, _ := s.Extensions[name].(string)
	return text
}

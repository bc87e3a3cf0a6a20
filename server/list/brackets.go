package list

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Brackets is the filter grammar of one operation of the Loyalty Read API, made from its declaration:
// filter[attribute][operator]=value, sort[index][field] and sort[index][direction]. An operation gets it by declaring
// the parameters filter and sort; there is no table in Go.
type Brackets struct {
	fields map[string]bracketField
	sorts  []string // the fields to sort by
}

// bracketField is an attribute to filter by.
type bracketField struct {
	Field
	operators []string
}

// The parameters of the grammar, without their brackets.
const (
	filterParameter = "filter"
	sortParameter   = "sort"
)

// NewBrackets returns the grammar of an operation without declarations.
func NewBrackets() *Brackets { return &Brackets{fields: map[string]bracketField{}} }

// Add adds the declaration of a parameter of the style deepObject: filter or sort. It fails for a declaration that the
// grammar does not support.
func (b *Brackets) Add(p *openapi3.Parameter) error {
	switch p.Name {
	case filterParameter:
		for name, ref := range p.Schema.Value.Properties {
			f, err := bracketFieldOf(ref.Value)
			if err != nil {
				return fmt.Errorf("%s[%s]: %w", p.Name, name, err)
			}
			b.fields[name] = f
		}
		return nil

	case sortParameter:
		key := p.Schema.Value.AdditionalProperties.Schema
		if key == nil || key.Value.Properties["field"] == nil {
			return fmt.Errorf("%s has no fields", p.Name)
		}
		for _, name := range key.Value.Properties["field"].Value.Enum {
			b.sorts = append(b.sorts, fmt.Sprint(name))
		}
		return nil
	}

	return fmt.Errorf("the parameter %s cannot be nested", p.Name)
}

// bracketFieldOf derives the kind of an attribute from the schema of its operator eq.
func bracketFieldOf(s *openapi3.Schema) (f bracketField, err error) {
	eq := s.Properties[string(loyalty.Eq)]
	if eq == nil {
		return f, fmt.Errorf("it cannot equal anything")
	}

	switch v := eq.Value; {
	case v.Type.Is("integer"):
		f.Kind = Integer
	case v.Format == "day-or-instant":
		f.Kind = Instant
	case len(v.Enum) > 0:
		f.Kind = Choice
		for _, choice := range v.Enum {
			f.Choices = append(f.Choices, fmt.Sprint(choice))
		}
	case v.Type.Is("string") && v.Format == "":
		f.Kind = Text
	default:
		return f, fmt.Errorf("values of this type cannot be compared")
	}

	for name := range s.Properties {
		f.operators = append(f.operators, name)
	}

	slices.Sort(f.operators)
	return f, nil
}

// Owns reports whether a query parameter belongs to the grammar, well-formed or not. A nil grammar owns none.
func (b *Brackets) Owns(name string) bool {
	root, _, _ := strings.Cut(name, "[")
	return b != nil && (root == filterParameter && len(b.fields) > 0 || root == sortParameter && len(b.sorts) > 0)
}

// Repeats reports whether a parameter may be repeated: filter[a][in][].
func (b *Brackets) Repeats(name string) bool { return b.Owns(name) && strings.HasSuffix(name, "[]") }

// brackets splits a name: filter[a][in][] becomes filter, a, in and the empty text.
func brackets(name string) (parts []string, ok bool) {
	root, rest, nested := strings.Cut(name, "[")
	if !nested || !strings.HasSuffix(rest, "]") {
		return nil, false
	}
	parts = append([]string{root}, strings.Split(rest[:len(rest)-1], "][")...)
	return parts, !slices.ContainsFunc(parts, func(p string) bool { return strings.ContainsAny(p, "[]") })
}

// Read reads the filters and sort keys of a request. It fails, with 422 and naming the parameter, for a filter that the
// operation does not declare and for a value that cannot be read. Values of conditions are text, int64 or an instant;
// dates are instants, a bare day its midnight in UTC.
func (b *Brackets) Read(query []Pair) ([]loyalty.Condition, []loyalty.Sorting, error) {
	var conditions []loyalty.Condition
	var keys sortKeys
	for _, p := range query {
		if !b.Owns(p.Name) {
			continue
		}

		parts, ok := brackets(p.Name)
		if !ok {
			return nil, nil, errFilterForm.With("parameter", p.Name).At(p.Name)
		}

		var err error
		if parts[0] == sortParameter {
			err = keys.take(b.sorts, p, parts[1:])
		} else {
			conditions, err = b.take(conditions, p, parts[1:])
		}

		if err != nil {
			return nil, nil, err
		}
	}

	sorts, err := keys.inOrder()
	return conditions, sorts, err
}

// take adds one parameter, filter[attribute][operator], to the conditions. A list has commas, or one parameter for each
// element behind the operator.
func (b *Brackets) take(conditions []loyalty.Condition, p Pair, at []string) ([]loyalty.Condition, error) {
	f, known := b.fields[at[0]]
	switch {
	case at[0] == "":
		return nil, errFilterForm.With("parameter", p.Name).At(p.Name)
	case !known:
		return nil, errFilterField.With("field", at[0]).At(p.Name)
	case len(at) < 2 || len(at) > 3:
		return nil, errFilterForm.With("parameter", p.Name).At(p.Name)
	case !slices.Contains(f.operators, at[1]):
		return nil, errFilterOperator.With("field", at[0]).With("operator", at[1]).At(p.Name)
	}

	op, texts := loyalty.Operator(at[1]), []string{p.Value}
	list := op == loyalty.In || op == loyalty.Nin
	if element := len(at) == 3; element && (!list || !isElement(at[2])) {
		return nil, errFilterForm.With("parameter", p.Name).At(p.Name)
	} else if list && !element {
		texts = strings.Split(p.Value, ",")
	}

	values := make([]any, len(texts))
	for i, text := range texts {
		v, ok := f.exact(text)
		if !ok {
			return nil, errFilterValue.With("field", at[0]).With("reason", f.unreadable()).At(p.Name)
		}
		values[i] = v
	}

	if list {
		for i := range conditions {
			if c := &conditions[i]; c.Field == at[0] && c.Operator == op {
				c.Values = append(c.Values, values...)
				return conditions, nil
			}
		}
	}

	return append(conditions, loyalty.Condition{Field: at[0], Operator: op, Values: values}), nil
}

// isElement reports whether a text can be the place of an element: a number, or empty for the next one.
func isElement(text string) bool {
	_, err := strconv.ParseUint(text, 10, 31)
	return text == "" || err == nil
}

// exact reads a value by this grammar: dates are instants, never days.
func (f Field) exact(text string) (any, bool) {
	if f.Kind != Instant {
		return f.value(text)
	}
	s, ok := readSpan(text)
	return s.From, ok
}

// unreadable names the reason why a value of the field cannot be read.
func (f Field) unreadable() string {
	switch f.Kind {
	case Instant:
		return "instant"
	case Integer:
		return "whole_number"
	}
	return "choice"
}

// sortKeys are the sort keys of a request in the order of the query.
type sortKeys []sortKey

type sortKey struct {
	index      uint64
	parameter  string // of the field, or the first parameter of the key
	field      string
	descending bool
}

// take adds one parameter, sort[index][field] or sort[index][direction].
func (s *sortKeys) take(fields []string, p Pair, at []string) error {
	index, err := strconv.ParseUint(at[0], 10, 31)
	if err != nil || len(at) != 2 {
		return errFilterForm.With("parameter", p.Name).At(p.Name)
	}

	k := s.at(index, p.Name)
	switch at[1] {
	case "field":
		if p.Value == "" {
			return errSortNothing.With("field", p.Name).At(p.Name)
		}
		if !slices.Contains(fields, p.Value) {
			return errSortField.With("field", p.Value).At(p.Name)
		}
		k.field, k.parameter = p.Value, p.Name

	case "direction":
		if p.Value != "asc" && p.Value != "desc" {
			return errSortDirection.With("direction", p.Value).At(p.Name)
		}
		k.descending = p.Value == "desc"

	default:
		return errFilterForm.With("parameter", p.Name).At(p.Name)
	}

	return nil
}

// at finds the key of an index, or adds it.
func (s *sortKeys) at(index uint64, parameter string) *sortKey {
	for i := range *s {
		if (*s)[i].index == index {
			return &(*s)[i]
		}
	}
	*s = append(*s, sortKey{index: index, parameter: parameter})
	return &(*s)[len(*s)-1]
}

// inOrder returns the keys, the primary one first. It fails for a direction without a field, and for a field in two
// keys.
func (s sortKeys) inOrder() ([]loyalty.Sorting, error) {
	slices.SortFunc(s, func(a, b sortKey) int { return cmp.Compare(a.index, b.index) })
	var keys []loyalty.Sorting
	for _, k := range s {
		if k.field == "" {
			return nil, errSortNothing.With("field", fmt.Sprintf("%s[%d][field]", sortParameter, k.index)).At(k.parameter)
		}
		twice := slices.ContainsFunc(keys, func(o loyalty.Sorting) bool { return o.Field == k.field })
		if twice {
			return nil, errSortField.With("field", k.field).At(k.parameter)
		}
		keys = append(keys, loyalty.Sorting{Field: k.field, Descending: k.descending})
	}
	return keys, nil
}

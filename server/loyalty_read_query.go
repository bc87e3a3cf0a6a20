package server

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// bracketed is the grammar of one operation of the Loyalty Read API, made from its
// declaration: filter[attribute][operator]=value and sort[index][field], with
// sort[index][direction]. Another operation gets it by declaring the parameters
// filter and sort; there is no table in Go.
type bracketed struct {
	fields map[string]bracketField
	sorts  []string // the fields that sort
}

// bracketField is an attribute that can be filtered by.
type bracketField struct {
	field
	operators []string
}

// The parameters of the grammar, without their brackets.
const (
	filterParameter = "filter"
	sortParameter   = "sort"
)

// addBracketed takes over a parameter of the style deepObject. It fails for a
// declaration that the grammar cannot follow.
func (o *operation) addBracketed(p *openapi3.Parameter) error {
	if o.bracketed == nil {
		o.bracketed = &bracketed{fields: map[string]bracketField{}}
	}
	switch p.Name {
	case filterParameter:
		for name, ref := range p.Schema.Value.Properties {
			f, err := bracketFieldOf(ref.Value)
			if err != nil {
				return fmt.Errorf("%s[%s]: %w", p.Name, name, err)
			}
			o.bracketed.fields[name] = f
		}
		return nil
	case sortParameter:
		key := p.Schema.Value.AdditionalProperties.Schema
		if key == nil || key.Value.Properties["field"] == nil {
			return fmt.Errorf("%s has no fields", p.Name)
		}
		for _, name := range key.Value.Properties["field"].Value.Enum {
			o.bracketed.sorts = append(o.bracketed.sorts, fmt.Sprint(name))
		}
		return nil
	}
	return fmt.Errorf("the parameter %s cannot be nested", p.Name)
}

// bracketFieldOf reads the kind of an attribute off what it can equal.
func bracketFieldOf(s *openapi3.Schema) (f bracketField, err error) {
	eq := s.Properties[string(loyalty.Eq)]
	if eq == nil {
		return f, fmt.Errorf("it cannot equal anything")
	}
	switch v := eq.Value; {
	case v.Type.Is("integer"):
		f.kind = integerField
	case v.Format == "day-or-instant":
		f.kind = instantField
	case len(v.Enum) > 0:
		f.kind = choiceField
		for _, choice := range v.Enum {
			f.choices = append(f.choices, fmt.Sprint(choice))
		}
	case v.Type.Is("string") && v.Format == "":
		f.kind = textField
	default:
		return f, fmt.Errorf("values of this type cannot be compared")
	}
	for name := range s.Properties {
		f.operators = append(f.operators, name)
	}
	slices.Sort(f.operators)
	return f, nil
}

// owns says whether a query parameter belongs to the grammar, well written or not.
func (b *bracketed) owns(name string) bool {
	root, _, _ := strings.Cut(name, "[")
	return b != nil && (root == filterParameter && len(b.fields) > 0 || root == sortParameter && len(b.sorts) > 0)
}

// repeats says whether a parameter may come more than once: filter[a][in][].
func (b *bracketed) repeats(name string) bool { return b.owns(name) && strings.HasSuffix(name, "[]") }

// brackets takes a name apart: filter[a][in][] is filter, a, in and the empty text.
func brackets(name string) (parts []string, ok bool) {
	root, rest, nested := strings.Cut(name, "[")
	if !nested || !strings.HasSuffix(rest, "]") {
		return nil, false
	}
	parts = append([]string{root}, strings.Split(rest[:len(rest)-1], "][")...)
	return parts, !slices.ContainsFunc(parts, func(p string) bool { return strings.ContainsAny(p, "[]") })
}

// read reads the filters and sort keys of a request. It fails, with 422, for what
// the operation does not declare and for a value that cannot be read, and names
// the parameter. Values of conditions are text, int64 or an instant; dates are
// instants, a bare day its midnight in UTC.
func (b *bracketed) read(query []pair) ([]loyalty.Condition, []loyalty.Sorting, error) {
	var conditions []loyalty.Condition
	var keys sortKeys
	for _, p := range query {
		if !b.owns(p.name) {
			continue
		}
		parts, ok := brackets(p.name)
		if !ok {
			return nil, nil, errFilterForm.With("parameter", p.name).At(p.name)
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

// take adds one parameter, filter[attribute][operator], to the conditions. A list
// is written with commas, or element by element behind the operator.
func (b *bracketed) take(conditions []loyalty.Condition, p pair, at []string) ([]loyalty.Condition, error) {
	f, known := b.fields[at[0]]
	switch {
	case at[0] == "":
		return nil, errFilterForm.With("parameter", p.name).At(p.name)
	case !known:
		return nil, errFilterField.With("field", at[0]).At(p.name)
	case len(at) < 2 || len(at) > 3:
		return nil, errFilterForm.With("parameter", p.name).At(p.name)
	case !slices.Contains(f.operators, at[1]):
		return nil, errFilterOperator.With("field", at[0]).With("operator", at[1]).At(p.name)
	}
	op, texts := loyalty.Operator(at[1]), []string{p.value}
	list := op == loyalty.In || op == loyalty.Nin
	if element := len(at) == 3; element && (!list || !isElement(at[2])) {
		return nil, errFilterForm.With("parameter", p.name).At(p.name)
	} else if list && !element {
		texts = strings.Split(p.value, ",")
	}
	values := make([]any, len(texts))
	for i, text := range texts {
		v, ok := f.exact(text)
		if !ok {
			return nil, errFilterValue.With("field", at[0]).With("reason", f.unreadable()).At(p.name)
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

// isElement says whether a text can be the place of an element: a number, or
// nothing, which is the next one.
func isElement(text string) bool {
	_, err := strconv.ParseUint(text, 10, 31)
	return text == "" || err == nil
}

// exact reads a value as this grammar means it: dates are instants, never days.
func (f field) exact(text string) (any, bool) {
	if f.kind != instantField {
		return f.value(text)
	}
	s, ok := readSpan(text)
	return s.From, ok
}

// unreadable names why a value of the field cannot be read.
func (f field) unreadable() string {
	switch f.kind {
	case instantField:
		return "instant"
	case integerField:
		return "whole_number"
	}
	return "choice"
}

// sortKeys are the keys of a request by their index, as they come.
type sortKeys []sortKey

type sortKey struct {
	index      uint64
	parameter  string // of the field, or of what came first
	field      string
	descending bool
}

// take adds one parameter, sort[index][field] or sort[index][direction].
func (s *sortKeys) take(fields []string, p pair, at []string) error {
	index, err := strconv.ParseUint(at[0], 10, 31)
	if err != nil || len(at) != 2 {
		return errFilterForm.With("parameter", p.name).At(p.name)
	}
	k := s.at(index, p.name)
	switch at[1] {
	case "field":
		if p.value == "" {
			return errSortNothing.With("field", p.name).At(p.name)
		}
		if !slices.Contains(fields, p.value) {
			return errSortField.With("field", p.value).At(p.name)
		}
		k.field, k.parameter = p.value, p.name
	case "direction":
		if p.value != "asc" && p.value != "desc" {
			return errSortDirection.With("direction", p.value).At(p.name)
		}
		k.descending = p.value == "desc"
	default:
		return errFilterForm.With("parameter", p.name).At(p.name)
	}
	return nil
}

// at finds the key of an index; the first parameter of it makes it.
func (s *sortKeys) at(index uint64, parameter string) *sortKey {
	for i := range *s {
		if (*s)[i].index == index {
			return &(*s)[i]
		}
	}
	*s = append(*s, sortKey{index: index, parameter: parameter})
	return &(*s)[len(*s)-1]
}

// inOrder gives the keys, the primary one first. It fails for a direction without
// a field, and for a field that two keys name.
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

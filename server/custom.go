package server

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// attributeKinds are the kinds of fields that declared attributes are, by type.
var attributeKinds = map[string]fieldKind{
	loyalty.AttributeString: textField, loyalty.AttributeNumber: numberField, loyalty.AttributeInteger: integerField,
	loyalty.AttributeBoolean: booleanField, loyalty.AttributeDate: instantField,
}

// customType is the type whose declared attributes an operation can be filtered
// by: its x-custom, such as rewards/reward, in which {module} stands for the
// parameter of the path. Empty: it has no such filters.
func (o *operation) customType(c *gin.Context) string {
	kind := o.custom
	for _, p := range c.Params {
		kind = strings.ReplaceAll(kind, "{"+p.Key+"}", p.Value)
	}
	return kind
}

// customFields are the attributes by which lists of a type can be filtered: those
// that the programme declares with the tags filterable and api, by their names
// with cf_.
func customFields(p *loyalty.Programme, kind string) map[string]field {
	fields := map[string]field{}
	for _, a := range p.Filterable(kind) {
		fields[a.Property()] = field{kind: attributeKinds[a.Type]}
	}
	return fields
}

// customColumns adds the filterable attributes of a type to the columns of a list
// that is held in memory. of gives an entry's attributes, by name with cf_.
func customColumns[T any](p *loyalty.Programme, kind string, own map[string]column[T], of func(T) map[string]json.RawMessage) map[string]column[T] {
	columns := maps.Clone(own)
	for _, a := range p.Filterable(kind) {
		columns[a.Property()] = column[T]{field{kind: attributeKinds[a.Type]}, func(entry T) any { return a.Value(of(entry)) }}
	}
	return columns
}

// customFilter reads the filters of a request that are declared attributes, for a
// list that the store holds; nil: there are none. readable is false when one of
// them can find nothing.
func customFilter(p *loyalty.Programme, kind string, query []pair) (f *loyalty.CustomFilter, readable bool) {
	wanted, readable := conditions(query, customFields(p, kind))
	if len(wanted) == 0 {
		return nil, readable
	}
	f = &loyalty.CustomFilter{}
	for _, c := range wanted {
		if c.Operator != loyalty.Ne && c.Operator != loyalty.Nin {
			f.Needs = append(f.Needs, c.Field)
		}
	}
	attributes := map[string]*loyalty.CustomAttribute{}
	for _, a := range p.Filterable(kind) {
		attributes[a.Property()] = a
	}
	f.Fits = func(custom map[string]json.RawMessage) bool {
		return !slices.ContainsFunc(wanted, func(c loyalty.Condition) bool { return !meets(attributes[c.Field].Value(custom), c) })
	}
	return f, true
}

package list

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// attributeKinds maps types of declared attributes to kinds of fields.
var attributeKinds = map[string]Kind{
	loyalty.AttributeString: Text, loyalty.AttributeNumber: Number, loyalty.AttributeInteger: Integer,
	loyalty.AttributeBoolean: Boolean, loyalty.AttributeDate: Instant,
}

// CustomFields are the attributes to filter lists of a type by: those that the programme declares with the tags
// filterable and api, by their names with cf_.
func CustomFields(p *programme.Programme, kind string) map[string]Field {
	fields := map[string]Field{}
	for _, a := range p.Filterable(kind) {
		fields[a.Property()] = Field{Kind: attributeKinds[a.Type]}
	}
	return fields
}

// CustomColumns adds the filterable attributes of a type to the columns of a list in memory. of returns an entry's
// attributes, by name with cf_.
func CustomColumns[T any](
	p *programme.Programme, kind string, own map[string]Column[T], of func(T) map[string]json.RawMessage,
) map[string]Column[T] {
	columns := maps.Clone(own)
	for _, a := range p.Filterable(kind) {
		columns[a.Property()] = Column[T]{Field{Kind: attributeKinds[a.Type]},
			func(entry T) any { return a.Value(of(entry)) }}
	}
	return columns
}

// CustomFilter reads the filters on declared attributes from a request, for a list in the store; nil if there are none.
// readable is false if one of them has an unreadable value and finds nothing.
func CustomFilter(p *programme.Programme, kind string, query []Pair) (f *loyalty.CustomFilter, readable bool) {
	wanted, readable := Conditions(query, CustomFields(p, kind))
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
		return !slices.ContainsFunc(wanted,
			func(c loyalty.Condition) bool { return !Meets(attributes[c.Field].Value(custom), c) })
	}
	return f, true
}

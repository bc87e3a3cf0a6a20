package loyalty

import (
	"reflect"
	"sync"
	"time"
)

// Operator compares a field with a value.
type Operator string

// The operators of the filter grammars.
const (
	Eq  Operator = "eq"
	Ne  Operator = "ne"
	Gt  Operator = "gt"
	Gte Operator = "gte"
	Lt  Operator = "lt"
	Lte Operator = "lte"
	In  Operator = "in"
	Nin Operator = "nin"
)

// Ordered reports whether an operator compares by order.
func (o Operator) Ordered() bool { return o == Gt || o == Gte || o == Lt || o == Lte }

// Span is a period: from its first instant, before its last. A day in a filter is one.
type Span struct{ From, Before time.Time }

// Condition is one parsed filter: values are string, int64 or time.Time, by the field's kind; on an instant, In and Nin
// have Spans. Several conditions combine with AND.
type Condition struct {
	Field    string
	Operator Operator
	Values   []any
}

// Page is the wanted part of a list. After, if set, is the last entry of the page before (its sort instant and id), and
// takes precedence over Offset.
type Page struct {
	Limit, Offset int
	After         *Cursor
	Before        *Cursor // the first entry of the page after, for a previous link
}

// Cursor is a position in a list ordered by time, then id.
type Cursor struct {
	At time.Time
	ID ID
}

// Sorting is one key of an order: a field, and its direction. Absent values come last either way.
type Sorting struct {
	Field      string
	Descending bool
}

// MaxPage bounds a page of a list, in bytes of its text: a page that would be longer ends early. A limit on entries
// does not bound the size, because one entry may be a word and another a purchase of thousands of lines.
const MaxPage = 8 << 20

// maxWeighed is how many levels of an entry are counted: below that are internals of the programme, which no answer
// shows.
const maxWeighed = 8

// Weight is the approximate number of bytes of text of a list's entry: its exported fields and their names. Entries of
// long lists have a Weight method of their own.
func Weight(entry any) int {
	if own, says := entry.(interface{ Weight() int }); says {
		return own.Weight()
	}
	v := reflect.ValueOf(entry)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return weigh(v, 0)
}

func weigh(v reflect.Value, depth int) (n int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len() + 2
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len() + 2
		}

	case reflect.Map, reflect.Struct, reflect.Interface:
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Struct {
			return 4 // entities of the programme refer to all others
		}
		return weigh(v.Elem(), depth)

	default:
		return 8
	}

	if depth == maxWeighed {
		return 0
	}
	return weighParts(v, depth+1)
}

func weighParts(v reflect.Value, depth int) (n int) {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			n += weigh(v.Index(i), depth) + 1
		}

	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			n += weigh(entries.Key(), depth) + weigh(entries.Value(), depth) + 2
		}

	case reflect.Interface:
		if !v.IsNil() {
			n = weigh(v.Elem(), depth)
		}

	case reflect.Struct:
		if v.Type() == instantType {
			return len(time.RFC3339Nano)
		}
		for _, f := range weighedFields(v.Type()) {
			n += f.label + weigh(v.Field(f.at), depth)
		}
	}

	return n
}

var instantType = reflect.TypeFor[time.Time]()

// weighedField is an exported field: its index, and the bytes of its name.
type weighedField struct{ at, label int }

var weighedTypes sync.Map // of reflect.Type: []weighedField

func weighedFields(t reflect.Type) []weighedField {
	if known, ok := weighedTypes.Load(t); ok {
		return known.([]weighedField)
	}
	var fields []weighedField
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			fields = append(fields, weighedField{i, len(f.Name) + 4})
		}
	}
	weighedTypes.Store(t, fields)
	return fields
}

package loyalty

import (
	"reflect"
	"sync"
	"time"
)

// MaxPage bounds a page of a list, in bytes of its text: a page that would be longer
// ends early. How many entries a page may have says nothing of its size, when one
// entry is a word and the other a purchase of thousands of lines.
const MaxPage = 8 << 20

// maxWeighed is how deep an entry is looked into: behind that are the programme's own
// workings, which no answer shows.
const maxWeighed = 8

// Weight is about how many bytes of text an entry of a list has: what its exported
// fields hold, and their names.
func Weight(entry any) int {
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
			return 4 // of the programme's things, one leads to all others
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

// weighedField is an exported field: its place, and what its name takes.
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

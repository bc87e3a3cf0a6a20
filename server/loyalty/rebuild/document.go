package rebuild

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// documents compares the journal's version of a row with the stored row, member by member, under
// the names that the members have in the journal.
func documents[T any](p place, journal, stored *T) {
	j, s := reflect.ValueOf(journal).Elem(), reflect.ValueOf(stored).Elem()
	for _, m := range membersOf(j.Type()) {
		p.member(m.name, j.FieldByIndex(m.index), s.FieldByIndex(m.index))
	}
}

// member compares one member. Comparing the rendered texts of whole rows would find the same, but
// take several times as long over millions of rows.
func (p place) member(name string, journal, stored reflect.Value) {
	if journal.Comparable() && journal.Equal(stored) {
		return // nearly every member of nearly every row is equal
	}

	// Values that differ in Go may be equal in a document: an instant in another zone, a nil list.
	switch j := journal.Interface().(type) {
	case time.Time:
		p.instant(name, j, stored.Interface().(time.Time))
	case []points.Portion:
		differ(p, name, portionText(j), portionText(stored.Interface().([]points.Portion)))
	case json.RawMessage:
		differ(p, name, string(j), string(stored.Interface().(json.RawMessage)))
	default:
		if journal.Comparable() {
			p.differ(name, fmt.Sprint(j), fmt.Sprint(stored.Interface()))
		} else if !isEmpty(journal) || !isEmpty(stored) {
			p.document(name, j, stored.Interface())
		}
	}
}

// isEmpty reports whether a member is left out of a document. nil and an empty list are the same in
// a document but not in Go.
func isEmpty(v reflect.Value) bool {
	if one, tells := v.Interface().(interface{ IsZero() bool }); tells {
		return one.IsZero()
	}
	return v.Kind() == reflect.Slice && v.Len() == 0 || v.IsZero()
}

// document compares two documents by their texts.
func (p place) document(field string, journal, stored any) {
	if j, s := loyalty.JSON(journal), loyalty.JSON(stored); !bytes.Equal(j, s) {
		p.differ(field, string(j), string(s))
	}
}

// portionText renders portions, as lot: points.
func portionText(portions []points.Portion) string {
	var b strings.Builder
	for i, portion := range portions {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %d", loyalty.ID(portion.Lot), portion.Points)
	}
	return b.String()
}

// member is a field of a row that is in the journal: its name there, and its index in the struct.
type member struct {
	name  string
	index []int
}

// knownMembers caches the members of types, which are needed for each of millions of rows.
var knownMembers sync.Map // of reflect.Type: []member

// membersOf lists the members of a row, including those of embedded parts.
func membersOf(t reflect.Type) []member {
	if known, ok := knownMembers.Load(t); ok {
		return known.([]member)
	}
	var list []member
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			list = append(list, member{name, f.Index})
		}
	}
	knownMembers.Store(t, list)
	return list
}

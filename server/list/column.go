package list

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Column is an attribute by which a list that is held in memory is filtered or
// sorted: what the programme is made of, not what customers have.
type Column[T any] struct {
	// Field says how the values of a filter on it are read where the contract does not
	// declare the filter: a custom attribute. See Page.Fields.
	Field
	// Of gives the attribute: string, int64, float64, bool, time.Time, Places, or
	// []string, of which one must fit; nil: the entry has none.
	Of func(T) any
}

// Places are the stores where something is valid; none: everywhere.
type Places []string

// Order says by what a list is sorted: the parameters sort and order. No column:
// as the list itself is, or the other way round where the direction that is asked
// for is not its own.
type Order struct {
	Column     string
	Descending bool
	// Ascending says that it was asked for, which an order without a column has to know.
	Ascending bool
}

// OldestFirst says that a list whose newest entry comes first is to be turned round.
func (o Order) OldestFirst() bool { return o.Column == "" && o.Ascending }

// Ordered reads the parameters sort and order of a request; nil: not sent.
func Ordered[S, D ~string](sort *S, direction *D) (o Order) {
	if sort != nil {
		o.Column = string(*sort)
	}
	o.Descending = direction != nil && *direction == "desc"
	o.Ascending = direction != nil && *direction == "asc"
	return o
}

// Choose keeps the entries that meet every filter of a request, sorted, and cuts
// the page out. all is in the catalogue's own order, which decides among equals. A
// filter that cannot be read finds nothing.
func Choose[T any](p Page, all []T, columns map[string]Column[T], o Order, now time.Time) Links[T] {
	fields := make(map[string]Field, len(columns))
	for name, c := range columns {
		fields[name] = c.Field
		if declared, ok := p.Fields[name]; ok {
			fields[name] = declared
		}
	}
	wanted, readable := Conditions(p.Query, fields)
	var found []T
	for _, entry := range all {
		if readable && !slices.ContainsFunc(wanted, func(c loyalty.Condition) bool { return !Meets(columns[c.Field].Of(entry), c) }) {
			found = append(found, entry)
		}
	}
	if c, ok := columns[o.Column]; ok {
		slices.SortStableFunc(found, func(a, b T) int { return Compare(c.Of(a), c.Of(b), o.Descending) })
	} else if o.Descending {
		slices.Reverse(found)
	}
	found = found[min(p.Offset, len(found)):]
	return Linked(p, found[:min(p.Fetch(), len(found))], now, nil)
}

// Meets says whether an attribute, as Column.Of gives it, meets a condition. What is
// absent differs from every value.
func Meets(value any, c loyalty.Condition) bool {
	negated := c.Operator == loyalty.Ne || c.Operator == loyalty.Nin
	if where, ok := value.(Places); ok {
		if len(where) == 0 {
			return !negated
		}
		value = []string(where)
	}
	if texts, ok := value.([]string); ok {
		any := slices.ContainsFunc(texts, func(t string) bool { return slices.Contains(c.Values, any(t)) })
		return any != negated
	}
	if value == nil {
		return negated
	}
	return slices.ContainsFunc(c.Values, func(v any) bool { return fits(value, v, c.Operator) }) != negated
}

// fits compares a value with one of a condition; of Ne and Nin it says whether
// they are equal.
func fits(value, with any, op loyalty.Operator) bool {
	if s, ok := with.(span); ok {
		at, isTime := value.(time.Time)
		return isTime && !at.Before(s.From) && at.Before(s.Before)
	}
	n, comparable := compareValues(value, with)
	if !comparable {
		return false
	}
	switch op {
	case loyalty.Gt:
		return n > 0
	case loyalty.Gte:
		return n >= 0
	case loyalty.Lt:
		return n < 0
	case loyalty.Lte:
		return n <= 0
	}
	return n == 0
}

// compareValues compares two values of one kind; false: they are not.
func compareValues(a, b any) (int, bool) {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return strings.Compare(a, b), ok
	case int64:
		b, ok := b.(int64)
		return cmp.Compare(a, b), ok
	case float64:
		b, ok := b.(float64)
		return cmp.Compare(a, b), ok
	case time.Time:
		b, ok := b.(time.Time)
		return a.Compare(b), ok
	case bool:
		b, ok := b.(bool)
		if a == b {
			return 0, ok
		}
		return cmp.Compare(0, oneIf(b)-oneIf(a)), ok
	}
	return 0, false
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Compare orders two attributes of one column, as slices.SortFunc wants it; what is absent
// comes last either way.
func Compare(a, b any, descending bool) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	n, _ := compareValues(a, b)
	if descending {
		return -n
	}
	return n
}

// Cut cuts a page out of a list that is read as a whole, the newest first, Fetch entries
// of it. place gives an entry's position; nil: only offsets count.
func Cut[T any](p Page, all []T, place func(T) Cursor) []T {
	if p.Cursor == nil || place == nil {
		from := min(p.Offset, len(all))
		return all[from:min(len(all), from+p.Fetch())]
	}
	before := Cursor.newer
	if p.OldestFirst {
		before = func(c, than Cursor) bool { return than.newer(c) }
	}
	first := 0 // behind the position, going forward; at or behind it, going back
	for first < len(all) && before(place(all[first]), *p.Cursor) {
		first++
	}
	if p.Cursor.Back {
		return all[max(0, first-p.Fetch()):first]
	}
	if first < len(all) && !before(*p.Cursor, place(all[first])) {
		first++ // the entry of the position itself
	}
	return all[first:min(len(all), first+p.Fetch())]
}

// newer says whether a place comes before another in a list with the newest
// entry first.
func (c Cursor) newer(than Cursor) bool {
	if order := c.At.Compare(than.At); order != 0 {
		return order > 0
	}
	return bytes.Compare(c.ID, than.ID) > 0
}

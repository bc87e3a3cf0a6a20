package list

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Column is an attribute to filter or sort a list by that is held in memory: a list of the programme's parts, not of
// customers' data.
type Column[T any] struct {
	// Field says how to read the values of a filter that the contract does not declare: a custom attribute. See
	// Page.Fields.
	Field
	// Of returns the attribute: string, int64, float64, bool, time.Time, Places, or []string, one of which must match;
	// nil if the entry has none.
	Of func(T) any
}

// Places are the stores where something is valid; none means everywhere.
type Places []string

// Order is the order of a list: the parameters sort and order. Without a column it is the list's own order, or that
// order reversed if the other direction is asked for.
type Order struct {
	Column     string
	Descending bool
	// Ascending: the request asks for ascending order, which matters only without a column.
	Ascending bool
}

// OldestFirst reports whether a list with the newest entry first is to be reversed.
func (o Order) OldestFirst() bool { return o.Column == "" && o.Ascending }

// Ordered reads the parameters sort and order of a request; nil means not sent.
func Ordered[S, D ~string](sort *S, direction *D) (o Order) {
	if sort != nil {
		o.Column = string(*sort)
	}
	o.Descending = direction != nil && *direction == "desc"
	o.Ascending = direction != nil && *direction == "asc"
	return o
}

// Choose keeps the entries that meet every filter of a request, sorts them and cuts the page out. all is in the
// catalogue's own order, which decides between equal entries. A filter with an unreadable value finds nothing.
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
		if readable && !slices.ContainsFunc(wanted,
			func(c loyalty.Condition) bool { return !Meets(columns[c.Field].Of(entry), c) }) {
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

// Meets reports whether an attribute, as returned by Column.Of, meets a condition. A missing attribute differs from
// every value.
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

// fits compares a value with one value of a condition; for Ne and Nin it reports whether they are equal.
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

// compareValues compares two values of one kind; false if their kinds differ.
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

// Compare orders two attributes of one column for slices.SortFunc; a missing one is always last.
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

// Cut cuts a page, Fetch entries, out of a list that is read as a whole, the newest first. place returns an entry's
// position; nil means that only offsets count.
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

// newer reports whether a position is before another in a list with the newest entry first.
func (c Cursor) newer(than Cursor) bool {
	if order := c.At.Compare(than.At); order != 0 {
		return order > 0
	}
	return bytes.Compare(c.ID, than.ID) > 0
}

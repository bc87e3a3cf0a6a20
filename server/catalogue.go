package server

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// column is an attribute by which a list that is held in memory is filtered or
// sorted: what the programme is made of, not what customers have.
type column[T any] struct {
	field
	// of gives the attribute: string, int64, float64, bool, time.Time, places, or
	// []string, of which one must fit; nil: the entry has none.
	of func(T) any
}

// places are where something is valid; none: everywhere.
type places []string

// order says by what a list is sorted: the parameters sort and order. No column:
// as the list itself is, or the other way round where the direction that is asked
// for is not its own.
type order struct {
	column     string
	descending bool
	ascending  bool // it was asked for, which an order without a column has to know
}

// oldestFirst says that a list whose newest entry comes first is to be turned round.
func (o order) oldestFirst() bool { return o.column == "" && o.ascending }

// choose keeps the entries that meet every filter of a request, sorted, and cuts
// the page out. all is in the catalogue's own order, which decides among equals. A
// filter that cannot be read finds nothing.
func choose[T any](p page, all []T, columns map[string]column[T], o order, now time.Time) links[T] {
	fields := make(map[string]field, len(columns))
	for name, c := range columns {
		fields[name] = c.field
	}
	wanted, readable := conditions(p.query, fields)
	var found []T
	for _, entry := range all {
		if readable && !slices.ContainsFunc(wanted, func(c loyalty.Condition) bool { return !meets(columns[c.Field].of(entry), c) }) {
			found = append(found, entry)
		}
	}
	if c, ok := columns[o.column]; ok {
		slices.SortStableFunc(found, func(a, b T) int { return compareColumn(c.of(a), c.of(b), o.descending) })
	} else if o.descending {
		slices.Reverse(found)
	}
	found = found[min(p.offset, len(found)):]
	return linked(p, found[:min(p.fetch(), len(found))], now, nil)
}

// meets holds one value against a condition. What is absent differs from every
// value.
func meets(value any, c loyalty.Condition) bool {
	negated := c.Operator == loyalty.Ne || c.Operator == loyalty.Nin
	if where, ok := value.(places); ok {
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

// compareColumn sorts two attributes; what is absent comes last either way.
func compareColumn(a, b any, descending bool) int {
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

package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// filterColumn is a field that may be filtered: an expression of ours, never the
// caller's text.
type filterColumn struct {
	expression string
	nullable   bool
	key        bool // compares in the form of searchKey
	members    bool // is on a customer list, whose id is the value
}

// operators are how a condition with one value reads in SQL.
var operators = map[loyalty.Operator]string{
	loyalty.Eq: "= ?", loyalty.Ne: "<> ?", loyalty.Gt: "> ?", loyalty.Gte: ">= ?", loyalty.Lt: "< ?", loyalty.Lte: "<= ?",
	loyalty.In: "IN ?", loyalty.Nin: "NOT IN ?",
}

// filter adds conditions. It fails for a field or operator that the caller
// should have refused before.
func filter(db *gorm.DB, columns map[string]filterColumn, conditions []loyalty.Condition) (*gorm.DB, error) {
	for _, c := range conditions {
		col, known := columns[c.Field]
		operator, legal := operators[c.Operator]
		list := c.Operator == loyalty.In || c.Operator == loyalty.Nin
		if !known || !legal || (!list && len(c.Values) != 1) {
			return nil, fmt.Errorf("condition on %q with %q and %d values is not possible", c.Field, c.Operator, len(c.Values))
		}
		if text, values := col.spans(c); text != "" {
			db = db.Where(text, values...)
			continue
		}
		db = db.Where(col.sql(operator), col.values(c, list)) //nolint:gosec // both parts are constants of this file
	}
	return db, nil
}

// sql is the condition; what is absent differs from every value.
func (c filterColumn) sql(operator string) string {
	if c.members {
		return c.onLists(operator)
	}
	text := c.expression + " " + operator
	if c.nullable && (operator == operators[loyalty.Ne] || operator == operators[loyalty.Nin]) {
		return "(" + c.expression + " IS NULL OR " + text + ")"
	}
	return text
}

// onLists is the condition that a customer is on a list, or on none of some.
func (c filterColumn) onLists(operator string) string {
	on := " IN ("
	switch operator {
	case operators[loyalty.Ne]:
		on, operator = " NOT IN (", operators[loyalty.Eq]
	case operators[loyalty.Nin]:
		on, operator = " NOT IN (", operators[loyalty.In]
	}
	return c.expression + on + "SELECT customer_id FROM list_members WHERE list_id " + operator + ")"
}

func (c filterColumn) values(condition loyalty.Condition, list bool) any {
	values := make([]any, len(condition.Values))
	for i, v := range condition.Values {
		values[i] = c.value(v)
	}
	if list {
		return values
	}
	return values[0]
}

func (c filterColumn) value(v any) any {
	switch v := v.(type) {
	case time.Time:
		return Millis(v)
	case string:
		if c.key {
			v = searchKey(v)
		}
		return storable(v)
	}
	return v
}

// storable replaces what no stored text can hold (PostgreSQL refuses it even in
// a comparison), so that such a value meets nothing.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// listOrder says how a list is sorted: by a time, then an id.
type listOrder struct {
	at, id     string
	descending bool
}

// pageOf adds order, limit and position. backwards says that the rows come in the
// opposite order, because they are the ones just before a position.
func pageOf(db *gorm.DB, o listOrder, p loyalty.Page) (paged *gorm.DB, backwards bool) {
	cursor, down := p.After, o.descending
	if backwards = cursor == nil && p.Before != nil; backwards {
		cursor, down = p.Before, !down
	}
	direction, beyond := "ASC", ">"
	if down {
		direction, beyond = "DESC", "<"
	}
	db = db.Order(o.at + " " + direction + ", " + o.id + " " + direction).Limit(p.Limit)
	if cursor == nil {
		return db.Offset(p.Offset), false
	}
	return db.Where("("+o.at+", "+o.id+") "+beyond+" (?, ?)", Millis(cursor.At), UUID(cursor.ID)), backwards
}

// inOrder turns rows that were read backwards.
func inOrder[T any](rows []T, backwards bool) []T {
	if backwards {
		slices.Reverse(rows)
	}
	return rows
}

// spans is a condition of In or Nin on stretches of time, from and before.
func (c filterColumn) spans(condition loyalty.Condition) (text string, values []any) {
	for _, v := range condition.Values {
		span, ok := v.(loyalty.Span)
		if !ok {
			return "", nil
		}
		if text != "" {
			text += " OR "
		}
		text += "(" + c.expression + " >= ? AND " + c.expression + " < ?)"
		values = append(values, Millis(span.From), Millis(span.Before))
	}
	if condition.Operator == loyalty.Nin {
		text = "NOT (" + text + ")"
		if c.nullable { // what is absent lies in no span
			text = "(" + c.expression + " IS NULL OR " + text + ")"
		}
		return text, values
	}
	return "(" + text + ")", values
}

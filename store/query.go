package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// sqlFragment is a condition in SQL, or a whole statement, with its values.
type sqlFragment struct {
	text string
	args []any
}

// and joins conditions.
func (w sqlFragment) and(text string, args ...any) sqlFragment {
	if w.text != "" {
		text = w.text + " AND " + text
	}
	return sqlFragment{text, append(append([]any(nil), w.args...), args...)}
}

// where renders the condition for a statement; empty if there is none.
func (w sqlFragment) where() string {
	if w.text == "" {
		return ""
	}
	return " WHERE " + w.text
}

// andAll adds conditions on fields. It fails for a field or operator that the caller should have refused.
func (w sqlFragment) andAll(columns map[string]filterColumn, conditions []loyalty.Condition) (sqlFragment, error) {
	for _, c := range conditions {
		col, known := columns[c.Field]
		operator, legal := operators[c.Operator]
		list := c.Operator == loyalty.In || c.Operator == loyalty.Nin
		if !known || !legal || (!list && len(c.Values) != 1) {
			return w, fmt.Errorf("condition on %q with %q and %d values is not possible", c.Field, c.Operator, len(c.Values))
		}

		if text, values := col.spans(c); text != "" {
			w = w.and(text, values...)
			continue
		}

		if text, ok := col.inWords(c, operator); ok {
			w = w.and(text)
			continue
		}

		w = w.and(col.sql(operator), col.values(c, list))
	}

	return w, nil
}

// anyOf joins conditions of which one must hold.
func anyOf(alternatives []sqlFragment) (one sqlFragment) {
	texts := make([]string, len(alternatives))
	for i, w := range alternatives {
		texts[i] = "(" + w.text + ")"
		one.args = append(one.args, w.args...)
	}
	one.text = "(" + strings.Join(texts, " OR ") + ")"
	return one
}

// sorting is the ORDER BY of some keys, the id last so that pages do not overlap.
func sorting(columns map[string]filterColumn, keys []loyalty.Sorting, id string) (string, error) {
	var by []string
	for _, k := range keys {
		c, known := columns[k.Field]
		if !known {
			return "", fmt.Errorf("a list cannot be sorted by %q", k.Field)
		}
		direction := " ASC"
		if k.Descending {
			direction = " DESC"
		}
		if c.nullable { // absent values come last in both directions
			by = append(by, "("+c.expression+" IS NULL)")
		}
		by = append(by, c.expression+direction)
	}

	return strings.Join(append(by, id+" DESC"), ", "), nil
}

// filterColumn is a field that can be filtered. The expression is the program's, never the caller's text.
type filterColumn struct {
	expression string
	nullable   bool
	key        func(string) string // the form in which values are compared; nil: unchanged
	id         bool                // the row's unique id
	few        bool                // it has few values, which go into the text of a statement; see is
	among      string              // the table, with a customer_id, that has the expression; a customer can have many rows in it
}

// operators are the SQL forms of conditions.
var operators = map[loyalty.Operator]string{
	loyalty.Eq: "= ?", loyalty.Ne: "<> ?", loyalty.Gt: "> ?", loyalty.Gte: ">= ?", loyalty.Lt: "< ?", loyalty.Lte: "<= ?",
	loyalty.In: "IN ?", loyalty.Nin: "NOT IN ?",
}

// sql is the condition; an absent value differs from every value.
func (c filterColumn) sql(operator string) string {
	if c.among != "" {
		return c.owned(operator)
	}
	text := c.expression + " " + operator
	if c.nullable && (operator == operators[loyalty.Ne] || operator == operators[loyalty.Nin]) {
		return "(" + c.expression + " IS NULL OR " + text + ")"
	}
	return text
}

// owned is the condition that a customer has such a row, or has none. It is looked up customer by customer: a page of
// a long list must not begin with all its members.
func (c filterColumn) owned(operator string) string {
	has := "EXISTS ("
	switch operator {
	case operators[loyalty.Ne]:
		has, operator = "NOT EXISTS (", operators[loyalty.Eq]
	case operators[loyalty.Nin]:
		has, operator = "NOT EXISTS (", operators[loyalty.In]
	}
	return has + "SELECT 1 FROM " + c.among + " WHERE customer_id = customers.id AND " + c.expression + " " + operator + ")"
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
		return v.UnixMilli() // not Millis, in which the zero instant is NULL and compares with nothing
	case loyalty.ID:
		return UUID(v)
	case string:
		if c.key != nil {
			v = c.key(v)
		}
		return cleanText(v)
	}
	return v
}

// cleanText replaces characters that no stored text can hold (PostgreSQL refuses them even in a comparison), so that
// such a value matches nothing.
func cleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// spans is a condition of In or Nin on periods of time.
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
		if c.nullable { // absent values are in no period
			text = "(" + c.expression + " IS NULL OR " + text + ")"
		}
		return text, values
	}

	return "(" + text + ")", values
}

// textsOf lists the values of a condition on a text, each once.
func textsOf(c loyalty.Condition) (list []string) {
	for _, v := range c.Values {
		if text := cleanText(fmt.Sprint(v)); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// positive reports whether a condition names the wanted values.
func positive(c loyalty.Condition) bool {
	return c.Operator == loyalty.Eq || c.Operator == loyalty.In && len(c.Values) > 0
}

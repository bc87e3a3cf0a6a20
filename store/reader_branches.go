package store

import (
	"fmt"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// words is a condition in SQL with its values.
type words struct {
	text string
	args []any
}

// and joins conditions.
func (w words) and(text string, args ...any) words {
	if w.text != "" {
		text = w.text + " AND " + text
	}
	return words{text, append(append([]any(nil), w.args...), args...)}
}

// andAll adds conditions on fields. It fails as filter does.
func (w words) andAll(columns map[string]filterColumn, conditions []loyalty.Condition) (words, error) {
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
		w = w.and(col.sql(operator), col.values(c, list))
	}
	return w, nil
}

// branch is a part of a list that an index gives in the list's order.
type branch struct {
	where words
	at    string // the column that is the order's time in this part
}

// merged is a list that is read as the merge of its branches, so that each of them
// stops after one page: one condition over all of them would have to be sorted, or
// looked for from the top of the journal.
type merged struct {
	table, columns string
	branches       []branch
	order          listOrder // at is empty where the id alone is the order
	page           loyalty.Page
	// sort replaces the order, and leaves out the cursor.
	sort string
}

// maxBranches is how many branches are worth more than a sort.
const maxBranches = 24

// read words the list. backwards says that the rows come in the opposite order.
func (m *merged) read() (w words, backwards bool) {
	cursor, down := m.page.After, m.order.descending
	if backwards = cursor == nil && m.page.Before != nil; backwards {
		cursor, down = m.page.Before, !down
	}
	offset := m.page.Offset
	if m.sort != "" {
		cursor, backwards = nil, false
	} else if cursor != nil {
		offset = 0
	}
	limit := m.page.Limit
	if len(m.branches) > 1 {
		limit += offset // each of them may be the one that is skipped
	}
	parts := make([]string, len(m.branches))
	for i, b := range m.branches {
		where := b.where
		if cursor != nil {
			where = m.beyond(where, b.at, cursor, down)
		}
		parts[i] = fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT %d",
			m.columns, m.table, where.text, m.by(b.at, down), limit)
		w.args = append(w.args, where.args...)
	}
	if len(parts) == 1 {
		w.text = fmt.Sprintf("%s OFFSET %d", parts[0], offset)
		return w, backwards
	}
	for i := range parts {
		parts[i] = fmt.Sprintf("SELECT * FROM (%s) AS b%d", parts[i], i)
	}
	w.text = fmt.Sprintf("SELECT * FROM (%s) AS list ORDER BY %s LIMIT %d OFFSET %d",
		strings.Join(parts, " UNION ALL "), m.by(m.order.at, down), m.page.Limit, offset)
	return w, backwards
}

// by words the order, with a column of its own for the time.
func (m *merged) by(at string, down bool) string {
	direction := " ASC"
	if down {
		direction = " DESC"
	}
	switch {
	case m.sort != "":
		return m.sort
	case at == "":
		return m.order.id + direction
	}
	return at + direction + ", " + m.order.id + direction
}

// beyond is the condition that an entry comes after a place in the list.
func (m *merged) beyond(where words, at string, c *loyalty.Cursor, down bool) words {
	sign := ">"
	if down {
		sign = "<"
	}
	if at == "" {
		return where.and(m.order.id+" "+sign+" ?", UUID(c.ID))
	}
	return where.and("("+at+", "+m.order.id+") "+sign+" (?, ?)", Millis(c.At), UUID(c.ID))
}

// sorting words the keys of an order, the id last so that pages do not overlap.
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
		if c.nullable { // what is absent comes last either way
			by = append(by, "("+c.expression+" IS NULL)")
		}
		by = append(by, c.expression+direction)
	}
	return strings.Join(append(by, id+" DESC"), ", "), nil
}

// owned is one branch for each owner of rows, or one for all where they are many.
func owned(owners []UUID, at string) []branch {
	if len(owners) > maxBranches {
		return []branch{{words{}.and("customer_id IN ?", owners), at}}
	}
	branches := make([]branch, len(owners))
	for i, owner := range owners {
		branches[i] = branch{words{}.and("customer_id = ?", owner), at}
	}
	return branches
}

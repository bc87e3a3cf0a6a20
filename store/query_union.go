package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// branch is a part of a list that an index returns in the list's order.
type branch struct {
	where sqlFragment
	at    string // the column with the order's time in this part
}

// unionQuery is a list that is read as the merge of its branches, each of which stops after one page. One condition
// over all of them would have to be sorted, or searched from the start of the journal.
type unionQuery struct {
	table, columns string
	own            []sqlFragment // other columns for each branch, with their values; nil: the same columns
	branches       []branch
	order          listOrder // at is empty where the id alone is the order
	page           pager
	// moved gives the page's place its value in a branch; nil: it is the same in all.
	moved func(branch int, p *place) *place
	// parted is the column by which the table is partitioned: from a pair of columns alone PostgreSQL does not see
	// which partitions have nothing beyond a place. Empty: the table is not partitioned.
	parted string
	// sort replaces the order, and leaves out the cursor.
	sort string
}

// pager selects a part of a list: from an offset on, or beyond a place.
type pager struct {
	limit, offset int
	after, before *place
}

// place is the place of an entry in a list: the first value of the list's order (or the sqlFragment that finds it),
// and the entry's id.
type place struct{ at, id any }

func placeOf(c *loyalty.Cursor) *place {
	if c == nil {
		return nil
	}
	return &place{Millis(c.At), UUID(c.ID)}
}

// pagerOf is the part of a list that a page of the domain names.
func pagerOf(p loyalty.Page) pager {
	return pager{limit: p.Limit, offset: p.Offset, after: placeOf(p.After), before: placeOf(p.Before)}
}

// maxBranches is the greatest number of branches that is cheaper than a sort.
const maxBranches = 24

// sql is the statement of the list. backwards reports that the rows come in the opposite order.
func (m *unionQuery) sql() (w sqlFragment, backwards bool) {
	cursor, down := m.page.after, m.order.descending
	if backwards = cursor == nil && m.page.before != nil; backwards {
		cursor, down = m.page.before, !down
	}

	offset := m.page.offset
	if m.sort != "" {
		cursor, backwards = nil, false
	} else if cursor != nil {
		offset = 0
	}

	limit := m.page.limit
	if len(m.branches) > 1 {
		limit += offset // the skipped rows may all come from one branch
	}

	parts := make([]string, len(m.branches))
	for i, b := range m.branches {
		where := b.where
		if cursor != nil {
			p := cursor
			if m.moved != nil {
				p = m.moved(i, cursor)
			}
			if m.parted != "" && b.at == m.parted {
				where = where.and(b.at+" "+sign(down)+"= ?", p.at)
			}
			where = m.beyond(where, b.at, p, down)
		}

		columns := m.columns
		if m.own != nil {
			columns = m.own[i].text
			w.args = append(w.args, m.own[i].args...)
		}

		parts[i] = fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s LIMIT %d",
			columns, m.table, where.where(), m.by(b.at, down), limit)
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
		strings.Join(parts, " UNION ALL "), m.by(m.order.at, down), m.page.limit, offset)
	return w, backwards
}

// with is the statement of the list as e, with more columns for its rows; from is the rest of the FROM clause that
// they need.
func (m *unionQuery) with(columns, from string) (w sqlFragment, backwards bool) {
	w, backwards = m.sql()
	w.text = "SELECT e.*, " + columns + " FROM (" + w.text + ") AS e" + from + " ORDER BY " + m.by(m.order.at, m.order.descending != backwards)
	return w, backwards
}

// by is the ORDER BY of a branch; at is its column of time.
func (m *unionQuery) by(at string, down bool) string {
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
func (m *unionQuery) beyond(where sqlFragment, at string, p *place, down bool) sqlFragment {
	if at == "" {
		return where.and(m.order.id+" "+sign(down)+" ?", p.id)
	}
	if found, ok := p.at.(sqlFragment); ok {
		return where.and("("+at+", "+m.order.id+") "+sign(down)+" ("+found.text+", ?)", append(slices.Clone(found.args), p.id)...)
	}
	return where.and("("+at+", "+m.order.id+") "+sign(down)+" (?, ?)", p.at, p.id)
}

// sign is the comparison for entries beyond a place.
func sign(down bool) string {
	if down {
		return "<"
	}
	return ">"
}

// split gives each branch one of several mutually exclusive conditions, of which one must hold. If that makes too
// many branches, or the order is not an index's, each branch gets all of them as one condition.
func split(branches []branch, alternatives []sqlFragment, whole bool) (list []branch) {
	if whole || len(branches)*len(alternatives) > maxBranches {
		alternatives = []sqlFragment{anyOf(alternatives)}
	}
	for _, b := range branches {
		for _, w := range alternatives {
			list = append(list, branch{b.where.and(w.text, w.args...), b.at})
		}
	}
	return list
}

// listOrder is the order of a list: by a time, then an id.
type listOrder struct {
	at, id     string
	descending bool
}

// inOrder reverses rows that were read backwards.
func inOrder[T any](rows []T, backwards bool) []T {
	if backwards {
		slices.Reverse(rows)
	}
	return rows
}

// newestFirst is a list of a table with instants, the latest first.
func newestFirst(table string, where sqlFragment, page loyalty.Page) *unionQuery {
	return &unionQuery{
		table: table, columns: "*", branches: []branch{{where, "at"}}, page: pagerOf(page),
		order: listOrder{at: "at", id: "id", descending: true},
	}
}

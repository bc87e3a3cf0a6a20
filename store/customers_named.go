package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// maxFound is how many found customers are sorted at most. If a filter finds more, reading in the list's own order
// fills a page soon.
const maxFound = 5000

// namedList is a list of customers that one filter's index finds, with the other conditions on them. Neither database
// would choose this index by itself: the keys have no statistics, and how the members of a list or a tier lie in the
// order is unknown.
type namedList struct {
	table, id string        // the table of the index, and its column of customers
	named     []sqlFragment // each finds customers, some more than once; each has an index
	rest      sqlFragment
	joined    bool // on a spread database, where single look-ups would each ask every machine, places are read together
}

// findNamed makes such a list for a query; nil if no indexed filter narrows the query to a few customers.
func (s customerStore) findNamed(ctx context.Context, q loyalty.CustomerQuery) (*namedList, error) {
	f, err := s.nameable(q)
	if err != nil || f == nil {
		return nil, err
	}
	var n int64
	count := f.each("1") // no column of the table, so that only the index is read
	err = s.asks(ctx, sqlFragment{fmt.Sprintf("SELECT COUNT(*) FROM (%s LIMIT %d) AS f", count.text, maxFound+1), count.args}.one((*number)(&n)))
	if err != nil || n > maxFound {
		return nil, err
	}
	return f, nil
}

// nameable is findNamed for any number of customers. It prefers a key, which usually finds the fewest; a list or a
// tier finds the most.
func (s customerStore) nameable(q loyalty.CustomerQuery) (*namedList, error) {
	searched := s.searched(q)
	at := slices.IndexFunc(q.Conditions, func(c loyalty.Condition) bool {
		return (customerColumns[c.Field].key != nil || customerColumns[c.Field].id) && positive(c)
	})
	if at < 0 && searched == nil {
		at = slices.IndexFunc(q.Conditions, func(c loyalty.Condition) bool { return customerColumns[c.Field].among != "" && positive(c) })
	}
	if !q.ByCursor() || at < 0 && searched == nil {
		return nil, nil
	}

	f, conditions := &namedList{table: "customers", id: "id", named: searched, joined: s.read.Name() == "citus"}, slices.Clone(q.Conditions)
	if at >= 0 {
		columns := customerColumns
		if c := columns[conditions[at].Field]; c.among != "" {
			f.table, f.id, columns = c.among, "customer_id", map[string]filterColumn{conditions[at].Field: {expression: c.expression}}
		}
		one, err := sqlFragment{}.andAll(columns, conditions[at:at+1])
		if err != nil {
			return nil, err
		}
		f.rest = s.searching(q)
		f.named, conditions = []sqlFragment{one}, slices.Delete(conditions, at, at+1)
	}

	var err error
	f.rest, err = f.rest.andAll(customerColumns, conditions)
	return f, err
}

// each selects an expression of every customer found.
func (f *namedList) each(what string) (all sqlFragment) {
	parts := make([]string, len(f.named))
	for i, w := range f.named {
		parts[i] = "SELECT " + what + " FROM " + f.table + " WHERE " + w.text
		all.args = append(all.args, w.args...)
	}
	all.text = strings.Join(parts, " UNION ALL ")
	return all
}

// searched is the search as ranges, one for each key, in a form that the indexes of both databases serve:
// PostgreSQL's are made for its pattern operators.
func (s customerStore) searched(q loyalty.CustomerQuery) (ranges []sqlFragment) {
	if strings.TrimSpace(q.Search) == "" {
		return nil
	}

	from, below := ">=", "<"
	if s.dialect() == goose.DialectPostgres {
		from, below = "~>=~", "~<~"
	}

	email, name := cleanText(loyalty.EmailKey(q.Search)), cleanText(loyalty.NameKey(q.Search))
	for _, k := range []struct{ column, text string }{{"email_key", email}, {"handler_key", name}, {"first_key", name}, {"last_key", name}} {
		if q.Whole {
			ranges = append(ranges, sqlFragment{}.and("customers."+k.column+" = ?", k.text))
			continue
		}
		ranges = append(ranges, sqlFragment{}.and("customers."+k.column+" "+from+" ? AND customers."+k.column+" "+below+" ?", k.text, k.text+"\U0010FFFF"))
	}

	return ranges
}

// searching is the search as one condition; none where nothing is searched.
func (s customerStore) searching(q loyalty.CustomerQuery) sqlFragment {
	ranges := s.searched(q)
	if ranges == nil {
		return sqlFragment{}
	}
	return anyOf(ranges)
}

// placed is the WITH clause of the found customers and their places: at is NULL for customers that do not match. The
// place, an expression over customers, is looked up one by one, so that neither database reads all customers for it.
func (f *namedList) placed(at string) sqlFragment {
	from, where := "customers", sqlFragment{"customers.id = found.id", nil}
	if f.joined {
		where.text = "customers.id IN (SELECT id FROM found)"
	}
	if f.rest.text != "" {
		where = where.and(f.rest.text, f.rest.args...)
	}
	if strings.Contains(f.rest.text, "balances.") {
		from += " " + joinBalances
	}

	ids := f.each(f.id + " AS id")
	if f.joined {
		return sqlFragment{
			"WITH found AS MATERIALIZED (SELECT DISTINCT id FROM (" + ids.text + ") AS f), placed AS MATERIALIZED " +
				"(SELECT customers.id, " + at + " AS at FROM " + from + " WHERE " + where.text + ")",
			append(ids.args, where.args...),
		}
	}

	return sqlFragment{
		"WITH found AS MATERIALIZED (SELECT DISTINCT id FROM (" + ids.text + ") AS f), placed AS MATERIALIZED " +
			"(SELECT id, (SELECT " + at + " FROM " + from + " WHERE " + where.text + ") AS at FROM found)",
		append(ids.args, where.args...),
	}
}

// listNamed is Customers for such a list.
func (s customerStore) listNamed(ctx context.Context, q loyalty.CustomerQuery, f *namedList, order customerOrder) ([]loyalty.Customer, error) {
	list := &unionQuery{table: "placed", columns: "id, at", page: order.pager(q.Page), branches: []branch{{sqlFragment{}.and("at IS NOT NULL"), "at"}}, order: order.list()}
	page, backwards := list.sql()
	text := f.placed(order.at)
	text.text += ", page AS (" + page.text + ") SELECT " + customerTable.names() + " FROM page JOIN customers ON customers.id = page.id " +
		joinBalances + order.sorted(backwards, "page.at", "page.id")
	return s.readCustomers(ctx, sqlFragment{text.text, append(text.args, page.args...)}, backwards)
}

// countNamed is CountCustomers for such a list.
func (s customerStore) countNamed(ctx context.Context, f *namedList) (n int64, err error) {
	text := f.placed(byCreation)
	return n, s.asks(ctx, sqlFragment{text.text + " SELECT COUNT(at) FROM placed", text.args}.one((*number)(&n)))
}

package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// customerOrder is what a list of customers is sorted by, before their ids.
type customerOrder struct {
	at         string // an expression over customers
	key        bool   // not by creation: a cursor lacks the value, so it is read from the cursor's customer
	descending bool
	indexed    string // the index's expression in place of at
	nameless   string // the index's value for customers without the name, which sorts after all names
}

// sortKeys are the columns of the fields that lists of customers can be sorted by, besides creation. Figures are not
// among them: an index on a row that each event writes would cost each event more than a list is worth.
var sortKeys = map[string]string{"last_name": "last_key", "email": "email_key"}

// byCreation is the default order of lists.
const byCreation = "customers.created_at"

// orderOf returns the order of a list that is paged by cursors. Customers without the name come last, ascending and
// descending. The indexes on it, by status, have this order ascending.
func (s customerStore) orderOf(q loyalty.CustomerQuery) customerOrder {
	o := customerOrder{at: byCreation}
	if len(q.Sort) == 0 || !q.ByCursor() {
		return o
	}

	o.descending = q.Sort[0].Descending
	if column, ok := sortKeys[q.Sort[0].Field]; ok {
		o.nameless = "char(1114111)"
		if s.dialect() == goose.DialectPostgres {
			o.nameless = `U&'\+10FFFF'`
		}
		o.indexed = "COALESCE(customers." + column + ", " + o.nameless + ")"
		o.at, o.key = o.indexed, true
		if o.descending {
			o.at = "COALESCE(customers." + column + ", '')"
		}
	}

	return o
}

// pager returns the part of a list in this order. If the customer of a cursor was renamed, the list continues after
// the new name.
func (o customerOrder) pager(p loyalty.Page) pager {
	out := pagerOf(p)
	if !o.key {
		return out
	}
	for _, at := range []*place{out.after, out.before} {
		if at != nil {
			at.at = sqlFragment{"(SELECT " + o.at + " FROM customers WHERE customers.id = ?)", []any{at.id}}
		}
	}
	return out
}

// list is the order of rows that have the expression as a column, at.
func (o customerOrder) list() listOrder {
	return listOrder{at: "at", id: "id", descending: o.descending}
}

// sorted is the ORDER BY of rows that were read for a page.
func (o customerOrder) sorted(backwards bool, at, id string) string {
	direction := " ASC"
	if o.descending != backwards {
		direction = " DESC"
	}
	return " ORDER BY " + at + direction + ", " + id + direction
}

// listByKey is Customers by a name. Each status is a range of an index; the customers of the page are read once their
// ids are known.
func (s customerStore) listByKey(ctx context.Context, q loyalty.CustomerQuery, o customerOrder) ([]loyalty.Customer, error) {
	page, backwards, err := s.pageByKey(q, o)
	if err != nil {
		return nil, err
	}
	text := "WITH page AS (" + page.text + ") SELECT " + customerTable.names() + " FROM page JOIN customers ON customers.id = page.id " +
		joinBalances + o.sorted(backwards, "page.at", "page.id")
	return s.readCustomers(ctx, sqlFragment{text, page.args}, backwards)
}

// pageByKey selects the customers on a page of such a list.
func (s customerStore) pageByKey(q loyalty.CustomerQuery, o customerOrder) (page sqlFragment, backwards bool, err error) {
	wanted, rest, err := customerStatuses(q.Conditions)
	if err != nil {
		return page, false, err
	}

	where, err := s.searching(q).andAll(customerColumns, rest)
	if err != nil {
		return page, false, err
	}

	list := &unionQuery{table: "customers", columns: "customers.id AS id, " + o.at + " AS at", page: o.pager(q.Page), order: o.list()}
	if strings.Contains(where.text, "balances.") {
		list.table += " " + joinBalances
	}

	list.branches = split([]branch{{where, o.indexed}}, statusAlternatives(wanted), false)
	if o.descending {
		o.namelessLast(list)
	}

	page, backwards = list.sql()
	return page, backwards, nil
}

// namelessLast splits each range of a descending list in two: customers with the name, then those without. Read
// backwards, the index would give those without the name first.
func (o customerOrder) namelessLast(list *unionQuery) {
	stretches := list.branches
	list.branches = nil
	for _, b := range stretches {
		list.branches = append(list.branches, branch{b.where.and(o.indexed + " < " + o.nameless), b.at}, branch{b.where.and(o.indexed + " = " + o.nameless), b.at})
		list.own = append(list.own, sqlFragment{"customers.id AS id, " + o.indexed + " AS at", nil}, sqlFragment{"customers.id AS id, '' AS at", nil})
	}

	list.moved = func(i int, p *place) *place {
		if i%2 == 0 {
			return p
		}
		// For the range without names: a cursor at a customer without the name keeps its own place, and a cursor at a
		// name comes before all of them.
		const at = "(SELECT CASE WHEN %s = %s THEN %[2]s ELSE %[2]s || %[2]s END FROM customers WHERE customers.id = ?)"
		return &place{sqlFragment{fmt.Sprintf(at, o.indexed, o.nameless), []any{p.id}}, p.id}
	}
}

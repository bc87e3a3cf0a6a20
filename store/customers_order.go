package store

import (
	"context"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// customerOrder is what a list of customers is sorted by, before their ids.
type customerOrder struct {
	at         string // an expression over customers
	key        bool   // not by creation: a cursor does not have it, and the row it names is asked
	descending bool
}

// sortKeys are the columns behind the fields of customers that lists can be sorted by, besides
// creation. Figures are none of them: an index on a row that each event writes would cost each
// event more than a list is worth.
var sortKeys = map[string]string{"last_name": "last_key", "email": "email_key"}

// byCreation is the default order of lists.
const byCreation = "customers.created_at"

// orderOf returns the order of a list that is paged by cursors. Customers without the name sorted
// by come after all others, as in the indexes on it (migration 00030), status by status.
func (s customerStore) orderOf(q loyalty.CustomerQuery) customerOrder {
	o := customerOrder{at: byCreation}
	if len(q.Sort) == 0 || !q.ByCursor() {
		return o
	}
	o.descending = q.Sort[0].Descending
	if column, ok := sortKeys[q.Sort[0].Field]; ok {
		last := "char(1114111)"
		if s.dialect() == goose.DialectPostgres {
			last = `U&'\+10FFFF'`
		}
		o.at, o.key = "COALESCE(customers."+column+", "+last+")", true
	}
	return o
}

// pager returns the part of a list in this order. After a customer who was renamed since, the list
// continues behind their new name.
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

// listByKey is Customers by a name: each status is a stretch of an index, and the customers of
// the page are read when it is known who they are.
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
	where, err := s.searching(q.Search).andAll(customerColumns, rest)
	if err != nil {
		return page, false, err
	}
	list := &unionQuery{table: "customers", columns: "customers.id AS id, " + o.at + " AS at", page: o.pager(q.Page), order: o.list()}
	if strings.Contains(where.text, "balances.") {
		list.table += " " + joinBalances
	}
	list.branches = split([]branch{{where, o.at}}, statusAlternatives(wanted), false)
	page, backwards = list.sql()
	return page, backwards, nil
}

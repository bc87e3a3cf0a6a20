package store

import (
	"context"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// readAtOnce is how many customers are read at a time if custom attributes decide who is listed.
const readAtOnce = 2000

// looksInto reports whether a query needs the programme's own attributes. They are in a document that the program
// reads itself, because the databases' functions differ on numbers and on absent values.
func looksInto(q loyalty.CustomerQuery) bool {
	return q.Custom != nil || strings.TrimSpace(q.Search) != "" && len(q.SearchIn) > 0
}

// listInside lists the customers of a query that looks into attributes.
func (s customerStore) listInside(ctx context.Context, q loyalty.CustomerQuery) ([]loyalty.Customer, error) {
	var ids []UUID
	skip := q.Page.Offset
	if q.Page.After != nil || q.Page.Before != nil {
		skip = 0
	}

	err := s.lookInside(ctx, q, func(c *loyalty.Customer) bool {
		if skip > 0 {
			skip--
			return true
		}
		ids = append(ids, UUID(c.ID))
		return len(ids) < q.Page.Limit
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}

	var list []loyalty.Customer
	order := s.orderOf(q)
	err = s.asks(ctx, customerTable.list(customersWhere("customers.id IN ?"+order.sorted(false, order.at, "customers.id"), ids), &list))
	return list, err
}

// countInside counts the customers of a query that looks into attributes.
func (s customerStore) countInside(ctx context.Context, q loyalty.CustomerQuery) (n int64, err error) {
	q.Page = loyalty.Page{}
	err = s.lookInside(ctx, q, func(*loyalty.Customer) bool { n++; return true })
	return n, err
}

// lookInside passes the matching customers to visit, in the order of the page, until visit has enough.
func (s customerStore) lookInside(ctx context.Context, q loyalty.CustomerQuery, visit func(*loyalty.Customer) bool) error {
	page := loyalty.Page{Limit: readAtOnce, After: q.Page.After}
	if q.Page.After == nil {
		page.Before = q.Page.Before
	}

	back := page.Before != nil
	for {
		rows, err := s.candidates(ctx, q, page)
		if err != nil {
			return err
		}

		for i := range rows {
			if fitsInside(q, &rows[i]) && !visit(&rows[i]) {
				return nil
			}
		}

		if len(rows) < readAtOnce {
			return nil
		}

		last := &rows[len(rows)-1]
		at := &loyalty.Cursor{At: last.CreatedAt, ID: last.ID}
		if back {
			page.Before = at
		} else {
			page.After = at
		}
	}
}

// candidate are the columns that decide whether a customer matches.
var candidate = accountTable.some("id", "created_at", "custom", "handler", "email", "first_name", "last_name")

// candidates reads the next customers who can match.
func (s customerStore) candidates(ctx context.Context, q loyalty.CustomerQuery, page loyalty.Page) ([]loyalty.Customer, error) {
	where, err := s.searchingInside(q).andAll(customerColumns, q.Conditions)
	if err != nil {
		return nil, err
	}

	if q.Custom != nil {
		for _, name := range q.Custom.Needs {
			where = where.and("customers.custom LIKE ?", mentions(name))
		}
	}

	order := s.orderOf(q)
	list := &unionQuery{table: "customers " + joinBalances, columns: candidate.of("customers"), page: order.pager(page),
		order: listOrder{id: "id", descending: order.descending}, branches: []branch{{where, order.at}}}
	text, _ := list.sql()
	found, err := candidate.find(s.read.WithContext(ctx).Raw(text.text, text.args...))
	return found, s.fault(err)
}

// mentions matches documents with a property, and a few without it, because _ in its name matches any letter.
func mentions(name string) string { return `%"` + name + `":%` }

// searchingInside is the condition of the search: a key that begins with the text, or an attribute that must be
// checked.
func (s customerStore) searchingInside(q loyalty.CustomerQuery) sqlFragment {
	ranges := s.searched(q)
	if ranges == nil {
		return sqlFragment{}
	}
	for _, a := range q.SearchIn {
		ranges = append(ranges, sqlFragment{}.and("customers.custom LIKE ?", mentions(a.Property())))
	}
	return anyOf(ranges)
}

// fitsInside decides whether a candidate matches.
func fitsInside(q loyalty.CustomerQuery, c *loyalty.Customer) bool {
	if q.Custom != nil && !q.Custom.Fits(c.Profile.Custom) {
		return false
	}
	if strings.TrimSpace(q.Search) == "" {
		return true
	}

	found := func(key, wanted string) bool {
		wanted = cleanText(wanted)
		return key == wanted || !q.Whole && strings.HasPrefix(key, wanted)
	}

	name := loyalty.NameKey(q.Search)
	if found(string(foundBy(c, loyalty.EmailKey(c.Profile.Email))), loyalty.EmailKey(q.Search)) {
		return true
	}

	for _, text := range []string{c.Profile.Handler, c.Profile.FirstName, c.Profile.LastName} {
		if found(string(foundBy(c, loyalty.NameKey(text))), name) {
			return true
		}
	}

	return slices.ContainsFunc(q.SearchIn, func(a *loyalty.CustomAttribute) bool {
		return slices.ContainsFunc(a.Texts(c.Profile.Custom), func(text string) bool { return found(loyalty.NameKey(text), name) })
	})
}

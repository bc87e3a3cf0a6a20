package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// customerColumns are the fields of a customer that can be filtered.
var customerColumns = map[string]filterColumn{
	"id":         {expression: "customers.id", id: true},
	"status":     {expression: "customers.status", few: true},
	"language":   {expression: "customers.language", few: true},
	"currency":   {expression: "customers.currency", few: true},
	"handler":    {expression: "customers.handler_key", nullable: true, key: loyalty.NameKey},
	"email":      {expression: "customers.email_key", nullable: true, key: loyalty.EmailKey},
	"created_at": {expression: "customers.created_at"},
	"score":      {expression: "balances.score"},
	"list":       {expression: "list_members.list_id", among: "list_members"},
	"tier":       {expression: "progress.tier", among: "progress"},
	"spendable":  {expression: "(balances.score - balances.spent - balances.reserved - balances.expired)"},
}

// Customers lists by creation, oldest first, then by id, unless the query says otherwise. If a filter's index narrows
// the list, those customers are found first and then sorted; otherwise the list is read in its order. Conditions that
// the databases cannot evaluate are evaluated here.
func (s customerStore) Customers(ctx context.Context, q loyalty.CustomerQuery) ([]loyalty.Customer, error) {
	if looksInto(q) {
		return s.listInside(ctx, q)
	}

	named, err := s.findNamed(ctx, q)
	if err != nil {
		return nil, err
	}

	order := s.orderOf(q)
	switch {
	case named != nil:
		return s.listNamed(ctx, q, named, order)
	case order.key:
		return s.listByKey(ctx, q, order)
	}

	return s.listInOrder(ctx, q)
}

// CountCustomers counts what Customers would list.
func (s customerStore) CountCustomers(ctx context.Context, q loyalty.CustomerQuery) (n int64, err error) {
	if looksInto(q) {
		return s.countInside(ctx, q)
	}

	named, err := s.findNamed(ctx, q)
	if err != nil {
		return 0, err
	}
	if named != nil {
		return s.countNamed(ctx, named)
	}

	where, err := s.searching(q).andAll(customerColumns, q.Conditions)
	if err != nil {
		return 0, err
	}

	from := "customers"
	if strings.Contains(where.text, "balances.") {
		from += " " + joinBalances
	}

	return n, s.asks(ctx, sqlFragment{"SELECT COUNT(*) FROM " + from + where.where(), where.args}.one((*number)(&n)))
}

// listInOrder is Customers in the order of an index, skipping customers that do not match.
func (s customerStore) listInOrder(ctx context.Context, q loyalty.CustomerQuery) ([]loyalty.Customer, error) {
	list, err := customersOf(q, s.searching(q))
	if err != nil {
		return nil, err
	}
	text, backwards := list.sql()
	return s.readCustomers(ctx, text, backwards)
}

// readCustomers reads the customers of a page.
func (s customerStore) readCustomers(ctx context.Context, page sqlFragment, backwards bool) ([]loyalty.Customer, error) {
	var list []loyalty.Customer
	err := s.asks(ctx, customerTable.paged(page, &list))
	return inOrder(list, backwards), err
}

// inBranches reports whether a list of customers is read by status, by language or by currency: each value is a range
// of an index, in the order of creation.
func inBranches(q loyalty.CustomerQuery) bool {
	return q.Search == "" && (len(q.Sort) > 0 || slices.ContainsFunc(q.Conditions, func(c loyalty.Condition) bool {
		return c.Field == "status" || stretches(c)
	}))
}

// stretches reports whether each value of a condition is a range of an index.
func stretches(c loyalty.Condition) bool {
	return (c.Field == "language" || c.Field == "currency") && positive(c)
}

// customersOf makes the statement of a query; search is the condition of its search.
func customersOf(q loyalty.CustomerQuery, search sqlFragment) (*unionQuery, error) {
	list := &unionQuery{table: "customers " + joinBalances, columns: customerTable.names(), page: pagerOf(q.Page), order: listOrder{at: "created_at", id: "id"}}
	if !inBranches(q) {
		where, err := search.andAll(customerColumns, q.Conditions)
		list.branches = []branch{{where, "created_at"}}
		list.order.descending = q.ByCursor() && len(q.Sort) > 0 && q.Sort[0].Descending
		return list, err
	}
	return list, list.byStretches(q)
}

// byStretches gives a list of customers a branch for each status, language and currency that a query allows.
func (m *unionQuery) byStretches(q loyalty.CustomerQuery) error {
	wanted, rest, err := customerStatuses(q.Conditions)
	if err != nil {
		return err
	}
	if m.sort, err = customerSort(q.Sort); err != nil {
		return err
	}
	if q.ByCursor() {
		m.sort, m.order.descending = "", len(q.Sort) > 0 && q.Sort[0].Descending
	}

	m.branches = []branch{{sqlFragment{}, "created_at"}}
	switch {
	case m.sort != "" || asksForStatus(q.Conditions) || !slices.ContainsFunc(rest, stretches):
		m.branches = split(m.branches, statusAlternatives(wanted), false)
	case len(wanted) < len(loyalty.Statuses): // few rows of another index's ranges are excluded
		m.branches = split(m.branches, []sqlFragment{anyOf(statusAlternatives(wanted))}, false)
	}

	for _, c := range rest {
		alternatives, err := customerAlternatives(c)
		if err != nil {
			return err
		}
		m.branches = split(m.branches, alternatives, m.sort != "")
	}

	return nil
}

// asksForStatus reports whether a condition names a wanted status.
func asksForStatus(conditions []loyalty.Condition) bool {
	return slices.ContainsFunc(conditions, func(c loyalty.Condition) bool { return c.Field == "status" && positive(c) })
}

// statusAlternatives returns one condition for each of some statuses.
func statusAlternatives(wanted []loyalty.Status) (list []sqlFragment) {
	for _, status := range wanted {
		list = append(list, sqlFragment{}.is("status", string(status)))
	}
	if list == nil {
		list = []sqlFragment{sqlFragment{}.and("FALSE")}
	}
	return list
}

// customerAlternatives returns one condition as ranges of an index, at least one.
func customerAlternatives(c loyalty.Condition) (list []sqlFragment, err error) {
	if c.Operator == loyalty.In && stretches(c) {
		for _, v := range textsOf(c) {
			list = append(list, sqlFragment{}.is(customerColumns[c.Field].expression, v))
		}
		return list, nil
	}
	w, err := sqlFragment{}.andAll(customerColumns, []loyalty.Condition{c})
	return []sqlFragment{w}, err
}

// customerSort is the ORDER BY of some keys. Equals are sorted by creation, in the direction of the last key, and
// then by id, which is the order of an index within one status.
func customerSort(keys []loyalty.Sorting) (text string, err error) {
	if len(keys) == 0 {
		return "", nil
	}

	created := ""
	for _, k := range slices.Concat(keys, []loyalty.Sorting{{Field: "created_at", Descending: keys[len(keys)-1].Descending}}) {
		direction := " ASC"
		if k.Descending {
			direction = " DESC"
		}
		switch {
		case k.Field != "status" && k.Field != "created_at":
			return "", fmt.Errorf("customers cannot be sorted by %q", k.Field)
		case k.Field == "created_at" && created != "":
			continue
		case k.Field == "created_at":
			created = direction
		}
		text += k.Field + direction + ", "
	}

	return text + "id" + created, nil
}

// customerStatuses removes the conditions on the status and returns the statuses that they allow.
func customerStatuses(conditions []loyalty.Condition) (wanted []loyalty.Status, rest []loyalty.Condition, err error) {
	wanted = slices.Clone(loyalty.Statuses)
	for _, c := range conditions {
		if c.Field != "status" {
			rest = append(rest, c)
			continue
		}
		negated, list := c.Operator == loyalty.Ne || c.Operator == loyalty.Nin, c.Operator == loyalty.In || c.Operator == loyalty.Nin
		if !negated && c.Operator != loyalty.Eq && !list || !list && len(c.Values) != 1 {
			return nil, nil, fmt.Errorf("condition on %q with %q and %d values is not possible", c.Field, c.Operator, len(c.Values))
		}
		wanted = slices.DeleteFunc(wanted, func(s loyalty.Status) bool { return slices.Contains(c.Values, any(string(s))) == negated })
	}
	return wanted, rest, nil
}

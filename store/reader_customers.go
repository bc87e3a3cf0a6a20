package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// inParts says whether a list of customers is read status by status, or language by
// language, or currency by currency: each of them is a stretch of an index, in the
// order of creation.
func inParts(q loyalty.CustomerQuery) bool {
	return q.Search == "" && (len(q.Sort) > 0 || slices.ContainsFunc(q.Conditions, func(c loyalty.Condition) bool {
		return c.Field == "status" || stretches(c)
	}))
}

// stretches says whether each value of a condition is a stretch of an index.
func stretches(c loyalty.Condition) bool {
	return (c.Field == "language" || c.Field == "currency") && positive(c)
}

// customersInParts is Customers for such a list.
func (s customerStore) customersInParts(ctx context.Context, q loyalty.CustomerQuery) ([]loyalty.Customer, error) {
	list, err := customersOf(q)
	if err != nil {
		return nil, err
	}
	text, backwards := list.read()
	return s.customersOn(ctx, text, backwards)
}

// customersOn reads the customers of a page.
func (s customerStore) customersOn(ctx context.Context, page words, backwards bool) ([]loyalty.Customer, error) {
	list, err := customerTable.page(s.read.WithContext(ctx).Raw(page.text, page.args...))
	return inOrder(list, backwards), s.fault(err)
}

// customersOf words a query, with a branch for each status, language and currency it
// means.
func customersOf(q loyalty.CustomerQuery) (*merged, error) {
	wanted, rest, err := customerStatuses(q.Conditions)
	if err != nil {
		return nil, err
	}
	list := &merged{table: "customers " + joinBalances, columns: customerTable.names(), page: q.Page, order: listOrder{at: "created_at", id: "id"}}
	if list.sort, err = customerSort(q.Sort); err != nil {
		return nil, err
	}
	if q.ByCursor() {
		list.sort, list.order.descending = "", len(q.Sort) > 0 && q.Sort[0].Descending
	}
	list.branches = []branch{{words{}, "created_at"}}
	switch {
	case list.sort != "" || asksForStatus(q.Conditions) || !slices.ContainsFunc(rest, stretches):
		list.branches = split(list.branches, statusWords(wanted), false)
	case len(wanted) < len(loyalty.Statuses): // few are left out of the stretches of another index
		list.branches = []branch{{words{}.and("status IN ?", wanted), "created_at"}}
	}
	for _, c := range rest {
		alternatives, err := customerWords(c)
		if err != nil {
			return nil, err
		}
		list.branches = split(list.branches, alternatives, list.sort != "")
	}
	return list, nil
}

// asksForStatus says whether a condition names a status that is wanted.
func asksForStatus(conditions []loyalty.Condition) bool {
	return slices.ContainsFunc(conditions, func(c loyalty.Condition) bool { return c.Field == "status" && positive(c) })
}

// statusWords words that a status is one of some.
func statusWords(wanted []loyalty.Status) (list []words) {
	for _, status := range wanted {
		list = append(list, words{}.and("status = ?", string(status)))
	}
	if list == nil {
		list = []words{words{}.and("FALSE")}
	}
	return list
}

// customerWords words one condition as stretches of an index, at least one.
func customerWords(c loyalty.Condition) (list []words, err error) {
	if c.Operator == loyalty.In && stretches(c) {
		for _, v := range textsOf(c) {
			list = append(list, words{}.and(customerColumns[c.Field].expression+" = ?", v))
		}
		return list, nil
	}
	w, err := words{}.andAll(customerColumns, []loyalty.Condition{c})
	return []words{w}, err
}

// customerSort words the keys of an order. Among equals it goes on by creation, in
// the direction of the last key, and then by id, so that an index has it within one
// status.
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

// customerStatuses takes the conditions on the status out, as the list of what they
// leave.
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

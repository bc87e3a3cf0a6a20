package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// byStatus says whether a list of customers is read status by status: each of them is
// a stretch of an index, in the order of creation.
func byStatus(q loyalty.CustomerQuery) bool {
	return q.Search == "" && (len(q.Sort) > 0 || slices.ContainsFunc(q.Conditions, func(c loyalty.Condition) bool { return c.Field == "status" }))
}

// customersByStatus is Customers for such a list.
func (s *Store) customersByStatus(ctx context.Context, q loyalty.CustomerQuery) ([]loyalty.Customer, error) {
	list, err := customersOf(q)
	if err != nil {
		return nil, err
	}
	var rows []customerJoin
	text, backwards := list.read()
	if err := s.read.WithContext(ctx).Raw(text.text, text.args...).Scan(&rows).Error; err != nil {
		return nil, s.fault(err)
	}
	found := make([]loyalty.Customer, len(rows))
	for i := range rows {
		found[i] = customerOf(&rows[i].Customer, &rows[i].Balance)
	}
	return inOrder(found, backwards), nil
}

// customersOf words a query, with a branch for each status it means.
func customersOf(q loyalty.CustomerQuery) (*merged, error) {
	wanted, rest, err := customerStatuses(q.Conditions)
	if err != nil {
		return nil, err
	}
	list := &merged{table: "customers " + joinBalances, columns: "customers.*, balances.*", page: q.Page, order: listOrder{at: "created_at", id: "id"}}
	if list.sort, err = customerSort(q.Sort); err != nil {
		return nil, err
	}
	if q.ByCursor() {
		list.sort, list.order.descending = "", len(q.Sort) > 0 && q.Sort[0].Descending
	}
	where, err := words{}.andAll(customerColumns, rest)
	for _, status := range wanted {
		w := words{}.and("status = ?", string(status))
		if where.text != "" {
			w = w.and(where.text, where.args...)
		}
		list.branches = append(list.branches, branch{w, "created_at"})
	}
	if len(wanted) == 0 {
		list.branches = []branch{{words{}.and("FALSE"), "created_at"}}
	}
	return list, err
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

package store

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// selectMemberships reads the lists that customers are on, with one statement for each way of naming customers.
var selectMemberships [lookups]*statement[rowKey]

func init() {
	for w := range lookups {
		selectMemberships[w] = selects(`SELECT m.customer_id, m.list_id`+fromCustomer[w]+` JOIN list_members m ON m.customer_id = c.id ORDER BY m.list_id`, lookupFields[w]...)
	}
}

// memberships reads the lists that customers are on.
func (l *loader) memberships(list []calls, s *statement[rowKey], wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}
	var customer UUID
	var name string
	return read(list, s, wanted, []any{&customer, (*Text)(&name)}, func() error {
		if loading := l.out.Customers[loyalty.ID(customer)]; loading != nil && !slices.Contains(loading.Lists, name) {
			loading.Lists = append(loading.Lists, name)
		}
		return nil
	})
}

// items reads which items of bulk operations are still open.
func (l *loader) items(list []calls) []calls {
	if len(l.needs.Items) == 0 {
		return list
	}
	var batch UUID
	var seq int64
	return read(list, selectItems, l.needs.Items, []any{&batch, (*number)(&seq)}, func() error {
		l.out.Items[loyalty.BulkKey{Batch: loyalty.ID(batch), Seq: seq}] = true
		return nil
	})
}

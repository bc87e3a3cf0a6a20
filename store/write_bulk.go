package store

import (
	"cmp"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// bulkCalls write the members of customer lists, and the items of bulk operations that a batch has done. The
// operations' counts come last, because all batches of an operation wait for its row.
func bulkCalls(list []calls, w *loyalty.Writes) []calls {
	members := sorted(w.Members, byMember)
	merged := changed(w.Customers, joins)
	list = write(list, copyMembers, merged)
	list = write(list, dropMerged, merged)
	list = write(list, deleteMembers, changed(members, func(m *loyalty.Membership) bool { return m.Gone }))
	list = write(list, insertMembers, changed(members, func(m *loyalty.Membership) bool { return !m.Gone }))
	list = write(list, dropMembers, w.DestroyKeys)
	list = write(list, forgetItems, forgotten(w))
	list = write(list, markItems, w.Items)
	counts := counted(w.Items)
	return write(write(list, countItems, counts), insertBulkEnds, bulkEnds(counts))
}

func byMember(a, b loyalty.Membership) int {
	return cmp.Or(loyalty.CompareID(a.Customer, b.Customer), cmp.Compare(a.List, b.List))
}

// joins reports whether a customer's merge target is new or has changed.
func joins(c *changedCustomer) bool {
	return c.After.MergedInto != (loyalty.ID{}) && c.After.MergedInto != c.Before.MergedInto
}

// forgotten lists the names of customers who leave for good.
func forgotten(w *loyalty.Writes) []loyalty.Claim {
	if len(w.DestroyKeys) == 0 {
		return nil
	}
	return changed(w.Freed, func(c *loyalty.Claim) bool { return slices.Contains(w.DestroyKeys, c.Owner) })
}

// bulkCount is the number of items of one operation that a batch has done.
type bulkCount struct {
	loyalty.BulkMark
	done, errors int64
}

func counted(items []loyalty.BulkMark) []bulkCount {
	var counts []bulkCount
	for _, m := range items {
		i := slices.IndexFunc(counts, func(c bulkCount) bool { return c.Batch == m.Batch })
		if i < 0 {
			i, counts = len(counts), append(counts, bulkCount{BulkMark: m})
		}
		counts[i].done++
		if m.Error != nil {
			counts[i].errors++
		}
	}
	slices.SortFunc(counts, func(a, b bulkCount) int { return loyalty.CompareID(a.Batch, b.Batch) })
	return counts
}

var (
	memberFields = []field[loyalty.Membership]{
		{"customer_id", "uuid", func(m *loyalty.Membership) any { return (*UUID)(&m.Customer) }},
		{"list_id", "text", func(m *loyalty.Membership) any { return (*plain)(&m.List) }},
	}
	joinedFields = []field[changedCustomer]{
		{"id", "uuid", func(c *changedCustomer) any { return (*UUID)(&c.Before.ID) }},
		{"target", "uuid", func(c *changedCustomer) any { return (*UUID)(&c.After.MergedInto) }},
	}

	// No guards: adding a present member, or removing an absent one, changes nothing.
	insertMembers = inserts(`INSERT INTO list_members (customer_id, list_id) SELECT customer_id, list_id FROM v WHERE true ON CONFLICT DO NOTHING`, memberFields...)
	deleteMembers = selects(`DELETE FROM list_members WHERE (customer_id, list_id) IN (SELECT customer_id, list_id FROM v)`, memberFields...)
	copyMembers   = inserts(`INSERT INTO list_members (customer_id, list_id) SELECT v.target, m.list_id FROM v
 JOIN list_members m ON m.customer_id = v.id WHERE true ON CONFLICT DO NOTHING`, joinedFields...)
	dropMerged  = selects(`DELETE FROM list_members WHERE customer_id IN (SELECT id FROM v)`, joinedFields...)
	dropMembers = selects(`DELETE FROM list_members WHERE customer_id IN (SELECT customer_id FROM v)`,
		field[loyalty.ID]{"customer_id", "uuid", func(id *loyalty.ID) any { return (*UUID)(id) }})
)

var (
	bulkKeyFields = []field[loyalty.BulkKey]{
		{"batch_id", "uuid", func(k *loyalty.BulkKey) any { return (*UUID)(&k.Batch) }},
		{"seq", "integer", func(k *loyalty.BulkKey) any { return (*number)(&k.Seq) }},
	}

	selectItems = selects(`SELECT i.batch_id, i.seq FROM v JOIN bulk_items i ON i.batch_id = v.batch_id AND i.seq = v.seq AND i.done_at IS NULL`,
		bulkKeyFields...)

	forgetItems = selects(`UPDATE bulk_items AS i SET customer = NULL, data = NULL FROM v WHERE i.customer = v.value AND i.customer IS NOT NULL`,
		field[loyalty.Claim]{"value", "text", func(c *loyalty.Claim) any { return (*plain)(&c.Value) }})

	markItems = guards(`UPDATE bulk_items AS i SET done_at = v.done_at, error = v.error, data = NULL,
 customer = CASE WHEN v.error IS NULL THEN NULL ELSE i.customer END
 FROM v WHERE i.batch_id = v.batch_id AND i.seq = v.seq AND i.done_at IS NULL`,
		field[loyalty.BulkMark]{"batch_id", "uuid", func(m *loyalty.BulkMark) any { return (*UUID)(&m.Batch) }},
		field[loyalty.BulkMark]{"seq", "integer", func(m *loyalty.BulkMark) any { return (*number)(&m.Seq) }},
		field[loyalty.BulkMark]{"done_at", "bigint", func(m *loyalty.BulkMark) any { return (*Millis)(&m.At) }},
		field[loyalty.BulkMark]{"error", "text", func(m *loyalty.BulkMark) any { return (*Raw)(&m.Error) }})

	countItems = guards(`UPDATE bulk_operations AS o SET done = o.done + v.done, errors = o.errors + v.errors,
 state = CASE WHEN o.done + v.done >= o.total THEN 'done' ELSE 'processing' END,
 finished_at = CASE WHEN o.done + v.done >= o.total THEN v.at END FROM v WHERE o.id = v.id`,
		field[bulkCount]{"id", "uuid", func(c *bulkCount) any { return (*UUID)(&c.Batch) }},
		field[bulkCount]{"done", "bigint", func(c *bulkCount) any { return (*number)(&c.done) }},
		field[bulkCount]{"errors", "bigint", func(c *bulkCount) any { return (*number)(&c.errors) }},
		field[bulkCount]{"at", "bigint", func(c *bulkCount) any { return (*Millis)(&c.At) }})
)

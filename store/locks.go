package store

import (
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// lockable are the rows that a locked load takes before it reads. Counts and pools are known by their keys.
type lockable struct {
	customers, coupons []loyalty.ID
}

// find lists the calls that find the rows to lock.
func (l *loader) find(q *loadPlan) (*lockable, []calls) {
	found := &lockable{}
	var id UUID
	var list []calls
	into := func(ids *[]loyalty.ID) func() error {
		return func() error {
			*ids = append(*ids, loyalty.ID(id))
			return nil
		}
	}

	for w := range lookups {
		if len(q.customers[w]) > 0 {
			list = read(list, selectPeople[w], q.customers[w], []any{&id}, into(&found.customers))
		}
	}

	if len(q.coupons) > 0 {
		list = read(list, selectOwners, q.coupons, []any{&id}, into(&found.coupons))
	}

	return found, list
}

// The locks, one row at a time. An UPDATE takes them, because Citus cannot spread a SELECT … FOR UPDATE over several
// rows. The codes of a pool are unknown before: they are locked in the order in which the load finds them, and a code
// that was taken meanwhile is skipped. A missing count is created.
const (
	lockCustomer = `UPDATE balances SET version = version WHERE customer_id = $1`
	lockCoupon   = `UPDATE coupons SET version = version WHERE id = $1`
	lockPool     = `SELECT id FROM coupons WHERE pool = $1 AND state = 'created' ORDER BY id LIMIT $2 FOR UPDATE`
	lockTally    = `INSERT INTO tallies (key, count) VALUES ($1, 0) ON CONFLICT (key) DO UPDATE SET count = tallies.count`
)

// dueLimit is how many customers are wanted whose DueAt has come.
type dueLimit struct {
	at time.Time
	n  int
}

const dueCustomers = `SELECT b.customer_id FROM balances b WHERE b.due_at <= (SELECT at FROM v) ORDER BY b.due_at LIMIT (SELECT n FROM v)`

// selectDue takes due customers. SQLite has one writer, so no other batch can be working on them.
var selectDue = selects(dueCustomers+` FOR UPDATE SKIP LOCKED`,
	field[dueLimit]{"at", "bigint", func(a *dueLimit) any { return (*Millis)(&a.at) }},
	field[dueLimit]{"n", "bigint", func(a *dueLimit) any { return number(a.n) }}).onSQLite(dueCustomers)

// take is the call that takes due customers, if the needs ask for them.
func (l *loader) take() []calls {
	n := &l.needs
	if n.Due <= 0 {
		return nil
	}
	var id UUID
	rows := []dueLimit{{n.Now, n.Due + len(n.DueExcept)}}
	return read(nil, selectDue, rows, []any{&id}, func() error {
		if len(l.out.Due) < n.Due && !slices.Contains(n.DueExcept, loyalty.ID(id)) {
			l.out.Due = append(l.out.Due, loyalty.ID(id))
		}
		return nil
	})
}

// taken adds the due customers that were taken to the named ones.
func (l *loader) taken() {
	named := slices.Clip(l.needs.Customers)
	for _, id := range l.out.Due {
		named = append(named, loyalty.CustomerNeeds{ID: id, Key: true, Lots: loyalty.OpenLots})
	}
	l.needs.Customers = named
}

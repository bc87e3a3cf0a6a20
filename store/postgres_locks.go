package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// lock begins a transaction and locks everything that the needs name: customers, coupons, pools, counts, each in the
// order of their keys, which all batches follow. What is read afterwards cannot change until the commit.
func (e *postgresEngine) lock(ctx context.Context, c *pgxpool.Conn, l *loader) error {
	q := l.plan()
	found, list := l.find(q)
	if err := send(ctx, c, list, "", ""); err != nil {
		return err
	}
	return lockFound(ctx, c, found, q)
}

// lockFound begins a transaction and takes the locks, each kind in the order of its keys.
func lockFound(ctx context.Context, c *pgxpool.Conn, found *lockable, q *loadPlan) error {
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	each := func(text string, ids []loyalty.ID) {
		slices.SortFunc(ids, loyalty.CompareID)
		for _, id := range slices.Compact(ids) {
			b.Queue(text, UUID(id))
		}
	}

	each(lockCustomer, found.customers)
	each(lockCoupon, found.coupons)
	for _, p := range q.pools {
		b.Queue(lockPool, p.pool, p.n)
	}

	slices.Sort(q.tallies)
	for _, key := range q.tallies {
		b.Queue(lockTally, key)
	}

	return exchangeBatch(ctx, c, b)
}

// takeDue begins a transaction and takes due customers.
func (e *postgresEngine) takeDue(ctx context.Context, c *pgxpool.Conn, l *loader) error {
	if err := send(ctx, c, l.take(), "BEGIN", ""); err != nil {
		return err
	}
	l.taken()
	return nil
}

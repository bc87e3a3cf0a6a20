package store

import (
	"cmp"
	"context"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// exportStore reads whole tables in the order of their keys.
type exportStore struct{ *database }

// exportScan is how many rows are read at most to find those in a period: no index has both the key's order and the
// time's.
const exportScan = 20_000

// exportRead is about how many bytes of rows a part has: several exports run at once, and a part must not take longer
// than a caller waits. A purchase can have one MiB.
const exportRead = 2 << 20

// exported describes the export of a table.
type exported[R any] struct {
	table table[R]
	from  string   // after FROM; empty: the table's name
	key   []string // the columns of its key
	at    string   // the column with the time at which a row was created
	owner string   // the column with the customer; empty: customer_id
	place func(*R) loyalty.ExportPlace
	// args are the values of a key, in the order of its columns.
	args func(loyalty.ExportPlace) []any
	// scan reads a place from the columns of the key.
	scan func(*loyalty.ExportPlace) []any
}

func atID(p loyalty.ExportPlace) []any { return []any{UUID(p.ID)} }

func readID(p *loyalty.ExportPlace) []any { return []any{(*UUID)(&p.ID)} }

func atOwner(p loyalty.ExportPlace) []any { return []any{UUID(p.Customer), UUID(p.ID)} }

func readOwner(p *loyalty.ExportPlace) []any {
	return []any{(*UUID)(&p.Customer), (*UUID)(&p.ID)}
}

var (
	exportedCustomers = exported[loyalty.Customer]{
		table: customerTable, from: "customers JOIN balances ON balances.customer_id = customers.id", key: []string{"customers.id"},
		at: "customers.created_at", owner: "customers.id", place: func(c *loyalty.Customer) loyalty.ExportPlace { return loyalty.ExportPlace{ID: c.ID} },
		args: atID, scan: readID,
	}
	exportedLots = exported[loyalty.CustomerLot]{
		table: lotTable, key: []string{"customer_id", "id"}, at: "earned_at",
		place: func(l *loyalty.CustomerLot) loyalty.ExportPlace {
			return loyalty.ExportPlace{Customer: l.Customer, ID: l.ID}
		},
		args: atOwner, scan: readOwner,
	}
	exportedPurchases = exported[loyalty.Transaction]{
		table: purchaseTable, key: []string{"customer_id", "transaction_id"}, at: "created_at",
		place: func(t *loyalty.Transaction) loyalty.ExportPlace {
			return loyalty.ExportPlace{Customer: t.Customer, Name: t.Name}
		},
		args: func(p loyalty.ExportPlace) []any { return []any{UUID(p.Customer), cleanText(p.Name)} },
		scan: func(p *loyalty.ExportPlace) []any { return []any{(*UUID)(&p.Customer), (*plain)(&p.Name)} },
	}
	exportedCoupons = exported[loyalty.Coupon]{
		table: couponTable, key: []string{"id"}, at: "created_at",
		place: func(c *loyalty.Coupon) loyalty.ExportPlace { return loyalty.ExportPlace{ID: c.ID} },
		args:  atID, scan: readID,
	}
	exportedClaims = exported[loyalty.RewardClaim]{
		table: claimTable, key: []string{"customer_id", "id"}, at: "claimed_at",
		place: func(c *loyalty.RewardClaim) loyalty.ExportPlace {
			return loyalty.ExportPlace{Customer: c.Customer, ID: c.ID}
		},
		args: atOwner, scan: readOwner,
	}
)

// SamePerson reads the ids of a customer and of those merged into them.
func (s exportStore) SamePerson(ctx context.Context, customer loyalty.ID) (ids []loyalty.ID, err error) {
	var id UUID
	return ids, s.asks(ctx, sqlFragment{"SELECT id FROM customers WHERE id = ? OR merged_into = ? ORDER BY id", []any{UUID(customer), UUID(customer)}}.reads(func() bool {
		ids = append(ids, loyalty.ID(id))
		return false
	}, &id))
}

// ExportCustomers reads customers with their figures.
func (s exportStore) ExportCustomers(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.Customer], error) {
	return export(ctx, s.database, exportedCustomers, q)
}

// ExportLots reads lots of points.
func (s exportStore) ExportLots(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.CustomerLot], error) {
	return export(ctx, s.database, exportedLots, q)
}

// ExportPurchases reads purchases.
func (s exportStore) ExportPurchases(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.Transaction], error) {
	return export(ctx, s.database, exportedPurchases, q)
}

// ExportCoupons reads coupons.
func (s exportStore) ExportCoupons(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.Coupon], error) {
	return export(ctx, s.database, exportedCoupons, q)
}

// ExportClaims reads claimed rewards.
func (s exportStore) ExportClaims(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.RewardClaim], error) {
	return export(ctx, s.database, exportedClaims, q)
}

// export reads the next rows of a table. For a period it reads exportScan rows at most and returns those in the
// period.
func export[R any](ctx context.Context, d *database, e exported[R], q loyalty.ExportQuery) (part loyalty.ExportPart[R], err error) {
	part.Through = q.After
	from := e.from
	if from == "" {
		from = e.table.name
	}

	key := "(" + strings.Join(e.key, ", ") + ")"
	order := " ORDER BY " + strings.Join(e.key, ", ")
	marked := "(" + marks("?", len(e.key)) + ")"
	where := sqlFragment{}
	if q.After != (loyalty.ExportPlace{}) { // an id of zeros is NULL
		where = where.and(key+" > "+marked, e.args(q.After)...)
	}

	if len(q.Customers) > 0 {
		keys := make([]UUID, len(q.Customers))
		for i, id := range q.Customers {
			keys[i] = UUID(id)
		}
		where = where.and(cmp.Or(e.owner, "customer_id")+" IN ?", keys)
	}

	read := func(w sqlFragment) question {
		size := 0
		text := "SELECT " + e.table.names() + " FROM " + from + w.where() + order + " LIMIT ?"
		return e.table.rows(sqlFragment{text, append(w.args, q.Limit+1)}, func(row *R) (enough bool) {
			if part.More = len(part.Rows) == q.Limit || size > exportRead; part.More {
				return true
			}
			part.Rows, size = append(part.Rows, *row), size+loyalty.Weight(row)
			part.Through = e.place(row)
			return false
		})
	}

	if q.From.IsZero() && q.Before.IsZero() {
		err = d.asks(ctx, read(where))
		return part, err
	}

	var bound loyalty.ExportPlace
	bounded := false
	last := sqlFragment{
		"SELECT " + strings.Join(e.key, ", ") + " FROM " + from + where.where() + order + " LIMIT 1 OFFSET ?", append(where.args, exportScan-1),
	}.reads(func() bool { bounded = true; return true }, e.scan(&bound)...)
	err = d.ask(ctx, []question{last}, func() ([]question, error) {
		w := where
		if bounded {
			w = w.and(key+" <= "+marked, e.args(bound)...)
		}
		if !q.From.IsZero() {
			w = w.and(e.at+" >= ?", Millis(q.From))
		}
		if !q.Before.IsZero() {
			w = w.and(e.at+" < ?", Millis(q.Before))
		}
		return []question{read(w)}, nil
	})
	if err == nil && !part.More && bounded {
		part.Through, part.More = bound, true
	}

	return part, err
}

package store

import (
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
)

// folding is some families being folded: whose rows are read, one part after the
// other, and which family a row belongs to; nil: none of them.
type folding struct {
	db     *gorm.DB
	parts  []condition
	family func(UUID) *rebuild.Family
	events int64
}

// condition says whose rows of a table are read, by the column of their id.
type condition func(db *gorm.DB, column string) *gorm.DB

// only is one customer.
func only(id loyalty.ID) condition {
	return func(db *gorm.DB, column string) *gorm.DB { return db.Where(column+" = ?", UUID(id)) }
}

// page folds the customers of a span.
func (r *rebuilding) page(s span) error {
	families := map[loyalty.ID]*rebuild.Family{}
	family := func(id UUID) *rebuild.Family {
		key := loyalty.ID(id)
		f, known := families[key]
		if !known && !r.rebuild.Merged(key) {
			f = r.rebuild.Family(key)
			families[key] = f
		}
		return f
	}
	if err := r.fold(&folding{db: r.db, parts: []condition{s.of}, family: family}); err != nil {
		return err
	}
	for _, id := range slices.SortedFunc(maps.Keys(families), loyalty.CompareID) {
		families[id].Close()
	}
	return r.done(len(families))
}

// together folds those who became one, each family by itself.
func (r *rebuilding) together() error {
	for _, members := range r.rebuild.Families() {
		f := r.rebuild.Family(members...)
		parts := make([]condition, len(members))
		for i, id := range members {
			parts[i] = only(id)
		}
		if err := r.fold(&folding{db: r.db, parts: parts, family: func(UUID) *rebuild.Family { return f }}); err != nil {
			return err
		}
		f.Close()
		if err := r.done(len(members)); err != nil {
			return err
		}
	}
	return nil
}

// fold reads the journal and then what is stored.
func (r *rebuilding) fold(f *folding) error {
	for _, read := range []func() error{f.postings, f.journal, f.accounts, f.balances, f.lots, f.transactions, f.progress, f.claims, f.given} {
		if err := read(); err != nil {
			return err
		}
	}
	r.progress.Events += f.events
	return nil
}

// done lets the coupons go that are as the events so far left them, and tells what
// was found and how far it is.
func (r *rebuilding) done(customers int) error {
	for some := range slices.Chunk(r.rebuild.Touched(), rebuildCustomers) {
		ids := make([]UUID, len(some))
		for i, id := range some {
			ids[i] = UUID(id)
		}
		if err := couponTable.each(r.db.Where("id IN ?", ids), func(c *loyalty.Coupon) bool { r.rebuild.Match(new(*c)); return false }); err != nil {
			return err
		}
	}
	if err := r.tell(); err != nil {
		return err
	}
	r.progress.Customers += int64(customers)
	r.told(r.progress)
	return nil
}

// each hands the rows of a table to their families. query says of which columns,
// and in which order.
func each[Row any](f *folding, key string, query *gorm.DB, owner func(*Row) UUID, take func(*rebuild.Family, *Row)) error {
	for _, part := range f.parts {
		err := scan(part(query.Session(&gorm.Session{}), key), func(row *Row) {
			if family := f.family(owner(row)); family != nil {
				take(family, row)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scan reads rows one by one.
func scan[Row any](q *gorm.DB, take func(*Row)) error {
	rows, err := q.Model(new(Row)).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	for rows.Next() {
		var row Row
		if err := q.ScanRows(rows, &row); err != nil {
			return err
		}
		take(&row)
	}
	return rows.Err()
}

func (f *folding) postings() error {
	return each(f, "customer_id", f.db, func(p *postingRow) UUID { return p.CustomerID }, func(to *rebuild.Family, p *postingRow) {
		to.Post(loyalty.CustomerPosting{Customer: loyalty.ID(p.CustomerID), Posting: points.Posting{
			Event: points.ID(p.EventID), Seq: p.Seq, From: p.FromAccount, To: p.ToAccount, Lot: points.ID(p.LotID), Points: p.Points,
		}})
	})
}

// journal reads events in their order, without what was sent.
func (f *folding) journal() error {
	query := f.db.Select("customer_id", "id", "recorded_at", "at", "points", "exp_date", "action", "transaction_id", "effects").
		Order("customer_id, id")
	return each(f, "customer_id", query, func(e *eventRow) UUID { return e.CustomerID }, func(to *rebuild.Family, e *eventRow) {
		to.Event(foldable(e))
		f.events++
	})
}

// foldable is an event as far as a rebuild reads it.
func foldable(e *eventRow) *loyalty.Event {
	return &loyalty.Event{
		ID: loyalty.ID(e.ID), Customer: loyalty.ID(e.CustomerID), Action: e.Action, Transaction: string(e.TransactionID),
		Points: e.Points, ExpDate: e.ExpDate.Time(), At: e.At.Time(), RecordedAt: e.RecordedAt.Time(), Effects: e.Effects.V,
	}
}

func (f *folding) accounts() error {
	query := f.db.Select("id", "status", "merged_into", "referrer").Order("id")
	return each(f, "id", query, func(c *customerRow) UUID { return c.ID }, func(to *rebuild.Family, c *customerRow) {
		to.Account(new(customerOf(c, &balanceRow{})))
	})
}

func (f *folding) balances() error {
	query := f.db.Order("customer_id")
	return each(f, "customer_id", query, func(b *balanceRow) UUID { return b.CustomerID }, func(to *rebuild.Family, b *balanceRow) {
		c := customerOf(&customerRow{}, b)
		to.Balance(loyalty.ID(b.CustomerID), c.Figures, c.LastEvent)
	})
}

func (f *folding) lots() error {
	query := f.db.Order("customer_id, id")
	return each(f, "customer_id", query, func(l *lotRow) UUID { return l.CustomerID }, func(to *rebuild.Family, l *lotRow) {
		to.Lot(&loyalty.CustomerLot{Customer: loyalty.ID(l.CustomerID), Lot: lotOf(l)})
	})
}

func (f *folding) transactions() error {
	query := f.db.Order("customer_id, transaction_id")
	return each(f, "customer_id", query, func(t *transactionRow) UUID { return t.CustomerID }, func(to *rebuild.Family, t *transactionRow) {
		to.Purchase(new(transactionOf(t)))
	})
}

func (f *folding) progress() error {
	query := f.db.Order("customer_id, kind, key")
	return each(f, "customer_id", query, func(p *progressRow) UUID { return p.CustomerID }, func(to *rebuild.Family, p *progressRow) {
		to.Progress(&loyalty.Progress{
			Customer: loyalty.ID(p.CustomerID), ProgressKey: loyalty.ProgressKey{Kind: p.Kind, Key: p.Key}, Data: []byte(p.Data), DueAt: p.DueAt.Time(),
		})
	})
}

// claims come without an order: asked for one, PostgreSQL likes to read all claims
// by their ids.
func (f *folding) claims() error {
	return each(f, "customer_id", f.db, func(c *claimRow) UUID { return c.CustomerID }, func(to *rebuild.Family, c *claimRow) {
		to.Claim(new(claimOf(c)))
	})
}

// given compares whom campaigns gave something.
func (f *folding) given() error {
	query := f.db.Order("customer_id, campaign")
	return each(f, "customer_id", query, func(g *givenRow) UUID { return g.CustomerID }, func(to *rebuild.Family, g *givenRow) {
		to.Given(loyalty.ID(g.CustomerID), g.Campaign)
	})
}

// campaigns compares the figures of campaigns, after all families.
func (r *rebuilding) campaigns() error {
	var id string
	var sum loyalty.CampaignFigures
	tell := func() {
		if id != "" {
			r.rebuild.Campaign(id, sum)
		}
	}
	err := scan(r.db.Order("campaign, slot"), func(c *campaignRow) {
		if c.Campaign != id {
			tell()
			id, sum = c.Campaign, loyalty.CampaignFigures{}
		}
		sum.Add(figuresOf(c))
	})
	tell()
	return err
}

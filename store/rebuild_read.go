package store

import (
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
)

// folding is a set of families being folded: the conditions that select their rows, one part after the other, and the
// family that a row belongs to (nil: none of them).
type folding struct {
	db     *gorm.DB
	parts  []condition
	family func(loyalty.ID) *rebuild.Family
	events int64
}

// condition selects the rows of some customers, by the column of their id.
type condition func(db *gorm.DB, column string) *gorm.DB

// only selects one customer.
func only(id loyalty.ID) condition {
	return func(db *gorm.DB, column string) *gorm.DB { return db.Where(column+" = ?", UUID(id)) }
}

// page folds the customers of a span.
func (r *rebuilding) page(s span) error {
	families := map[loyalty.ID]*rebuild.Family{}
	family := func(key loyalty.ID) *rebuild.Family {
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

// together folds merged customers, each family by itself.
func (r *rebuilding) together() error {
	for _, members := range r.rebuild.Families() {
		f := r.rebuild.Family(members...)
		parts := make([]condition, len(members))
		for i, id := range members {
			parts[i] = only(id)
		}
		if err := r.fold(&folding{db: r.db, parts: parts, family: func(loyalty.ID) *rebuild.Family { return f }}); err != nil {
			return err
		}
		f.Close()
		if err := r.done(len(members)); err != nil {
			return err
		}
	}

	return nil
}

// fold reads the journal, and then the stored rows.
func (r *rebuilding) fold(f *folding) error {
	for _, read := range []func() error{f.postings, f.journal, f.accounts, f.balances, f.lots, f.transactions, f.progress, f.claims, f.given} {
		if err := read(); err != nil {
			return err
		}
	}
	r.progress.Events += f.events
	return nil
}

// done drops the coupons whose stored state already matches the events so far, and reports the findings and the
// progress.
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

// each passes the rows of a table to their families, in the order of the query.
func each[Row any](f *folding, t table[Row], query *gorm.DB, owner func(*Row) loyalty.ID, take func(*rebuild.Family, *Row)) error {
	for _, part := range f.parts {
		err := t.each(part(query.Session(&gorm.Session{}), t.fields[0].name), func(row *Row) bool {
			if family := f.family(owner(row)); family != nil {
				take(family, new(*row))
			}
			return false
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
	defer func() { _ = rows.Close() }() // rows.Err reports the error
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
	return each(f, postingTable, f.db, func(p *loyalty.CustomerPosting) loyalty.ID { return p.Customer }, func(to *rebuild.Family, p *loyalty.CustomerPosting) {
		to.Post(*p)
	})
}

// foldedEvent is an event without the data that was sent.
var foldedEvent = eventTable.without("data", "personal")

// journal reads events in their order.
func (f *folding) journal() error {
	return each(f, foldedEvent, f.db.Order("customer_id, id"), func(e *loyalty.Event) loyalty.ID { return e.Customer }, func(to *rebuild.Family, e *loyalty.Event) {
		to.Event(e)
		f.events++
	})
}

func (f *folding) accounts() error {
	return each(f, accountTable.some("id", "status", "merged_into", "referrer"), f.db.Order("id"), customerID, (*rebuild.Family).Account)
}

func (f *folding) balances() error {
	return each(f, balanceTable, f.db.Order("customer_id"), customerID, func(to *rebuild.Family, c *loyalty.Customer) {
		to.Balance(c.ID, c.Figures, c.LastEvent)
	})
}

func customerID(c *loyalty.Customer) loyalty.ID { return c.ID }

func (f *folding) lots() error {
	return each(f, lotTable, f.db.Order("customer_id, id"), func(l *loyalty.CustomerLot) loyalty.ID { return l.Customer }, (*rebuild.Family).Lot)
}

func (f *folding) transactions() error {
	return each(f, purchaseTable, f.db.Order("customer_id, transaction_id"), func(t *loyalty.Transaction) loyalty.ID { return t.Customer }, (*rebuild.Family).Purchase)
}

func (f *folding) progress() error {
	return each(f, progressTable, f.db.Order("customer_id, kind, key"), func(p *loyalty.Progress) loyalty.ID { return p.Customer }, (*rebuild.Family).Progress)
}

// claims have no order: for an ordered query PostgreSQL may read all claims by their ids.
func (f *folding) claims() error {
	return each(f, claimTable, f.db, func(c *loyalty.RewardClaim) loyalty.ID { return c.Customer }, (*rebuild.Family).Claim)
}

// given compares the customers that campaigns gave something to.
func (f *folding) given() error {
	return each(f, givenTable, f.db.Order("customer_id, campaign"), func(g *given) loyalty.ID { return g.customer }, func(to *rebuild.Family, g *given) {
		to.Given(g.customer, g.campaign)
	})
}

// given is a customer that a campaign gave something to.
type given struct {
	customer loyalty.ID
	campaign string
}

var givenTable = table[given]{name: "campaign_customers", fields: []field[given]{
	{"customer_id", "uuid", func(g *given) any { return (*UUID)(&g.customer) }},
	{"campaign", "text", func(g *given) any { return (*plain)(&g.campaign) }},
}}

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

package store

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
)

// RebuildProgress is how far a rebuild has come.
type RebuildProgress struct {
	Customers, Events int64 // folded so far
	Of                int64 // all events
}

// How many customers are in memory at once, and how many events they may have together: a customer with more events
// is alone.
const (
	rebuildCustomers = 200
	rebuildEvents    = 20_000
)

// VerifyRebuild folds the whole journal, as of one instant of a live database, into a scratch copy and reports every
// difference from what is stored. An error means that the comparison was not completed, which proves nothing either
// way.
func (s proof) VerifyRebuild(ctx context.Context, differ func(rebuild.Difference), told func(RebuildProgress)) error {
	return s.rebuild(ctx, &rebuilding{differ: differ, told: told, customers: rebuildCustomers, events: rebuildEvents})
}

func (s proof) rebuild(ctx context.Context, r *rebuilding) error {
	if err := s.current(ctx); err != nil {
		return err
	}

	return s.consistent(ctx, func(db *gorm.DB) error {
		if err := s.unhurried(db); err != nil {
			return err
		}
		r.db = db
		for _, step := range []func() error{r.prepare, r.alone, r.together, r.shared} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// rebuilding is a rebuild in progress.
type rebuilding struct {
	db                *gorm.DB
	rebuild           *rebuild.Rebuild
	progress          RebuildProgress
	found             []rebuild.Difference // to be reported with the customers' names
	differ            func(rebuild.Difference)
	told              func(RebuildProgress)
	customers, events int // limits of a page
}

// reach are the actions whose events can involve a merge, or a purchase that changed hands; pending_validate applies
// held ones.
var reach = []string{"merge", "checkout_claim", "pending_validate"}

// prepare reads what connects customers from the journal.
func (r *rebuilding) prepare() error {
	if err := r.db.Table("events").Count(&r.progress.Of).Error; err != nil {
		return err
	}

	var far []loyalty.Event
	err := eventTable.some("customer_id", "id", "transaction_id", "effects").each(r.db.Where("action IN ?", reach), func(e *loyalty.Event) bool {
		if x := e.Effects; x != nil && (x.MergedFrom != nil || x.Holder != nil) {
			far = append(far, *e)
		}
		return false
	})
	if err != nil {
		return err
	}

	r.rebuild = rebuild.NewRebuild(far, func(d rebuild.Difference) { r.found = append(r.found, d) })
	return r.byKeys()
}

// byKeys makes PostgreSQL read each page along its keys, also where a scan of a small table looks cheap.
func (r *rebuilding) byKeys() error {
	for _, off := range []string{"enable_seqscan", "enable_bitmapscan"} {
		if r.db.Name() != "postgres" {
			break
		}
		if err := r.db.Exec("SET LOCAL " + off + " = off").Error; err != nil {
			return err
		}
	}
	return nil
}

// span are the customers after one id, up to and including another.
type span struct{ after, to UUID }

// firstID and lastID bound the ids: every id is greater than firstID and at most lastID. (Zero is NULL here.)
var firstID, lastID = UUID{15: 1}, UUID{
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
}

func (s span) of(db *gorm.DB, column string) *gorm.DB {
	return db.Where(column+" > ? AND "+column+" <= ?", s.after, s.to)
}

// alone folds the customers without merges, page by page. The pages leave no gap between them, so that rows of
// customers who do not exist are found too.
func (r *rebuilding) alone() error {
	for s := (span{firstID, lastID}); ; {
		var ids []UUID
		if err := r.nextCustomers(s).Find(&ids).Error; err != nil {
			return err
		}

		page := span{s.after, lastID}
		if len(ids) == r.customers {
			page.to = ids[len(ids)-1]
		}
		if err := r.cut(&page); err != nil {
			return err
		}
		if err := r.page(page); err != nil {
			return err
		}
		if page.to == lastID {
			return nil
		}

		s.after = page.to
	}
}

func (r *rebuilding) nextCustomers(s span) *gorm.DB {
	return s.of(r.db.Table("customers").Select("id"), "id").Order("id").Limit(r.customers)
}

// cut ends a page before it has too many events.
func (r *rebuilding) cut(page *span) error {
	rows, err := r.counts(*page).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	var before UUID
	for sum := 0; rows.Next(); {
		var id UUID
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			return err
		}
		if sum += n; sum > r.events {
			page.to = before
			if before == (UUID{}) {
				page.to = id
			}
			break
		}
		before = id
	}

	return rows.Err()
}

func (r *rebuilding) counts(s span) *gorm.DB {
	return s.of(r.db.Table("events").Select("customer_id, count(*)"), "customer_id").Group("customer_id").Order("customer_id")
}

// shared compares the rows that belong to no customer.
func (r *rebuilding) shared() error {
	if err := couponTable.each(r.db.Order("id"), func(c *loyalty.Coupon) bool { r.rebuild.Coupon(new(*c)); return false }); err != nil {
		return err
	}
	if err := tallyTable.each(r.db.Order("key"), func(t *loyalty.Tally) bool { r.rebuild.Tally(*t); return false }); err != nil {
		return err
	}
	if err := r.campaigns(); err != nil {
		return err
	}
	r.rebuild.Finish()
	return r.tell()
}

// tell adds the customers' names to the findings, and reports them.
func (r *rebuilding) tell() error {
	names := map[loyalty.ID]string{}
	for some := range slices.Chunk(r.found, rebuildCustomers) {
		ids := make([]UUID, len(some))
		for i := range some {
			ids[i] = UUID(some[i].Customer)
		}
		err := accountTable.some("id", "name").each(r.db.Where("id IN ?", ids), func(c *loyalty.Customer) bool {
			names[c.ID] = c.Name
			return false
		})
		if err != nil {
			return err
		}
	}

	for _, d := range r.found {
		d.Name = names[d.Customer]
		r.differ(d)
	}

	r.found = nil
	return nil
}

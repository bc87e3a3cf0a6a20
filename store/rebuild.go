package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// RebuildProgress says how far a rebuild has come.
type RebuildProgress struct {
	Customers, Events int64 // folded so far
	Of                int64 // events in all
}

// rebuildPage is how many families are in memory at once.
const rebuildPage = 200

// VerifyRebuild folds the whole journal, on one instant of a live database, into a
// scratch copy and reports every difference from what is stored. It fails when it
// could not be done, which proves nothing either way.
func (s *Store) VerifyRebuild(ctx context.Context, differ func(loyalty.Difference), told func(RebuildProgress)) error {
	if err := s.current(ctx); err != nil {
		return err
	}
	return s.consistent(ctx, func(db *gorm.DB) error {
		r := &rebuilding{db: db, told: told}
		if err := db.Model(&eventRow{}).Count(&r.progress.Of).Error; err != nil {
			return err
		}
		if err := r.prepare(differ); err != nil {
			return err
		}
		if err := r.families(); err != nil {
			return err
		}
		return r.shared()
	})
}

// rebuilding is one rebuild under way.
type rebuilding struct {
	db       *gorm.DB
	rebuild  *loyalty.Rebuild
	progress RebuildProgress
	told     func(RebuildProgress)
}

// prepare reads from the journal what reaches over families: merges, and
// purchases that changed hands.
func (r *rebuilding) prepare(differ func(loyalty.Difference)) error {
	var rows []eventRow
	err := r.db.Where("action IN ?", []string{"merge", "checkout_claim"}).Order("id").Find(&rows).Error
	if err != nil {
		return err
	}
	merged, moved := map[loyalty.ID]loyalty.ID{}, map[string]loyalty.ID{}
	for i := range rows {
		x := rows[i].Effects.V
		if x == nil {
			continue
		}
		if x.MergedFrom != nil {
			into := loyalty.ID(rows[i].CustomerID)
			merged[*x.MergedFrom] = into
			for source, target := range merged { // a merge is always one step away
				if target == *x.MergedFrom {
					merged[source] = into
				}
			}
		}
		if x.Holder != nil {
			moved[string(rows[i].TransactionID)] = *x.Holder
		}
	}
	r.rebuild = loyalty.NewRebuild(merged, moved, differ)
	return nil
}

// families goes through all customers who were not merged into another one.
func (r *rebuilding) families() error {
	last := UUID{}
	for {
		var page []customerRow
		q := r.db.Where("merged_into IS NULL").Order("id").Limit(rebuildPage)
		if last != (UUID{}) {
			q = q.Where("id > ?", last)
		}
		if err := q.Find(&page).Error; err != nil || len(page) == 0 {
			return err
		}
		last = page[len(page)-1].ID
		if err := r.page(page); err != nil {
			return err
		}
		r.told(r.progress)
	}
}

// page reads and folds the families of some survivors.
func (r *rebuilding) page(survivors []customerRow) error {
	ids := make([]UUID, len(survivors))
	for i, c := range survivors {
		ids[i] = c.ID
	}
	var sources []customerRow
	if err := r.db.Where("merged_into IN ?", ids).Order("id").Find(&sources).Error; err != nil {
		return err
	}
	family := map[UUID]*loyalty.Family{} // by every member
	var list []*loyalty.Family
	for _, c := range survivors {
		family[c.ID] = &loyalty.Family{Customers: []loyalty.Customer{customerOf(&c, &balanceRow{})}}
		list = append(list, family[c.ID])
	}
	for _, c := range sources {
		f := family[c.MergedInto]
		f.Customers = append(f.Customers, customerOf(&c, &balanceRow{}))
		family[c.ID] = f
		ids = append(ids, c.ID)
	}
	if err := errors.Join(r.figures(ids, family), r.journal(ids, family), r.rows(ids, family)); err != nil {
		return err
	}
	for _, f := range list {
		r.rebuild.Family(f)
		r.progress.Customers += int64(len(f.Customers))
		r.progress.Events += int64(len(f.Events))
	}
	return nil
}

// each reads the rows of some customers and hands them to their families.
func each[Row any](r *rebuilding, ids []UUID, take func(*Row)) error {
	for start := 0; start < len(ids); start += rebuildPage {
		var rows []Row
		err := r.db.Where("customer_id IN ?", ids[start:min(start+rebuildPage, len(ids))]).Find(&rows).Error
		if err != nil {
			return fmt.Errorf("%T: %w", rows, err)
		}
		for i := range rows {
			take(&rows[i])
		}
	}
	return nil
}

func (r *rebuilding) figures(ids []UUID, family map[UUID]*loyalty.Family) error {
	return each(r, ids, func(b *balanceRow) {
		f := family[b.CustomerID]
		for i := range f.Customers {
			if c := &f.Customers[i]; c.ID == loyalty.ID(b.CustomerID) {
				c.Figures = points.Figures{
					Score: b.Score, Spent: b.Spent, Reserved: b.Reserved, Expired: b.Expired, Pending: b.Pending, Debt: b.Debt,
				}
			}
		}
	})
}

func (r *rebuilding) journal(ids []UUID, family map[UUID]*loyalty.Family) error {
	err := each(r, ids, func(e *eventRow) {
		f := family[e.CustomerID]
		f.Events = append(f.Events, loyalty.Event{
			ID: loyalty.ID(e.ID), Parent: loyalty.ID(e.Parent), Customer: loyalty.ID(e.CustomerID), Action: e.Action,
			Transaction: string(e.TransactionID), Points: e.Points, ExpDate: e.ExpDate.Time(), At: e.At.Time(),
			RecordedAt: e.RecordedAt.Time(), Effects: e.Effects.V,
		})
	})
	return errors.Join(err, each(r, ids, func(p *postingRow) {
		f := family[p.CustomerID]
		f.Postings = append(f.Postings, loyalty.CustomerPosting{Customer: loyalty.ID(p.CustomerID), Posting: points.Posting{
			Event: points.ID(p.EventID), Seq: p.Seq, From: p.FromAccount, To: p.ToAccount, Lot: points.ID(p.LotID), Points: p.Points,
		}})
	}))
}

func (r *rebuilding) rows(ids []UUID, family map[UUID]*loyalty.Family) error {
	return errors.Join(
		each(r, ids, func(l *lotRow) {
			f := family[l.CustomerID]
			f.Lots = append(f.Lots, loyalty.CustomerLot{Customer: loyalty.ID(l.CustomerID), Lot: lotOf(l)})
		}),
		each(r, ids, func(t *transactionRow) {
			f := family[t.CustomerID]
			f.Transactions = append(f.Transactions, transactionOf(t))
		}),
		each(r, ids, func(p *progressRow) {
			f := family[p.CustomerID]
			f.Progress = append(f.Progress, loyalty.Progress{
				Customer:    loyalty.ID(p.CustomerID),
				ProgressKey: loyalty.ProgressKey{Kind: p.Kind, Key: p.Key}, Data: []byte(p.Data), DueAt: p.DueAt.Time(),
			})
		}),
		each(r, ids, func(c *claimRow) {
			f := family[c.CustomerID]
			f.Claims = append(f.Claims, claimOf(c))
		}),
	)
}

// shared compares what belongs to nobody.
func (r *rebuilding) shared() error {
	var coupons []couponRow
	err := r.db.FindInBatches(&coupons, 1000, func(*gorm.DB, int) error {
		for i := range coupons {
			c := couponOf(&coupons[i])
			r.rebuild.Coupon(&c)
		}
		return nil
	}).Error
	if err != nil {
		return err
	}
	rows, err := r.db.Raw("SELECT key, count FROM tallies ORDER BY key").Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	for rows.Next() {
		var t loyalty.Tally
		if err := rows.Scan(&t.Key, &t.Count); err != nil {
			return err
		}
		r.rebuild.Tally(t)
	}
	r.rebuild.Finish()
	return rows.Err()
}

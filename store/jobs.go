package store

import (
	"context"
	"encoding/json"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// jobStore keeps the job table, and lists the customers that jobs visit.
type jobStore struct{ *database }

type jobRow struct {
	Name       string `gorm:"primaryKey"`
	NextAt     Millis
	Owner      Text
	LeaseUntil Millis
	StartedAt  Millis
	FinishedAt Millis
	Done       int64
	Failed     int64
	Result     Text
	Runs       int64
	State      Raw
}

func (jobRow) TableName() string { return "jobs" }

// Jobs lists the rows by name.
func (s jobStore) Jobs(ctx context.Context) ([]loyalty.JobRow, error) {
	var rows []jobRow
	if err := s.read.WithContext(ctx).Order("name").Find(&rows).Error; err != nil {
		return nil, s.classify(err)
	}
	list := make([]loyalty.JobRow, len(rows))
	for i, r := range rows {
		list[i] = loyalty.JobRow{
			Name: r.Name, NextAt: r.NextAt.Time(), Owner: string(r.Owner), LeaseUntil: r.LeaseUntil.Time(),
			StartedAt: r.StartedAt.Time(), FinishedAt: r.FinishedAt.Time(), Done: r.Done, Failed: r.Failed,
			Result: string(r.Result), Runs: r.Runs, State: json.RawMessage(r.State),
		}
	}
	return list, nil
}

// SwapJob replaces before by after, or inserts after if before is nil. It returns false, and writes nothing, if the
// row has changed.
func (s jobStore) SwapJob(ctx context.Context, before *loyalty.JobRow, after loyalty.JobRow, told ...loyalty.Notice) (bool, error) {
	if len(told) == 0 {
		return s.swapJob(s.write.WithContext(ctx), before, after)
	}
	swapped := false
	err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) (err error) {
		if swapped, err = s.swapJob(db, before, after); err != nil || !swapped {
			return err
		}
		return tell(db, told...)
	})
	return swapped && err == nil, s.classify(err)
}

func (s jobStore) swapJob(db *gorm.DB, before *loyalty.JobRow, after loyalty.JobRow) (bool, error) {
	row := jobRow{
		Name: after.Name, NextAt: Millis(after.NextAt), Owner: Text(after.Owner), LeaseUntil: Millis(after.LeaseUntil),
		StartedAt: Millis(after.StartedAt), FinishedAt: Millis(after.FinishedAt), Done: after.Done, Failed: after.Failed,
		Result: Text(after.Result), Runs: after.Runs, State: Raw(after.State),
	}

	if after.Owner == "" {
		s.passes(JobDone)
	}

	var written *gorm.DB
	if before == nil {
		written = db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	} else {
		written = db.Model(&jobRow{}).Select("*").Omit("name").
			Where("name = ? AND owner IS NOT DISTINCT FROM ? AND lease_until IS NOT DISTINCT FROM ?", before.Name, Text(before.Owner), Millis(before.LeaseUntil)).
			Where("next_at = ? AND runs = ?", Millis(before.NextAt), before.Runs).Updates(&row)
	}

	if after.Owner != "" && written.Error == nil {
		s.passes(JobTaken)
	}

	return written.RowsAffected == 1, s.classify(written.Error)
}

// CustomersAfter lists customers that are neither merged nor opted out, by id, after the given one.
func (s jobStore) CustomersAfter(ctx context.Context, after loyalty.ID, limit int) ([]loyalty.ID, error) {
	db := s.read.WithContext(ctx).Table("customers").Where("status NOT IN ?", []loyalty.Status{loyalty.Merged, loyalty.OptedOut})
	if after != (loyalty.ID{}) {
		db = db.Where("id > ?", UUID(after))
	}
	return s.ids(db.Order("id").Limit(limit), "id")
}

// Due lists customers whose DueAt has come, the oldest first.
func (s jobStore) Due(ctx context.Context, now time.Time, limit int) ([]loyalty.ID, error) {
	return s.ids(s.read.WithContext(ctx).Table("balances").Where("due_at <= ?", Millis(now)).Order("due_at").Limit(limit), "customer_id")
}

package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// pastColumns read an event, with the points that its postings issued.
var pastColumns = eventTable.of("e") + fmt.Sprintf(`, (SELECT CAST(COALESCE(SUM(p.points), 0) AS bigint) FROM postings p
WHERE p.customer_id = e.customer_id AND p.event_id = e.id AND p.from_account = %d AND p.to_account = %d) AS issued`, points.Issued, points.Available)

// CountPast counts the events of a query; see loyalty.PastStore.
func (s journalStore) CountPast(ctx context.Context, q loyalty.PastQuery) (int64, error) {
	var n int64
	err := s.read.WithContext(ctx).Table("events").Where("action IN ? AND recorded_at >= ? AND recorded_at < ?",
		q.Actions, Millis(q.From), Millis(q.Before)).Count(&n).Error
	return n, s.fault(err)
}

// PastEvents reads the next events of a query. Each action is read separately along the index (action, recorded_at,
// id).
func (s journalStore) PastEvents(ctx context.Context, q loyalty.PastQuery) ([]loyalty.PastEvent, error) {
	var list []loyalty.PastEvent
	err := s.consistent(ctx, func(db *gorm.DB) error {
		for _, action := range q.Actions {
			var issued int64
			err := eventTable.each(past(db, action, &q), func(e *loyalty.Event) bool {
				list = append(list, loyalty.PastEvent{Event: *e, Issued: issued})
				return false
			}, &issued)
			if err != nil {
				return err
			}
		}

		slices.SortFunc(list, func(a, b loyalty.PastEvent) int {
			return cmp.Or(a.RecordedAt.Compare(b.RecordedAt), loyalty.CompareID(a.ID, b.ID))
		})
		list = list[:min(q.Limit, len(list))]
		return markHeld(db, list)
	})

	return list, err
}

func past(db *gorm.DB, action string, q *loyalty.PastQuery) *gorm.DB {
	db = db.Table("events e").Select(pastColumns).Where("e.action = ? AND e.recorded_at < ?", action, Millis(q.Before))
	if q.After.At.IsZero() {
		db = db.Where("e.recorded_at >= ?", Millis(q.From))
	} else {
		db = db.Where("e.recorded_at >= ? AND (e.recorded_at, e.id) > (?, ?)", Millis(q.After.At), Millis(q.After.At), UUID(q.After.ID))
	}
	return db.Order("e.recorded_at, e.id").Limit(q.Limit)
}

// markHeld marks the events that waited for validation, which a pending event beside them shows.
func markHeld(db *gorm.DB, list []loyalty.PastEvent) error {
	if len(list) == 0 {
		return nil
	}

	customers := make([]UUID, len(list))
	for i := range list {
		customers[i] = UUID(list[i].Customer)
	}

	var parents []UUID
	err := db.Table("events").Where("action = 'pending' AND recorded_at BETWEEN ? AND ? AND customer_id IN ?",
		Millis(list[0].RecordedAt), Millis(list[len(list)-1].RecordedAt), customers).Pluck("parent", &parents).Error
	held := make(map[loyalty.ID]bool, len(parents))
	for _, id := range parents {
		held[loyalty.ID(id)] = true
	}

	for i := range list {
		list[i].Held = held[list[i].ID]
	}

	return err
}

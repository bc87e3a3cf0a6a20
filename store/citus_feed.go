package store

import (
	"slices"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// feedAtOnce is how many events of the tail one statement reads.
const feedAtOnce = 500

// spreadFeed reads the events of a stretch of the tail, in the order of their numbers. It names their customers, so
// that only the machines that have them are asked; a join with the tail, which is on the coordinator, would ask every
// part of the journal.
func spreadFeed(db *gorm.DB, w sqlFragment, stretch []loyalty.TailEvent, take func(*loyalty.Event, int64) bool) error {
	return spreadEvents(db, eventTable, feedEvent, w, stretch, take)
}

// spreadEvents is spreadFeed with other fields and another SELECT list.
func spreadEvents(db *gorm.DB, fields table[loyalty.Event], selected string, w sqlFragment, stretch []loyalty.TailEvent, take func(*loyalty.Event, int64) bool) error {
	for some := range slices.Chunk(stretch, feedAtOnce) {
		events, err := eventsOfTail(db, fields, selected, w, some)
		if err != nil {
			return err
		}
		for i := range some {
			if e := events[ownEvent{UUID(some[i].Customer), UUID(some[i].ID)}]; e != nil && take(e, some[i].Number) {
				return nil
			}
		}
	}
	return nil
}

func eventsOfTail(db *gorm.DB, fields table[loyalty.Event], selected string, w sqlFragment, some []loyalty.TailEvent) (map[ownEvent]*loyalty.Event, error) {
	wanted := make(ownEvents, len(some))
	from, to := some[0].RecordedAt, some[0].RecordedAt // the months to search
	for i := range some {
		wanted[i] = ownEvent{UUID(some[i].Customer), UUID(some[i].ID)}
		if at := some[i].RecordedAt; at.Before(from) {
			from = at
		} else if at.After(to) {
			to = at
		}
	}

	customers, ids := wanted.columns()
	w = w.and("e.customer_id IN ?", customers).and("e.id IN ?", ids).and("e.recorded_at >= ?", Millis(from)).and("e.recorded_at <= ?", Millis(to))
	found := make(map[ownEvent]*loyalty.Event, len(some))
	err := fields.each(db.Raw(selected+" FROM events e"+w.where(), w.args...), func(e *loyalty.Event) bool {
		event := *e
		found[ownEvent{UUID(e.Customer), UUID(e.ID)}] = &event
		return false
	})

	return found, err
}

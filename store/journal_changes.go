package store

import (
	"slices"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// streams is how many customers' postings are asked for at a time: each of them is an
// alternative, of which the databases take no end.
const streams = 100

// addChanges tells of events what they did to the spendable balance. Postings are kept
// by customer, and a merge has some of both: those of the source are asked for as well.
func addChanges(db *gorm.DB, events []loyalty.Event) error {
	place := make(map[UUID]*loyalty.Event, len(events))
	by := map[UUID][]UUID{} // events by the customer of their postings
	var customers []UUID
	note := func(customer loyalty.ID, event UUID) {
		if by[UUID(customer)] == nil {
			customers = append(customers, UUID(customer))
		}
		by[UUID(customer)] = append(by[UUID(customer)], event)
	}
	for i := range events {
		e := &events[i]
		place[UUID(e.ID)] = e
		note(e.Customer, UUID(e.ID))
		if e.Effects != nil && e.Effects.MergedFrom != nil {
			note(*e.Effects.MergedFrom, UUID(e.ID))
		}
	}
	for some := range slices.Chunk(customers, streams) {
		err := posted.each(postedBy(db, some, by), func(p *loyalty.CustomerPosting) bool {
			place[UUID(p.Event)].Change += p.Change()
			return false
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// posted is what addChanges reads of a posting.
var posted = postingTable.some("event_id", "from_account", "to_account", "points")

// postedBy is the statement of addChanges.
func postedBy(db *gorm.DB, customers []UUID, by map[UUID][]UUID) *gorm.DB {
	found := db.Table("postings").Select(posted.names())
	for _, c := range customers {
		found = found.Or("(customer_id = ? AND event_id IN ?)", c, by[c])
	}
	return found
}

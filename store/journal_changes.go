package store

import (
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// moved is the change of the spendable balance that a row's event made for the row's customer; see
// points.Posting.Change. It is looked up row by row: a join could be run as a scan of all postings.
func moved(row string) string {
	return fmt.Sprintf(`(SELECT `+spendableMoved+` FROM postings p WHERE p.customer_id = %[1]s.customer_id AND p.event_id = %[1]s.id)`, row)
}

// spendableMoved is the sum of that change over postings p.
var spendableMoved = sumOf(fmt.Sprintf(`CASE WHEN p.to_account IN (%[1]d, %[2]d) THEN p.points ELSE 0 END - CASE WHEN p.from_account IN (%[1]d, %[2]d) THEN p.points ELSE 0 END`, points.Available, points.Debt))

// changes is how the balance changes of a page's events are read.
type changes int

const (
	// changesEach looks up each event: filtered events, or events that another order puts elsewhere, lie between
	// those of the page.
	changesEach changes = iota
	// changesBetween reads one range of an index, where all events are one customer's: the postings from the first
	// event to the last.
	changesBetween
	// changesRead says that the changes were read with the events.
	changesRead
)

// changesOf reads the changes that events made to the spendable balance. Postings are stored by customer, and a merge
// has some of both customers, so those of the source are read as well.
func changesOf(events []loyalty.Event, how changes) (list []question) {
	if len(events) == 0 || how == changesRead && !anyMerge(events) {
		return nil
	}

	place := make(map[UUID]*loyalty.Event, len(events))
	first, last := &events[0], &events[0]
	var wanted, merges ownEvents
	whole := how == changesBetween
	for i := range events {
		e := &events[i]
		place[UUID(e.ID)], wanted = e, append(wanted, ownEvent{UUID(e.Customer), UUID(e.ID)})
		if isMerge(e) {
			merges = append(merges, ownEvent{UUID(*e.Effects.MergedFrom), UUID(e.ID)})
		}
		whole = whole && e.Customer == first.Customer
		// a page of all customers can be one customer's too, and clocks can give another order than ids
		if loyalty.CompareID(e.ID, first.ID) < 0 {
			first = e
		}
		if loyalty.CompareID(e.ID, last.ID) > 0 {
			last = e
		}
	}

	var event UUID
	var change number
	read := func(w sqlFragment, wanted ownEvents) {
		customers, ids := wanted.columns()
		list = append(list, w.reads(func() bool {
			if e := place[event]; e != nil {
				e.Change += int64(change)
			}
			return false
		}, &event, &change).onCitus(`SELECT p.event_id, `+spendableMoved+` FROM postings p WHERE p.customer_id IN ? AND p.event_id IN ? GROUP BY p.customer_id, p.event_id`, customers, ids))
	}

	switch {
	case how == changesRead:
	case whole:
		read(sqlFragment{sumBetween, []any{UUID(first.Customer), UUID(first.ID), UUID(last.ID)}}, wanted)
	default:
		wanted = append(wanted, merges...)
		read(sqlFragment{sumByOne, []any{wanted}}, wanted)
		return list
	}

	if merges != nil {
		read(sqlFragment{sumByOne, []any{merges}}, merges)
	}

	return list
}

func isMerge(e *loyalty.Event) bool { return e.Effects != nil && e.Effects.MergedFrom != nil }

func anyMerge(events []loyalty.Event) bool {
	for i := range events {
		if isMerge(&events[i]) {
			return true
		}
	}
	return false
}

var (
	sumByOne   = "WITH v(customer_id, id) AS ? SELECT id, " + moved("v") + " FROM v"
	sumBetween = "SELECT p.event_id, " + spendableMoved + " FROM postings p WHERE p.customer_id = ? AND p.event_id BETWEEN ? AND ? GROUP BY p.event_id"
)

// ownEvent names an event together with its customer.
type ownEvent struct{ customer, id UUID }

// ownEvents are pairs, as the rows of a two-column table in a question.
type ownEvents []ownEvent

// columns splits the pairs into two lists.
func (o ownEvents) columns() (customers, ids []UUID) {
	for _, e := range o {
		customers, ids = append(customers, e.customer), append(ids, e.id)
	}
	return customers, ids
}

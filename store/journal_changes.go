package store

import (
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// moved is what the event of a row did to the spendable balance of the row's customer; see
// points.Posting.Change. It is looked up row by row: a join could be made by reading all
// postings.
func moved(row string) string {
	return fmt.Sprintf(`(SELECT `+spendableMoved+` FROM postings p WHERE p.customer_id = %[1]s.customer_id AND p.event_id = %[1]s.id)`, row)
}

// spendableMoved is the sum of what postings p did to it.
var spendableMoved = sumOf(fmt.Sprintf(`CASE WHEN p.to_account IN (%[1]d, %[2]d) THEN p.points ELSE 0 END - CASE WHEN p.from_account IN (%[1]d, %[2]d) THEN p.points ELSE 0 END`, points.Available, points.Debt))

// changesOf reads what events did to the spendable balance. Postings are stored by customer, and a
// merge has some of both, so those of the source are read as well.
func changesOf(events []loyalty.Event) []question {
	if len(events) == 0 {
		return nil
	}
	place := make(map[UUID]*loyalty.Event, len(events))
	wanted := make(ownEvents, 0, len(events))
	for i := range events {
		e := &events[i]
		place[UUID(e.ID)], wanted = e, append(wanted, ownEvent{UUID(e.Customer), UUID(e.ID)})
		if e.Effects != nil && e.Effects.MergedFrom != nil {
			wanted = append(wanted, ownEvent{UUID(*e.Effects.MergedFrom), UUID(e.ID)})
		}
	}
	var event UUID
	var change number
	customers, ids := wanted.columns()
	return []question{sqlFragment{"WITH v(customer_id, id) AS ? SELECT id, " + moved("v") + " FROM v", []any{wanted}}.reads(func() bool {
		place[event].Change += int64(change)
		return false
	}, &event, &change).onCitus(`SELECT p.event_id, `+spendableMoved+` FROM postings p WHERE p.customer_id IN ? AND p.event_id IN ? GROUP BY p.customer_id, p.event_id`, customers, ids)}
}

// ownEvent names an event with its customer.
type ownEvent struct{ customer, id UUID }

// ownEvents are the rows of a table of two columns, as the value of a question.
type ownEvents []ownEvent

// columns are the two of them.
func (o ownEvents) columns() (customers, ids []UUID) {
	for _, e := range o {
		customers, ids = append(customers, e.customer), append(ids, e.id)
	}
	return customers, ids
}

package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// eventTable holds the events of the journal.
var eventTable = table[loyalty.Event]{name: "events", fields: []field[loyalty.Event]{
	{"customer_id", "uuid", func(e *loyalty.Event) any { return (*UUID)(&e.Customer) }},
	{"id", "uuid", func(e *loyalty.Event) any { return (*UUID)(&e.ID) }},
	{"recorded_at", "bigint", func(e *loyalty.Event) any { return (*Millis)(&e.RecordedAt) }},
	{"at", "bigint", func(e *loyalty.Event) any { return (*Millis)(&e.At) }},
	{"points", "bigint", func(e *loyalty.Event) any { return optional{&e.Points} }},
	{"exp_date", "bigint", func(e *loyalty.Event) any { return (*Millis)(&e.ExpDate) }},
	{"parent", "uuid", func(e *loyalty.Event) any { return (*UUID)(&e.Parent) }},
	{"action", "text", func(e *loyalty.Event) any { return (*plain)(&e.Action) }},
	{"transaction_id", "text", func(e *loyalty.Event) any { return (*Text)(&e.Transaction) }},
	{"data", "text", func(e *loyalty.Event) any { return (*Raw)(&e.Data) }},
	{"personal", "bytea", func(e *loyalty.Event) any { return (*blob)(&e.Personal) }},
	{"effects", "text", func(e *loyalty.Event) any { return documentIn(&e.Effects) }},
	{"sent_by", "text", func(e *loyalty.Event) any { return (*Text)(&e.SentBy) }},
}}

// postingTable holds the postings of the ledger.
var postingTable = table[loyalty.CustomerPosting]{name: "postings", fields: []field[loyalty.CustomerPosting]{
	{"customer_id", "uuid", func(p *loyalty.CustomerPosting) any { return (*UUID)(&p.Customer) }},
	{"event_id", "uuid", func(p *loyalty.CustomerPosting) any { return (*UUID)(&p.Event) }},
	{"seq", "integer", func(p *loyalty.CustomerPosting) any { return wholeIn(&p.Seq) }},
	{"from_account", "smallint", func(p *loyalty.CustomerPosting) any { return wholeIn(&p.From) }},
	{"to_account", "smallint", func(p *loyalty.CustomerPosting) any { return wholeIn(&p.To) }},
	{"lot_id", "uuid", func(p *loyalty.CustomerPosting) any { return (*UUID)(&p.Lot) }},
	{"points", "bigint", func(p *loyalty.CustomerPosting) any { return (*number)(&p.Points) }},
}}

var (
	insertEvents = insertsInto(eventTable.name, append(
		through(eventTable.without("effects").fields, func(e *writtenEvent) *loyalty.Event { return &e.Event }),
		field[writtenEvent]{"effects", "text", func(e *writtenEvent) any { return &e.effects }})...)
	insertPostings = postingTable.inserts()
)

// writtenEvent is an event with its effects as the text from which its chain was computed.
type writtenEvent struct {
	loyalty.Event
	effects Text
}

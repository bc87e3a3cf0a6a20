package export

import (
	"context"
	"strconv"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The events in the order of the feed. No event is missed, and an export can continue where an earlier file ended.

// feedScan is how many numbers of the feed one read examines when the export is bounded in time.
const feedScan = 20_000

// feed reads the next events behind a number.
func (r *Reader) feed(ctx context.Context, limit int, postings bool) (loyalty.FeedPart, error) {
	part, err := r.from.Feed(ctx, loyalty.FeedQuery{
		After: r.number, Limit: limit, Scan: feedScan, From: r.ask.From, Before: r.ask.Before, Postings: postings,
	})
	if !r.ask.Personal {
		part.Keys = nil
	}
	return part, err
}

// beside collects the current names of the customers of a piece.
func (r *Reader) beside(part *loyalty.FeedPart) *beside {
	return &beside{page: part, names: namesIn(&part.EventPage)}
}

// namesIn are the current names of the customers of events; a customer who left has none.
func namesIn(page *loyalty.EventPage) map[loyalty.ID]string {
	names := map[loyalty.ID]string{}
	for id, c := range page.Customers {
		if c.Status != loyalty.OptedOut {
			names[id] = c.Name
		}
	}
	return names
}

// nameless removes the names of other customers from attributes.
func nameless(page *loyalty.EventPage) {
	for id, c := range page.Customers {
		c.Status = loyalty.OptedOut
		page.Customers[id] = c
	}
}

// happened is an event with its number.
type happened struct {
	*loyalty.Event
	number int64
	data   value
	actor  value
	kind   value
}

// sentBy is the sender of the event; users are named only if personal data is asked for.
func (e *happened) sentBy(personal bool) {
	if e.SentBy == "" {
		return
	}
	actor, kind := loyalty.ActorOf(e.SentBy)
	if e.kind = plainValue(string(kind)); personal || kind != loyalty.ActorUser {
		e.actor = textValue(actor)
	}
}

type events struct{}

var eventColumns = []column[happened]{
	{Column{"key", false, "the number of the event in the feed; send it as after to go on behind it"},
		func(_ *beside, e *happened) value { return wholeValue(e.number) }},
	{Column{"event", false, "its id"}, func(_ *beside, e *happened) value { return idValue(e.ID) }},
	{Column{"customer_id", false, "whose it is"}, func(_ *beside, e *happened) value { return idValue(e.Customer) }},
	{Column{"action", false, "what happened"}, func(_ *beside, e *happened) value { return plainValue(e.Action) }},
	{Column{"parent", false, "the event that it followed from"},
		func(_ *beside, e *happened) value { return idValue(e.Parent) }},
	{Column{"recorded_at", false, "when it was recorded: what from and to mean"},
		func(_ *beside, e *happened) value { return instantValue(e.RecordedAt) }},
	{Column{"at", false, "when it took effect"}, func(_ *beside, e *happened) value { return instantValue(e.At) }},
	{Column{"points", false, "what it is worth, as lists show it"},
		func(_ *beside, e *happened) value { return optionalValue(e.Points) }},
	{Column{"change", false, "what it did to the points that can be spent"},
		func(_ *beside, e *happened) value { return wholeValue(e.Change) }},
	{Column{"expires_at", false, "when the points that it gave expire"},
		func(_ *beside, e *happened) value { return instantValue(e.ExpDate) }},
	{Column{"transaction_id", false, "the purchase that it belongs to"},
		func(_ *beside, e *happened) value { return textValue(e.Transaction) }},
	{Column{"data", false,
		"its attributes, as a JSON object; those that name a person only where personal data was asked for"},
		func(_ *beside, e *happened) value {
			return e.data
		}},
	{Column{"key_id", false,
		"the access key that sent it, or command line; of a user of the console the login, only where personal data was asked for"},
		func(_ *beside, e *happened) value { return e.actor }},
	{Column{"actor_kind", false,
		"who sent it: key, user or system; nothing where the platform itself did"},
		func(_ *beside, e *happened) value {
			return e.kind
		}},
	{Column{"customer", true, "the caller's id"}, func(b *beside, e *happened) value { return named(b, e.Customer) }},
}

func (events) columns() (list []Column) { return described(eventColumns) }

func (events) next(ctx context.Context, r *Reader, limit int) (rows [][]value, more bool, err error) {
	part, err := r.feed(ctx, limit, false)
	if err != nil {
		return nil, false, err
	}

	b := r.beside(&part)
	if !r.ask.Personal {
		nameless(&part.EventPage)
	}

	for i := range part.Events {
		e := happened{Event: &part.Events[i], number: part.Numbers[i]}
		data, err := part.Attributes(e.Event)
		if err != nil {
			return nil, false, err
		}
		e.data = documentValue(data)
		e.sentBy(r.ask.Personal)
		rows = append(rows, cells(r, eventColumns, b, &e))
	}

	r.number = part.Through
	return rows, part.Through < part.Head, nil
}

// posted is a posting with the event that it belongs to.
type posted struct {
	*loyalty.CustomerPosting
	event  *loyalty.Event
	number int64
	place  int // among the postings of the event, from 1
}

type postings struct{}

var postingColumns = []column[posted]{
	{Column{"key", false,
		"the number of the event in the feed, and which of its postings; send it as after to go on behind it"},
		func(_ *beside, p *posted) value {
			return plainValue(strconv.FormatInt(p.number, 10) + "/" + strconv.Itoa(p.place))
		}},
	{Column{"event", false, "the event"}, func(_ *beside, p *posted) value { return idValue(p.event.ID) }},
	{Column{"action", false, "of the event"}, func(_ *beside, p *posted) value { return plainValue(p.event.Action) }},
	{Column{"customer_id", false, "whose points moved"}, func(_ *beside, p *posted) value { return idValue(p.Customer) }},
	{Column{"recorded_at", false, "when it was recorded: what from and to mean"},
		func(_ *beside, p *posted) value { return instantValue(p.event.RecordedAt) }},
	{Column{"at", false, "when it took effect"}, func(_ *beside, p *posted) value { return instantValue(p.event.At) }},
	{Column{"from", false, "the account that the points left"},
		func(_ *beside, p *posted) value { return plainValue(p.From.String()) }},
	{Column{"to", false, "the account that got them"},
		func(_ *beside, p *posted) value { return plainValue(p.To.String()) }},
	{Column{"lot", false, "the lot that they lie in"}, func(_ *beside, p *posted) value { return idValue(p.Lot) }},
	{Column{"points", false, "how many, always above zero"},
		func(_ *beside, p *posted) value { return wholeValue(p.Points) }},
	{Column{"customer", true, "the caller's id of whose event it is"},
		func(b *beside, p *posted) value { return named(b, p.event.Customer) }},
}

func (postings) columns() (list []Column) { return described(postingColumns) }

// next returns the postings of some events. Postings of one event stay together, so one event alone may exceed limit.
func (postings) next(ctx context.Context, r *Reader, limit int) (rows [][]value, more bool, err error) {
	part, err := r.feed(ctx, limit, true)
	if err != nil {
		return nil, false, err
	}

	b, through := r.beside(&part), part.Through
	for i := range part.Events {
		e := &part.Events[i]
		own := part.Postings[e.ID]
		if len(rows) > 0 && len(rows)+len(own) > limit {
			through = part.Numbers[i] - 1
			break
		}
		for k := range own {
			if part.Numbers[i] == r.number+1 && k < r.within {
				continue // the caller has this posting
			}
			rows = append(rows, cells(r, postingColumns, b, &posted{&own[k], e, part.Numbers[i], k + 1}))
		}
	}

	if through > r.number {
		r.number, r.within = through, 0
	}

	return rows, through < part.Head, nil
}

func described[R any](columns []column[R]) (list []Column) {
	for _, c := range columns {
		list = append(list, c.Column)
	}
	return list
}

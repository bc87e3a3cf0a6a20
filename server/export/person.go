package export

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ofPerson are the tables with the data of one person, in the order of writing. Movements of points are in the events
// and the lots already.
var ofPerson = []string{"customers", "events", "lots", "purchases", "coupons", "claims"}

// Person reads all data of one customer and of the customers merged into that one, table by table.
type Person struct {
	tables []*Reader
	names  []string
}

// OfCustomer starts reading all data of a customer, by internal id. personal includes the columns that identify a
// person.
func OfCustomer(
	ctx context.Context, from loyalty.ExportReader, journal loyalty.JournalReader, customer loyalty.ID, personal bool,
) (*Person, error) {
	ids, err := from.SamePerson(ctx, customer)
	if err != nil {
		return nil, err
	}
	p := &Person{names: ofPerson}
	for _, name := range ofPerson {
		r := &Reader{ask: Ask{Table: name, Personal: personal}, from: from, source: sources()[name], of: ids}
		if name == "events" {
			r.source = &stream{journal: journal, query: loyalty.EventQuery{Customer: customer, OldestFirst: true}}
		}
		p.tables = append(p.tables, r)
	}
	return p, nil
}

// Next reads at most limit rows, each with the name of its table first. A piece may be empty although more rows follow.
func (p *Person) Next(ctx context.Context, limit int) (Piece, error) {
	if len(p.tables) == 0 {
		return Piece{}, nil
	}

	piece, err := p.tables[0].Next(ctx, limit)
	if err != nil {
		return piece, err
	}

	name := plainValue(p.names[0])
	piece.columns = append([]Column{{Name: "table"}}, piece.columns...)
	for i := range piece.rows {
		piece.rows[i] = append([]value{name}, piece.rows[i]...)
	}

	if !piece.More {
		p.tables, p.names = p.tables[1:], p.names[1:]
		piece.More = len(p.tables) > 0
	}

	return piece, nil
}

// stream reads the events of one customer in the order of recording. It finds them by the customer instead of scanning
// the feed.
type stream struct {
	journal loyalty.JournalReader
	query   loyalty.EventQuery
}

// streamColumns are the columns of events; the key of a row is the event's id.
var streamColumns = append([]column[happened]{
	{Column{"key", false, "the event's id"}, func(_ *beside, e *happened) value { return idValue(e.ID) }},
}, eventColumns[1:]...)

func (*stream) columns() []Column { return described(streamColumns) }

func (s *stream) next(ctx context.Context, r *Reader, limit int) (rows [][]value, more bool, err error) {
	s.query.Page.Limit = limit
	page, err := s.journal.Events(ctx, s.query)
	if err != nil {
		return nil, false, err
	}

	b := &beside{names: namesIn(&page)}
	if !r.ask.Personal {
		page.Keys = nil
		nameless(&page)
	}

	for i := range page.Events {
		e := happened{Event: &page.Events[i]}
		data, err := page.Attributes(e.Event)
		if err != nil {
			return nil, false, err
		}
		e.data = documentValue(data)
		e.sentBy(r.ask.Personal)
		rows = append(rows, cells(r, streamColumns, b, &e))
	}

	if n := len(page.Events); n > 0 {
		place := s.query.Place(&page.Events[n-1])
		s.query.Page.After = &place
	}

	return rows, page.More || len(page.Events) == limit, nil
}

// Package export writes whole tables as CSV or as lines of JSON, piece by piece. It decides what a row is, which
// columns are personal, and how a cell is written so that no spreadsheet takes it for a formula.
package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Ask selects what is exported.
type Ask struct {
	Table        string
	From, Before time.Time // when rows were created; zero: no bound
	After        string    // the key of the last row that the caller has; empty: from the start
	Personal     bool      // with the columns that identify a person
}

// The failures of Open.
var (
	ErrTable = errors.New("no table of that name")
	ErrAfter = errors.New("not the key of a row of this table")
)

// kind is how a value of a column is written.
type kind uint8

const (
	text     kind = iota // string; a cell may not be a formula
	plain                // string made here: an id, a number or an instant
	document             // raw JSON
)

// value is a cell: text in CSV; in JSON also a number, a document, true or false.
type value struct {
	kind
	text  string
	bare  bool // JSON writes it without quotes
	there bool
}

// Column is a column of a table.
type Column struct {
	Name     string
	Personal bool // the column is there only if personal data is asked for
	Meaning  string
}

// source reads a table.
type source interface {
	columns() []Column
	// next reads the rows behind r.place. The first cell of each row is its key.
	next(ctx context.Context, r *Reader, limit int) (rows [][]value, more bool, err error)
}

// column is a column and how to get its value from a row.
type column[R any] struct {
	Column
	get func(*beside, *R) value
}

// beside holds what was read in addition to the rows of a piece.
type beside struct {
	names map[loyalty.ID]string // the customers' current names
	page  *loyalty.FeedPart     // the part of the feed, for events and postings
}

// Tables are the names of the tables, in the order of the listing.
func Tables() []string {
	return []string{"customers", "events", "postings", "lots", "purchases", "coupons", "claims"}
}

func sources() map[string]source {
	return map[string]source{
		"customers": customers, "lots": lots, "purchases": purchases, "coupons": coupons, "claims": claims,
		"events": events{}, "postings": postings{},
	}
}

// Columns are the columns of a table, the key first.
func Columns(table string, personal bool) (list []Column) {
	s := sources()[table]
	if s == nil {
		return nil
	}
	for _, c := range s.columns() {
		if personal || !c.Personal {
			list = append(list, c)
		}
	}
	return list
}

// Reader reads a table to its end, from its beginning or from behind a row.
type Reader struct {
	ask    Ask
	from   loyalty.ExportReader
	source source
	place  loyalty.ExportPlace
	number int64        // of the event, if the table follows the feed
	within int          // how many postings of the event after number the caller has
	of     []loyalty.ID // the customers whose rows are wanted; none: all customers
}

// Open starts reading. It fails with ErrTable or ErrAfter.
func Open(from loyalty.ExportReader, ask Ask) (*Reader, error) {
	r := &Reader{ask: ask, from: from, source: sources()[ask.Table]}
	if r.source == nil {
		return nil, fmt.Errorf("%w: %q", ErrTable, ask.Table)
	}
	if ask.After != "" && !r.goBehind(ask.After) {
		return nil, fmt.Errorf("%w: %q", ErrAfter, ask.After)
	}
	return r, nil
}

// Next reads at most limit rows. A piece may be empty although more rows follow.
func (r *Reader) Next(ctx context.Context, limit int) (p Piece, err error) {
	rows, more, err := r.source.next(ctx, r, limit)
	return Piece{Rows: len(rows), More: more, rows: rows, columns: Columns(r.ask.Table, r.ask.Personal)}, err
}

// query is the query to the store.
func (r *Reader) query(limit int) loyalty.ExportQuery {
	return loyalty.ExportQuery{After: r.place, From: r.ask.From, Before: r.ask.Before, Customers: r.of, Limit: limit}
}

// cells are the values of a row in the columns that are asked for.
func cells[R any](r *Reader, columns []column[R], b *beside, row *R) []value {
	list := make([]value, 0, len(columns))
	for i := range columns {
		if r.ask.Personal || !columns[i].Personal {
			list = append(list, columns[i].get(b, row))
		}
	}
	return list
}

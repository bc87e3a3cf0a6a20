package store

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// pieceLines is how many lines a row of purchase_lines has. A purchase with no more lines keeps them in its own row,
// so that the usual purchase is one row to read and to write.
const pieceLines = 64

// piecesFor is the number of separate rows for a purchase's lines; 0 if they go into the purchase's row.
func piecesFor(lines int) int {
	if lines <= pieceLines {
		return 0
	}
	return (lines + pieceLines - 1) / pieceLines
}

// purchasePiece is a row of purchase_lines.
type purchasePiece struct {
	customer loyalty.ID
	purchase string
	number   int // from 0
	lines    []loyalty.Line
}

var (
	pieceKey = []field[purchasePiece]{
		{"customer_id", "uuid", func(p *purchasePiece) any { return (*UUID)(&p.customer) }},
		{"transaction_id", "text", func(p *purchasePiece) any { return (*plain)(&p.purchase) }},
		{"piece", "integer", func(p *purchasePiece) any { return wholeIn(&p.number) }},
	}
	pieceTable = table[purchasePiece]{name: "purchase_lines", fields: append(pieceKey[:3:3],
		field[purchasePiece]{"lines", "text", func(p *purchasePiece) any { return documentIn(&p.lines) }})}

	insertPieces = pieceTable.inserts()
	// A conflict is detected by the purchase's own row, which every change of its lines writes too.
	updatePieces = guards(`UPDATE purchase_lines AS l SET lines = v.lines FROM v
 WHERE l.customer_id = v.customer_id AND l.transaction_id = v.transaction_id AND l.piece = v.piece`, pieceTable.fields...)
	deletePieces = guards(`DELETE FROM purchase_lines WHERE (customer_id, transaction_id, piece) IN (SELECT customer_id, transaction_id, piece FROM v)`, pieceKey...)
)

// purchaseLines reads the lines of the purchase $row that are in separate rows, as the JSON array of those rows; NULL
// without any, which is decided from the purchase's row alone.
const purchaseLines = `CASE WHEN $row.pieces > 0 THEN (SELECT '[' || string_agg(l.lines, ',' ORDER BY l.piece) || ']' FROM purchase_lines l
 WHERE l.customer_id = $row.customer_id AND l.transaction_id = $row.transaction_id) END AS lines`

// piecesField reads how many rows of lines a purchase has, and writes how many it gets.
type piecesField struct {
	wholeField[int]
	of *loyalty.Transaction
}

func piecesIn(t *loyalty.Transaction) piecesField { return piecesField{wholeIn(&t.Pieces), t} }

// Value returns the number.
func (p piecesField) Value() (driver.Value, error) {
	return int64(piecesFor(len(p.of.Detail.Items))), nil
}

// Int64Value implements pgtype.Int64Valuer.
func (p piecesField) Int64Value() (pgtype.Int8, error) {
	return pgtype.Int8{Int64: int64(piecesFor(len(p.of.Detail.Items))), Valid: true}, nil
}

// purchaseDocument is the document of a purchase whose lines are in separate rows. It has the number of lines in
// place of the lines: a program that does not know such rows cannot read the document, and so cannot mistake the
// purchase for one without lines.
type purchaseDocument struct {
	loyalty.TransactionDetail
	Items int `json:"items"`
}

// purchaseField is a purchase's document, in either form. Pieces must be read before it.
type purchaseField struct{ of *loyalty.Transaction }

func (p purchaseField) json() (string, error) {
	lines := len(p.of.Detail.Items)
	if piecesFor(lines) == 0 {
		return Document[loyalty.TransactionDetail]{p.of.Detail}.json()
	}
	return Document[purchaseDocument]{purchaseDocument{p.of.Detail, lines}}.json()
}

// Value returns the JSON text.
func (p purchaseField) Value() (driver.Value, error) {
	text, err := p.json()
	if text == "" || err != nil {
		return nil, err
	}
	return text, nil
}

// TextValue implements pgtype.TextValuer.
func (p purchaseField) TextValue() (pgtype.Text, error) {
	text, err := p.json()
	return pgtype.Text{String: text, Valid: text != ""}, err
}

// Scan reads the JSON text.
func (p purchaseField) Scan(src any) error { return scanText(src, p) }

// ScanText implements pgtype.TextScanner.
func (p purchaseField) ScanText(v pgtype.Text) error {
	if p.of.Pieces == 0 {
		return documentIn(&p.of.Detail).ScanText(v)
	}
	var d Document[purchaseDocument]
	err := d.ScanText(v)
	p.of.Detail = d.V.TransactionDetail
	p.of.Detail.Items = make([]loyalty.Line, 0, max(0, d.V.Items)) // the lines follow in linesField
	return err
}

// linesField reads the lines of a purchase that are in separate rows.
type linesField struct{ of *loyalty.Transaction }

// Scan reads the JSON text.
func (l linesField) Scan(src any) error { return scanText(src, l) }

// ScanText implements pgtype.TextScanner.
func (l linesField) ScanText(v pgtype.Text) error {
	if l.of.Pieces == 0 {
		return nil // the document had them
	}
	if v.String == "" {
		return errNoLines
	}

	var pieces [][]loyalty.Line
	if err := json.Unmarshal([]byte(v.String), &pieces); err != nil {
		return err
	}

	said := cap(l.of.Detail.Items)
	for _, some := range pieces {
		l.of.Detail.Items = append(l.of.Detail.Items, some...)
	}

	if found := len(l.of.Detail.Items); found != said || len(pieces) != l.of.Pieces {
		return fmt.Errorf("%w: it has %d of them in %d rows, and %d in %d are there", errNoLines, said, l.of.Pieces, found, len(pieces))
	}

	return nil
}

var errNoLines = errors.New("a purchase lacks rows of its lines (purchase_lines)")

package export

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/spreadsheet"
)

// Form is the format of the rows.
type Form string

// The formats.
const (
	CSV    Form = "csv"    // RFC 4180 in UTF-8; lines end with a line feed, the first names the columns
	NDJSON Form = "ndjson" // one JSON object a line; absent values are null
)

// Piece is some rows of a table.
type Piece struct {
	Rows    int
	More    bool // more rows may follow
	rows    [][]value
	columns []Column
}

// Last is the key of the last row; empty if there is none.
func (p *Piece) Last() string {
	if len(p.rows) == 0 {
		return ""
	}
	return p.rows[len(p.rows)-1][0].text
}

// Header is the first line of a table; nothing in a format whose rows name their columns.
func Header(f Form, table string, personal bool) []byte {
	if f != CSV {
		return nil
	}
	var line []byte
	for i, c := range Columns(table, personal) {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, c.Name...)
	}
	return append(line, '\n')
}

// Text writes the rows.
func (p *Piece) Text(f Form) (text []byte) {
	for _, row := range p.rows {
		if f == CSV {
			text = appendCSV(text, row)
		} else {
			text = p.appendJSON(text, row)
		}
	}
	return text
}

func appendCSV(line []byte, row []value) []byte {
	for i, v := range row {
		if i > 0 {
			line = append(line, ',')
		}
		cell := v.text
		if v.kind == text {
			cell = spreadsheet.Guard(cell)
		}
		if strings.ContainsAny(cell, "\",\r\n") || strings.HasPrefix(cell, " ") {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		line = append(line, cell...)
	}

	return append(line, '\n')
}

func (p *Piece) appendJSON(line []byte, row []value) []byte {
	for i, v := range row {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		line = append(append(append(line, separator, '"'), p.columns[i].Name...), '"', ':')
		switch {
		case !v.there:
			line = append(line, "null"...)
		case v.bare:
			line = append(line, v.text...)
		default:
			line = append(line, loyalty.JSON(v.text)...)
		}
	}

	return append(line, '}', '\n')
}

// The values of cells.

func textValue(s string) value { return value{kind: text, text: s, there: s != ""} }

func plainValue(s string) value { return value{kind: plain, text: s, there: s != ""} }

func idValue(id loyalty.ID) value {
	if id == (loyalty.ID{}) {
		return value{}
	}
	return plainValue(id.String())
}

func wholeValue(n int64) value {
	return value{kind: plain, text: strconv.FormatInt(n, 10), bare: true, there: true}
}

func optionalValue(n *int64) value {
	if n == nil {
		return value{}
	}
	return wholeValue(*n)
}

func moneyValue(n money.Parts) value {
	return value{kind: plain, text: money.Amount(n).String(), bare: true, there: true}
}

func instantValue(at time.Time) value {
	if at.IsZero() {
		return value{}
	}
	return plainValue(at.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}

// documentValue writes JSON; nil, an empty list and an empty object become no value.
func documentValue(v any) value {
	raw, is := v.(json.RawMessage)
	if !is {
		raw = loyalty.JSON(v)
	}
	switch string(raw) {
	case "", "null", "{}", "[]":
		return value{}
	}
	return value{kind: document, text: string(raw), bare: true, there: true}
}

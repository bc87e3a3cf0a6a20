package importer

import (
	"bufio"
	"errors"
	"io"
)

// maxRow bounds a row in bytes, and so the memory for an unclosed quotation mark. maxCells bounds its cells: no kind of
// file has that many columns.
const (
	maxRow   = 1 << 20
	maxCells = 200
)

// The reasons why the reading of a file stops.
var (
	errRowTooLong   = errors.New("the row is too long")
	errTooManyCells = errors.New("the row has too many cells")
	errQuote        = errors.New("a quotation mark is not allowed here")
)

// rows splits a file into rows of cells. It does not use encoding/csv, because lines may end with CR alone, and line
// ends inside quotation marks must stay unchanged.
type rows struct {
	from  *bufio.Reader
	comma rune
	line  int // where the last row began, from 1
	next  int // where the next one begins
	size  int // of the row so far, in bytes
	cell  []byte
	cells []string
}

func newRows(from *bufio.Reader, comma rune, line int) *rows {
	return &rows{from: from, comma: comma, next: line}
}

// read returns the next row that is not empty, and io.EOF at the end of the file.
func (r *rows) read() ([]string, error) {
	for {
		r.line, r.size, r.cells = r.next, 0, r.cells[:0]
		ended, err := r.row()
		if err != nil {
			return nil, err
		}
		if len(r.cells) > 1 || len(r.cells) == 1 && r.cells[0] != "" {
			return r.cells, nil
		}
		if ended {
			return nil, io.EOF
		}
	}
}

// row reads cells up to the end of a line, or of the file.
func (r *rows) row() (ended bool, err error) {
	for {
		end, err := r.one()
		if err != nil {
			return false, err
		}
		if len(r.cells) == maxCells && end == nextCell {
			return false, errTooManyCells
		}

		r.cells = append(r.cells, string(r.cell))
		if end != nextCell {
			return end == endOfFile, nil
		}
	}
}

// ending is what a cell ends with.
type ending int

const (
	goesOn ending = iota
	nextCell
	endOfLine
	endOfFile
)

// one reads a cell into r.cell.
func (r *rows) one() (ending, error) {
	r.cell = r.cell[:0]

	for first := true; ; first = false {
		c, end, err := r.rune()
		switch {
		case err != nil:
			return 0, err
		case end != goesOn:
			return end, nil
		case c == '"' && first:
			return r.quoted()
		case c == '"':
			return 0, errQuote
		}
	}
}

// quoted reads the rest of a cell that begins with a quotation mark. Line ends belong to it.
func (r *rows) quoted() (ending, error) {
	r.cell = r.cell[:0]
	for {
		b, err := r.byte()
		if errors.Is(err, io.EOF) {
			return 0, errQuote
		}
		if err != nil {
			return 0, err
		}

		switch b {
		case '"':
			if again, err := r.from.Peek(1); err == nil && again[0] == '"' {
				_, _ = r.byte() // seen already
				break
			}
			return r.behindQuote()
		case '\n':
			r.next++
		case '\r':
			if follows, err := r.from.Peek(1); err != nil || follows[0] != '\n' {
				r.next++
			}
		}

		r.cell = append(r.cell, b)
	}
}

// behindQuote reads what follows the closing quotation mark of a cell.
func (r *rows) behindQuote() (ending, error) {
	kept := len(r.cell)
	_, end, err := r.rune()
	if err == nil && end == goesOn {
		err = errQuote
	}
	r.cell = r.cell[:kept]
	return end, err
}

// rune reads a character outside quotation marks and appends it to the cell unless the cell ends with it.
func (r *rows) rune() (rune, ending, error) {
	c, n, err := r.from.ReadRune()
	switch {
	case errors.Is(err, io.EOF):
		return 0, endOfFile, nil
	case err != nil:
		return 0, goesOn, err
	}

	if r.size += n; r.size > maxRow {
		return 0, goesOn, errRowTooLong
	}

	switch c {
	case r.comma:
		return c, nextCell, nil
	case '\n':
		r.next++
		return c, endOfLine, nil
	case '\r':
		if follows, err := r.from.Peek(1); err == nil && follows[0] == '\n' {
			_, _ = r.from.Discard(1) // seen already
		}
		r.next++
		return c, endOfLine, nil
	}

	if c == '\ufffd' && n == 1 { // not UTF-8: the byte stays, so that a finding can show it
		_ = r.from.UnreadRune()
		b, _ := r.from.ReadByte()
		r.cell = append(r.cell, b)
		return c, goesOn, nil
	}

	r.cell = append(r.cell, string(c)...)
	return c, goesOn, nil
}

func (r *rows) byte() (byte, error) {
	b, err := r.from.ReadByte()
	if err != nil {
		return 0, err
	}
	if r.size++; r.size > maxRow {
		return 0, errRowTooLong
	}
	return b, nil
}

package intake

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Finding is something wrong with a file, or worth knowing.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1; 0: of no line
	Column  string `json:"column"`
	Value   string `json:"value"`
	Message string `json:"message"`
	Warning bool   `json:"warning"` // it does not keep the file from being taken over

	cut bool // what follows it in the file was not read
}

// sheet is a file under way, at one of its rows.
type sheet struct {
	kind    *kind
	file    string
	line    int
	names   []string
	cells   []string
	options Options
	comma   rune
	zone    *time.Location
	rest    *bounded // of the file
}

// maxRow bounds a row, and with it what a quotation mark without its end takes of memory.
const maxRow = 1 << 20

var errRowTooLong = errors.New("the row is too long")

// bounded reads so much and no more, until it is told anew how much.
type bounded struct {
	from io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errRowTooLong
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// notText says why the beginning of a file is not that of one with text in octets; empty: it is.
func notText(first []byte) string {
	switch {
	case bytes.HasPrefix(first, []byte("\xff\xfe")), bytes.HasPrefix(first, []byte("\xfe\xff")):
		return "is UTF-16, which spreadsheets call Unicode text: save it as CSV in UTF-8"
	case bytes.IndexByte(first, 0) >= 0:
		return "is no text: it has zero octets"
	}
	return ""
}

// cut says why the rest of the file is not read.
func (s *sheet) cut(message string) Finding {
	f := s.finding("", "", message)
	f.cut = true
	return f
}

// cell is the cell of a column, without blanks around it, those that do not break among
// them; empty where there is no such column.
func (s *sheet) cell(name string) string {
	for i, n := range s.names {
		if n == name {
			return trimmed(s.cells[i])
		}
	}
	return ""
}

// has says whether the file has a column.
func (s *sheet) has(name string) bool {
	for _, n := range s.names {
		if n == name {
			return true
		}
	}
	return false
}

// blanks are those that spreadsheets put around and into values.
const blanks = " \t\u00a0\u2007\u202f\ufeff"

func trimmed(text string) string { return strings.Trim(text, blanks) }

// eachRow reads a file row by row. A row that is none is told and passed over.
func eachRow(f File, o Options, zone *time.Location, row func(*sheet) error, tell func(Finding) error) error {
	return open(f, func(file io.Reader) error {
		switch o.Encoding {
		case "windows-1250":
			file = charmap.Windows1250.NewDecoder().Reader(file)
		case "windows-1252":
			file = charmap.Windows1252.NewDecoder().Reader(file)
		}
		buffered := bufio.NewReaderSize(file, 64<<10)
		withoutMark(buffered)
		first, err := buffered.Peek(4 << 10)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		s := &sheet{kind: kindOf(f.Kind), file: f.Kind, options: o, comma: separator(string(first)), zone: zone}
		if fault := notText(first); fault != "" {
			return tell(s.cut(fault))
		}
		s.rest = &bounded{from: buffered, left: maxRow}
		r := csv.NewReader(s.rest)
		r.Comma, r.ReuseRecord, r.FieldsPerRecord = s.comma, true, -1
		return s.read(r, row, tell)
	})
}

// separator is what the first line separates its names by.
func separator(text string) rune {
	line, _, _ := strings.Cut(text, "\n")
	best, most := ',', 0
	for _, c := range ",;\t" {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

func (s *sheet) read(r *csv.Reader, row func(*sheet) error, tell func(Finding) error) error {
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			if s.names == nil {
				return tell(s.finding("", "", "the file is empty"))
			}
			return nil
		}
		if err != nil {
			var wrong *csv.ParseError
			if errors.As(err, &wrong) {
				s.line = wrong.StartLine
				return tell(s.cut("not CSV from here on: " + wrong.Err.Error()))
			}
			if errors.Is(err, errRowTooLong) {
				s.line, _ = r.FieldPos(0)
				return tell(s.cut("is longer than a MiB, so nothing is read from here on: a quotation mark may have no end"))
			}
			return err
		}
		s.rest.left = maxRow
		s.line, _ = r.FieldPos(0)
		if s.names == nil {
			if told := s.header(cells); len(told) > 0 {
				for _, f := range told {
					if err := tell(f); err != nil {
						return err
					}
				}
				return nil // nothing can be read without its columns
			}
			continue
		}
		if strings.Trim(strings.Join(cells, ""), blanks) == "" {
			continue // spreadsheets leave empty rows behind
		}
		if err := s.take(cells, row, tell); err != nil {
			return err
		}
	}
}

// take hands a row over.
func (s *sheet) take(cells []string, row func(*sheet) error, tell func(Finding) error) error {
	if len(cells) != len(s.names) {
		return tell(s.finding("", "", fmt.Sprintf("has %d cells, where the first line names %d columns", len(cells), len(s.names))))
	}
	for i, c := range cells {
		if !utf8.ValidString(c) {
			return tell(s.finding(s.names[i], strings.ToValidUTF8(c, "?"), "is not UTF-8: say "+s.options.Flag+"encoding windows-1250 or windows-1252 if the file is one of them"))
		}
	}
	s.cells = cells
	return row(s)
}

// passedOver stands for the name of a column that is not read.
const passedOver = "-"

// header reads the names of the columns.
func (s *sheet) header(cells []string) (told []Finding) {
	for _, c := range cells {
		name := strings.ToLower(trimmed(c))
		if ours, mapped := s.options.column(s.file, name); mapped {
			if name = ours; ours == "" {
				s.names = append(s.names, passedOver)
				continue
			}
		}
		switch {
		case name == "":
			told = append(told, s.finding("", c, "a column has no name"))
		case s.has(name):
			told = append(told, s.finding(name, c, "the column is there twice"))
		case !s.kind.knows(name):
			told = append(told, s.finding(name, c, "is no column of "+s.kind.name+"; there are "+s.kind.listed()))
		}
		s.names = append(s.names, name)
	}
	for _, c := range s.kind.columns {
		if c.needed && !s.has(c.name) {
			told = append(told, s.finding(c.name, "", "the column is missing"))
		}
	}
	return told
}

// shownValue is how many characters of a value are told.
const shownValue = 100

func (s *sheet) finding(column, value, message string) Finding {
	if runes := []rune(value); len(runes) > shownValue {
		value = string(runes[:shownValue]) + "…"
	}
	return Finding{File: s.file, Line: s.line, Column: column, Value: value, Message: message}
}

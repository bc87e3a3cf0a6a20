package importer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/loyalty-platform/loyalty/server/spreadsheet"
)

// sheet is a file being read, at one of its rows.
type sheet struct {
	kind    *kind
	file    string
	line    int
	names   []string       // of the columns, by their place
	places  map[string]int // of the columns, by their names
	named   int            // columns with a name; the columns behind them have none
	cells   []string
	options Options
	mapped  map[string]string // names of columns in the file, in small letters, to ours
	comma   rune
	zone    *time.Location
	emails  *emails         // nil: no row names its member by e-mail
	marked  map[string]bool // columns from which an apostrophe was removed
}

// notText names the fault of a file that does not begin like text; false if it does.
func notText(first []byte) (Words, bool) {
	if bytes.IndexByte(first, 0) >= 0 {
		return say("no_text", nil), true
	}
	return Words{}, false
}

// cell is the cell of a column without blanks around it, also without non-breaking ones; empty if there is no such
// column.
func (s *sheet) cell(name string) string {
	if i, there := s.places[name]; there {
		return trimmed(s.cells[i])
	}
	return ""
}

// has reports whether the file has a column.
func (s *sheet) has(name string) bool {
	_, there := s.places[name]
	return there
}

// blanks are the blanks that spreadsheets put into values. Around values any white space is removed, as in requests.
const blanks = " \t\u00a0\u2007\u202f\ufeff"

// trimmed removes white space and byte order marks from both ends.
func trimmed(text string) string { return strings.TrimFunc(text, isBlank) }

// source is a file and its options.
type source struct {
	File
	options Options
	zone    *time.Location
	emails  *emails
}

// eachRow reads a file row by row. It reports an invalid row and skips it.
func eachRow(f source, row func(*sheet) error, tell func(Finding) error) error {
	return open(f.File, func(file io.Reader) error {
		buffered := bufio.NewReaderSize(decoded(file, f.options.Encoding), 64<<10)
		first, err := buffered.Peek(4 << 10)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}

		s := &sheet{kind: kindOf(f.Kind), file: f.Kind, options: f.options, zone: f.zone, emails: f.emails, line: 1,
			mapped: f.options.mapped(f.Kind), marked: map[string]bool{}}
		if fault, is := notText(first); is {
			return tell(s.stopped(fault))
		}

		line := 1
		var said int
		if s.comma, said = saidSeparator(first); said > 0 {
			_, _ = buffered.Discard(said) // seen already
			line++
		} else {
			s.comma = separator(string(first))
		}

		return s.read(newRows(buffered, s.comma, line), row, tell)
	})
}

// decoded converts a file to UTF-8. A file with the byte order mark of UTF-16, which spreadsheets call Unicode text, is
// UTF-16 whatever the options say.
func decoded(file io.Reader, encoding string) io.Reader {
	buffered := bufio.NewReaderSize(file, 4<<10)
	mark, _ := buffered.Peek(3)
	switch {
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(buffered)
	case bytes.Equal(mark, []byte("\xef\xbb\xbf")):
		_, _ = buffered.Discard(3) // seen already
		return buffered
	case encoding == "windows-1250":
		return charmap.Windows1250.NewDecoder().Reader(buffered)
	case encoding == "windows-1252":
		return charmap.Windows1252.NewDecoder().Reader(buffered)
	}

	return buffered
}

// saidSeparator is the separator in a first line such as sep=; and the length of that line; 0 if there is none.
func saidSeparator(first []byte) (comma rune, length int) {
	line := first
	if end := bytes.IndexAny(first, "\r\n"); end >= 0 {
		line, length = first[:end], end+1
		if bytes.HasPrefix(first[end:], []byte("\r\n")) {
			length++
		}
	} else {
		length = len(first)
	}

	text := strings.Trim(string(line), "\" ")
	if len(text) < 5 || !strings.EqualFold(text[:4], "sep=") {
		return 0, 0
	}

	comma, size := utf8.DecodeRuneInString(text[4:])
	// spreadsheets that save the file again repeat it
	if strings.Trim(text[4+size:], string(comma)) != "" || comma == utf8.RuneError {
		return 0, 0
	}

	return comma, length
}

// separator is the separator between the names in the first line.
func separator(text string) rune {
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	best, most := ',', 0
	for _, c := range ",;\t" {
		if n := strings.Count(text, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

func (s *sheet) read(r *rows, row func(*sheet) error, tell func(Finding) error) error {
	for {
		cells, err := r.read()
		if err != nil && !errors.Is(err, io.EOF) {
			s.line = r.line
			if w, known := unread[err]; known {
				return tell(s.stopped(w))
			}
			return err
		}

		if err != nil {
			if s.names == nil {
				s.line = 0
				return tell(s.finding("", "", say("empty_file", nil)))
			}
			return nil
		}

		s.line = r.line
		if s.names == nil {
			if told := s.header(cells); len(told) > 0 {
				for _, f := range told {
					if err := tell(f); err != nil {
						return err
					}
				}
				return nil // without columns nothing can be read
			}
			continue
		}

		if trimmed(strings.Join(cells, "")) == "" {
			continue // spreadsheets leave empty rows behind
		}
		if err := s.take(cells, row, tell); err != nil {
			return err
		}
	}
}

// unread maps errors to the reasons why the rest of a file is not read.
var unread = map[error]Words{
	errRowTooLong:   say("row_too_long", nil),
	errTooManyCells: say("columns_many", args{"limit": maxCells}),
	errQuote:        say("quotation", nil),
}

// take passes a row on.
func (s *sheet) take(cells []string, row func(*sheet) error, tell func(Finding) error) error {
	for len(cells) > s.named && trimmed(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1] // spreadsheets write empty cells behind the last column
	}

	if len(cells) > s.named && len(cells) <= len(s.names) {
		return tell(s.finding("", "", say("cell_unnamed", args{"place": len(cells)})))
	}
	if len(cells) != s.named {
		return tell(s.finding("", "", say("cells", args{"cells": len(cells), "columns": s.named})))
	}

	for i, c := range cells {
		if !utf8.ValidString(c) {
			return tell(s.finding(shownName(s.names[i]), strings.ToValidUTF8(c, "?"),
				say("not_utf8", args{"flag": s.options.Flag})))
		}
	}

	s.cells = cells
	for i := range cells {
		if err := s.unmark(i, tell); err != nil {
			return err
		}
	}

	return row(s)
}

// unmark removes the apostrophe that spreadsheets and our own exports write before a possible formula, and spreadsheets
// before a number that is text. It reports it once for each column.
func (s *sheet) unmark(i int, tell func(Finding) error) error {
	name, cell := s.names[i], s.cells[i]
	if name == passedOver {
		return nil
	}

	text := trimmed(cell)
	bare := spreadsheet.Unguard(text)
	if digits := len(text) > 1 && text[0] == '\'' && text[1] >= '0' && text[1] <= '9'; digits && !s.kind.text(name) {
		bare = text[1:]
	}
	if bare == text {
		return nil
	}

	s.cells[i] = bare
	if s.marked[name] {
		return nil
	}

	s.marked[name] = true
	return tell(s.warning(name, text, say("apostrophe", nil)))
}

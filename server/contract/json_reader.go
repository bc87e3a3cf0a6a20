package contract

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// jsonReader makes the tree of a JSON text: what encoding/json makes of it with UseNumber,
// at a third of the cost, which every request pays. Texts and numbers without escapes are
// parts of the body, not copies. The body is UTF-8 and does not nest deeply: its caller
// has looked.
type jsonReader struct {
	text string
	at   int
	// half: a text has half a character, \ud800 to \udfff without its other half. It cannot be
	// stored, and all of them would be read as U+FFFD: two ids would be one.
	half bool
	nul  bool // a text has the one character that no database takes
	odd  int  // where the first of these stands
	// twice is where the value of a name stands that its object had before; 0: no such value. The
	// first byte of a text is never a value inside an object.
	twice int
}

// whole reads the one value of a text. It fails with ErrMalformedBody, which names the field
// where reading ended: syntax, or trailing where something stands behind the value, or what
// no text may contain, surrogate and nul, or the property that an object has twice (repeated_name).
func (r *jsonReader) whole() (any, error) {
	v, ok := r.value()
	if !ok {
		return nil, malformedAt("syntax", r.text, r.at)
	}
	if r.blanks(); r.at < len(r.text) {
		return nil, MalformedBody("trailing")
	}
	switch {
	case r.half:
		return nil, malformedAt("surrogate", r.text, r.odd)
	case r.nul:
		return nil, malformedAt("nul", r.text, r.odd)
	case r.twice > 0:
		return nil, malformedAt("repeated_name", r.text, r.twice)
	}
	return v, nil
}

// malformedAt names the field that stands at a place of a JSON text; none, where that is the
// whole.
func malformedAt(reason, text string, at int) *loyalty.Error {
	err := MalformedBody(reason)
	if field := fieldAt(text, at); field != "" {
		return err.At(field)
	}
	return err
}

// fieldAt is the path of the value that stands at a place of a JSON text, such as
// data.items[1].sku; that of the object, where a name stands there. Only what is refused is
// read a second time.
func fieldAt(text string, at int) string {
	type level struct {
		list bool
		path string
		name string // of the property whose value comes next
		had  bool   // the name was read: its value comes
		next int    // item of the list
	}
	levels := []level{{list: true}}
	d := json.NewDecoder(strings.NewReader(text))
	for {
		in := &levels[len(levels)-1]
		here := in.path
		switch {
		case len(levels) == 1:
		case in.list:
			here += "[" + strconv.Itoa(in.next) + "]"
		case in.had && here != "":
			here += "." + in.name
		case in.had:
			here = in.name
		}
		token, err := d.Token()
		if err != nil {
			return here
		}
		opened := false
		switch token {
		case json.Delim('{'), json.Delim('['):
			levels, opened = append(levels, level{list: token == json.Delim('['), path: here}), true
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
			in = &levels[len(levels)-1]
		}
		if int(d.InputOffset()) > at {
			return here
		}
		switch {
		case opened:
		case in.list:
			in.next++
		case in.had:
			in.had = false
		default:
			in.name, in.had = token.(string)
		}
	}
}

func (r *jsonReader) blanks() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return
		}
	}
}

// next takes a character behind blanks; false: another one stands there.
func (r *jsonReader) next(c byte) bool {
	r.blanks()
	if r.at == len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	return true
}

func (r *jsonReader) value() (any, bool) {
	r.blanks()
	if r.at == len(r.text) {
		return nil, false
	}
	switch r.text[r.at] {
	case '{':
		return r.object()
	case '[':
		return r.list()
	case '"':
		s, ok := r.string()
		return s, ok
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	}
	n, ok := r.number()
	return n, ok
}

func (r *jsonReader) word(w string) bool {
	if !strings.HasPrefix(r.text[r.at:], w) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *jsonReader) object() (any, bool) {
	r.at++
	m := map[string]any{}
	if r.next('}') {
		return m, true
	}
	for {
		if r.blanks(); r.at == len(r.text) || r.text[r.at] != '"' {
			return nil, false
		}
		name, ok := r.string()
		if !ok || !r.next(':') {
			return nil, false
		}
		r.blanks()
		if _, had := m[name]; had && r.twice == 0 {
			r.twice = r.at
		}
		if m[name], ok = r.value(); !ok {
			return nil, false
		}
		if r.next('}') {
			return m, true
		}
		if !r.next(',') {
			return nil, false
		}
	}
}

func (r *jsonReader) list() (any, bool) {
	r.at++
	items := []any{}
	if r.next(']') {
		return items, true
	}
	for {
		item, ok := r.value()
		if !ok {
			return nil, false
		}
		items = append(items, item)
		if r.next(']') {
			return items, true
		}
		if !r.next(',') {
			return nil, false
		}
	}
}

// string reads a text that begins at its quote.
func (r *jsonReader) string() (string, bool) {
	start := r.at + 1
	for i := start; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
			return r.text[start:i], true
		case c == '\\':
			r.at = i
			return r.escapes(append(make([]byte, 0, 2*(i-start)+16), r.text[start:i]...))
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escapes reads on where the first escape of a text stands.
func (r *jsonReader) escapes(text []byte) (string, bool) {
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch {
		case c == '"':
			return string(text), true
		case c < ' ':
			return "", false
		case c != '\\':
			text = append(text, c)
			continue
		}
		if r.at == len(r.text) {
			return "", false
		}
		c = r.text[r.at]
		r.at++
		if c == 'u' {
			char, ok := r.character()
			if !ok {
				return "", false
			}
			if char == 0 && !r.nul && !r.half {
				r.nul, r.odd = true, r.at
			}
			text = utf8.AppendRune(text, char)
			continue
		}
		at := strings.IndexByte(`"\/bfnrt`, c)
		if at < 0 {
			return "", false
		}
		text = append(text, "\"\\/\b\f\n\r\t"[at])
	}
	return "", false
}

// character reads the four digits behind \u, and the other half of a pair.
func (r *jsonReader) character() (rune, bool) {
	first, ok := r.digits()
	if !ok || !utf16.IsSurrogate(first) {
		return first, ok
	}
	if rest := r.text[r.at:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		before := r.at
		r.at += 2
		second, ok := r.digits()
		if !ok {
			return 0, false
		}
		if char := utf16.DecodeRune(first, second); char != utf8.RuneError {
			return char, true
		}
		r.at = before // what follows stands for itself
	}
	if !r.half {
		r.half, r.odd = true, r.at
	}
	return utf8.RuneError, true
}

func (r *jsonReader) digits() (char rune, ok bool) {
	if len(r.text)-r.at < 4 {
		return 0, false
	}
	for range 4 {
		c := r.text[r.at]
		digit := unhex(c)
		if digit > 15 {
			return 0, false
		}
		char = char<<4 | rune(digit)
		r.at++
	}
	return char, true
}

// number reads digits as they were written.
func (r *jsonReader) number() (json.Number, bool) {
	start := r.at
	r.skip('-')
	if !r.skip('0') && !r.many() {
		return "", false
	}
	if r.skip('.') && !r.many() {
		return "", false
	}
	if r.skip('e') || r.skip('E') {
		if !r.skip('-') {
			r.skip('+')
		}
		if !r.many() {
			return "", false
		}
	}
	return json.Number(r.text[start:r.at]), true
}

func (r *jsonReader) skip(c byte) bool {
	if r.at == len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	return true
}

// many skips one digit or more.
func (r *jsonReader) many() bool {
	start := r.at
	for r.at < len(r.text) && r.text[r.at]-'0' <= 9 {
		r.at++
	}
	return r.at > start
}

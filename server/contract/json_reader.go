package contract

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// jsonReader builds the tree of a JSON text, the same as encoding/json with UseNumber but cheaper, which matters for
// every request. Texts and numbers without escapes are slices of the body, not copies. The caller has checked that the
// body is UTF-8 and does not nest deeply.
type jsonReader struct {
	text string
	at   int
	// half: a text has half a surrogate pair, \ud800 to \udfff without its other half. It cannot be stored, and reading
	// each as U+FFFD would make two ids one.
	half bool
	nul  bool // a text has U+0000, which no database stores
	odd  int  // where the first of these is
	// twice is the place of a value whose name its object had before; 0: none. The first byte of a text is never a
	// value inside an object.
	twice int
}

// whole reads the one value of a text. It fails with ErrMalformedBody, which names the field where reading ended.
// Reasons: syntax, trailing (text behind the value), surrogate and nul (characters that cannot be stored), and
// repeated_name (an object has a property twice).
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

// malformedAt names the field at a place of a JSON text; none if the place belongs to the whole value.
func malformedAt(reason, text string, at int) *loyalty.Error {
	err := MalformedBody(reason)
	if field := fieldAt(text, at); field != "" {
		return err.At(field)
	}
	return err
}

// fieldAt is the path of the value at a place of a JSON text, such as data.items[1].sku, or of the object if the place
// is a name. Only a refused text is read this second time.
func fieldAt(text string, at int) string {
	type level struct {
		list bool
		path string
		name string // of the property whose value comes next
		had  bool   // the name was read: its value follows
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

// next skips blanks and takes a character; false if another one follows.
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

// escapes reads on from the first escape of a text.
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

// character reads the four digits behind \u, and the other half of a surrogate pair.
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
		r.at = before // the following escape is a character of its own
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

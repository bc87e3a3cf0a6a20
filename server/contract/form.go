package contract

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Bounds of a form. The body's own limit applies first; these keep the tree small if the body has very short or deeply
// nested names.
const (
	maxFormPairs = 50_000
	maxFormDepth = 16
	maxFormIndex = 1_000_000_000
	maxFormSets  = 60_000 // nodes with children
)

// Form is a value of a form before a schema gives it a type: either a text, or a set of named or numbered children.
// Check gives it the types of its schema.
type Form struct {
	text     string
	isText   bool
	children map[string]*Form
	next     int // the number that the next [] gets
}

// ParseForm reads application/x-www-form-urlencoded with bracketed names, in wire order: a[b][0][c]=x, a[]=x. A name
// that ends in [] may be repeated; any other repeated name is refused. ; is data. It fails with kind Invalid.
func ParseForm(body []byte) (*Form, error) {
	root, sets := &Form{}, 0
	for pairs := 0; len(body) > 0; {
		var pair []byte
		pair, body, _ = bytes.Cut(body, []byte{'&'})
		if len(pair) == 0 {
			continue
		}
		if pairs++; pairs > maxFormPairs {
			return nil, MalformedBody("too_many")
		}

		name, value, _ := bytes.Cut(pair, []byte{'='})
		if err := root.add(name, value, &sets); err != nil {
			return nil, err
		}
		if sets > maxFormSets {
			return nil, MalformedBody("too_many")
		}
	}

	return root, nil
}

func (n *Form) add(rawName, rawValue []byte, sets *int) error {
	name, okName := unescapeForm(rawName)
	value, okValue := unescapeForm(rawValue)
	if !okName || !okValue {
		return MalformedBody("encoding")
	}

	path, ok := splitName(name)
	if !ok {
		return MalformedBody("brackets").At(name)
	}
	if len(path) > maxFormDepth {
		return MalformedBody("depth").At(name)
	}

	for _, key := range path {
		if n.isText { // a=1&a[x]=2
			return conflict(name)
		}
		if n.children == nil {
			*sets++
		}
		n = n.child(key)
	}

	if n.children != nil { // a[x]=2&a=1
		return conflict(name)
	}
	if n.isText {
		return MalformedBody("repeated_name").At(name)
	}

	n.text, n.isText = value, true
	return nil
}

func conflict(name string) error {
	return ErrConflictingParameter.With("parameter", name).At(name)
}

// child finds or makes a child. The empty key is [], which takes the number after the greatest so far. A new child is
// neither text nor set yet.
func (n *Form) child(key string) *Form {
	if key == "" {
		key = strconv.Itoa(n.next)
	}
	if i, ok := formIndex(key); ok {
		n.next = max(n.next, i+1)
	}

	c := n.children[key]
	if c == nil {
		if n.children == nil {
			n.children = map[string]*Form{}
		}
		c = &Form{}
		n.children[key] = c
	}

	return c
}

// splitName cuts a[b][c] into a, b, c. Brackets must be balanced and stand only at the end of the name.
func splitName(name string) (path []string, ok bool) {
	first, rest, nested := strings.Cut(name, "[")
	if first == "" || strings.Contains(first, "]") {
		return nil, false
	}

	path = append(path, first)
	for nested {
		var key string
		if key, rest, ok = strings.Cut(rest, "]"); !ok || strings.Contains(key, "[") {
			return nil, false
		}
		path = append(path, key)
		if rest == "" {
			return path, true
		}
		if rest[0] != '[' {
			return nil, false
		}
		rest = rest[1:]
	}

	return path, true
}

// formIndex reads a place in a list: digits without a leading zero.
func formIndex(key string) (int, bool) {
	if key == "" || len(key) > 1 && key[0] == '0' {
		return 0, false
	}
	i, err := strconv.ParseUint(key, 10, 32)
	return int(i), err == nil && i < maxFormIndex
}

// unescapeForm resolves %XY and +. It refuses broken triplets, invalid UTF-8, and NUL, which no database stores as
// text.
func unescapeForm(raw []byte) (string, bool) {
	if bytes.IndexByte(raw, '%') < 0 && bytes.IndexByte(raw, '+') < 0 {
		return string(raw), storableText(raw)
	}

	text := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '+':
			text = append(text, ' ')
		case '%':
			if i+2 >= len(raw) {
				return "", false
			}
			hi, lo := unhex(raw[i+1]), unhex(raw[i+2])
			if hi > 15 || lo > 15 {
				return "", false
			}
			text = append(text, hi<<4|lo)
			i += 2

		default:
			text = append(text, c)
		}
	}

	return string(text), storableText(text)
}

// IsText reports whether a text can be stored: it is UTF-8 without NUL, which no database stores.
func IsText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func storableText(text []byte) bool {
	return bytes.IndexByte(text, 0) < 0 && utf8.Valid(text)
}

// unhex gives the value of a hex digit, or 255.
func unhex(c byte) byte {
	switch {
	case c-'0' <= 9:
		return c - '0'
	case c|0x20-'a' <= 5:
		return c | 0x20 - 'a' + 10
	}
	return 255
}

// MalformedBody returns ErrMalformedBody with its reason, a key of the catalogue below "reason.", such as encoding.
func MalformedBody(reason string) *loyalty.Error {
	return ErrMalformedBody.With("reason", reason)
}

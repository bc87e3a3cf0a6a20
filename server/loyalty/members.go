package loyalty

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// The data of an event was read, checked and rewritten in canonical form before it comes here, so these parsers need
// not check every character again. They give the same results as encoding/json, faster.

var errNotCanonical = errors.New("not JSON in canonical form")

// Members parses an object in canonical form (no blanks, no name twice). The values are parts of the text and are not
// checked. It fails if the text is not an object.
func Members(object json.RawMessage) (map[string]json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	err := eachPart(object, '{', '}', func(part []byte) error {
		end := valueEnd(part)
		if len(part) == 0 || part[0] != '"' || end+1 >= len(part) || part[end] != ':' {
			return errNotCanonical
		}
		name, err := unquoted(part[:end])
		members[name] = part[end+1:]
		return err
	})
	return members, err
}

// Elements parses a list of objects in canonical form.
func Elements(list json.RawMessage) ([]map[string]json.RawMessage, error) {
	elements := []map[string]json.RawMessage{}
	err := eachPart(list, '[', ']', func(part []byte) error {
		members, err := Members(part)
		elements = append(elements, members)
		return err
	})
	return elements, err
}

// eachPart calls each with the parts between the commas of an object or a list.
func eachPart(text []byte, first, last byte, each func([]byte) error) error {
	if string(text) == "null" {
		return nil // no members, as with encoding/json
	}
	if len(text) < 2 || text[0] != first || text[len(text)-1] != last {
		return errNotCanonical
	}

	text = text[1 : len(text)-1]
	for len(text) > 0 {
		end := valueEnd(text)
		if first == '{' && end < len(text) && text[end] == ':' {
			end += 1 + valueEnd(text[end+1:])
		}
		if err := each(text[:end:end]); err != nil {
			return err
		}
		if end == len(text) {
			return nil
		}
		if text[end] != ',' || end+1 == len(text) {
			return errNotCanonical
		}

		text = text[end+1:]
	}

	return nil
}

// valueEnd is the end of the value at the beginning of a text.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(text))
			}

		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1 + depth // without the closing bracket of an outer value
			}

		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}

	return len(text)
}

// unquoted returns the text of a JSON string.
func unquoted(value []byte) (text string, err error) {
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' && valueEnd(value) == n &&
		bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : n-1]), nil
	}
	err = json.Unmarshal(value, &text)
	return text, err
}

// Object writes members in canonical form, as encoding/json writes them: <, > and & as escapes.
func Object(members map[string]json.RawMessage) json.RawMessage {
	if members == nil {
		return json.RawMessage("null")
	}

	size := 2
	for name, value := range members {
		if !plainText(name) || !shownAsItIs(value) {
			return JSON(members)
		}
		size += len(name) + len(value) + 4
	}

	out := append(make(json.RawMessage, 0, size), '{')
	var room [24]string
	names := slices.AppendSeq(room[:0], maps.Keys(members))
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), name...), '"', ':')
		out = append(out, members[name]...)
	}

	return append(out, '}')
}

// plainText reports whether a text needs no escapes in JSON.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || isEscaped(c) {
			return false
		}
	}
	return true
}

// shownAsItIs reports whether encoding/json would write a value in canonical form unchanged: it escapes three
// characters, and two line separators whose encoding begins with E2.
func shownAsItIs(value []byte) bool {
	for _, c := range value {
		if isEscaped(c) || c == 0xe2 {
			return false
		}
	}
	return len(value) > 0
}

func isEscaped(c byte) bool { return c == '<' || c == '>' || c == '&' }

package contract

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// maxJSONDepth bounds the nesting of a body. The deepest value of the contract is five levels down.
const maxJSONDepth = 32

// ParseJSON reads one JSON value as maps, slices, strings, bools, nil and json.Number, so that numbers keep their
// digits. It refuses an object that has a name twice, because it cannot know which value is meant. It fails with kind
// Invalid.
func ParseJSON(body []byte) (any, error) {
	if !utf8.Valid(body) {
		return nil, MalformedBody("encoding")
	}
	switch depth, values := jsonSize(body); {
	case depth > maxJSONDepth:
		return nil, MalformedBody("depth")
	case values > max(maxJSONValues, len(body)/5):
		return nil, MalformedBody("too_many")
	}
	r := jsonReader{text: string(body)}
	return r.whole()
}

// maxJSONValues bounds the values of a body whose values take less than five bytes on average. In memory a value can
// take a hundred times its bytes in the body.
const maxJSONValues = 150_000

// jsonSize returns how deep arrays and objects nest, and about how many values there are, before a tree is built.
func jsonSize(body []byte) (deepest, values int) {
	depth, inText := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
			values++
		case c == ',':
			values++
		case c == '}' || c == ']':
			depth--
		}
	}

	return deepest, values
}

// AppendJSON writes a tree in canonical form: names sorted, no blanks, numbers digit for digit as they were sent.
func AppendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)

	case json.Number:
		return append(dst, v...)
	case string:
		return appendText(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, item)
		}
		return append(dst, ']')

	case map[string]any:
		return appendObject(dst, v)
	}

	panic("contract: a tree holds only what ParseJSON and Check make")
}

func appendObject(dst []byte, object map[string]any) []byte {
	var room [32]string
	names := room[:0]
	for name := range object {
		names = append(names, name)
	}

	slices.Sort(names)
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, name), ':')
		dst = AppendJSON(dst, object[name])
	}

	return append(dst, '}')
}

// appendText writes a JSON string. The text is valid UTF-8 already.
func appendText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		if c < ' ' {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, '\\', c)
		}
		start = i + 1
	}

	return append(append(dst, s[start:]...), '"')
}

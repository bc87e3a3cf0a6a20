package loyalty

import (
	"encoding/json"
	"errors"
	"strconv"
)

// Document is a value that reads its own stored form faster than encoding/json. A ReadDocument that fails leaves the
// value as it was: the text is not in the canonical form, and may still be valid JSON.
type Document interface{ ReadDocument(json.RawMessage) error }

// ReadInto reads stored JSON into v as encoding/json does.
func ReadInto(text json.RawMessage, v any) error {
	if d, ok := v.(Document); ok && d.ReadDocument(text) == nil {
		return nil
	}
	return json.Unmarshal(text, v)
}

// ErrUnread leaves a text to encoding/json.
var ErrUnread = errors.New("not as it is written")

// EachMember parses an object in canonical form, in order. The names and values are parts of the text; names keep their
// escapes.
func EachMember(object json.RawMessage, each func(name, value []byte) error) error {
	return eachPart(object, '{', '}', func(part []byte) error {
		end := valueEnd(part)
		if len(part) == 0 || part[0] != '"' || end < 2 || end+1 >= len(part) || part[end] != ':' {
			return errNotCanonical
		}
		return each(part[1:end-1], part[end+1:])
	})
}

// ReadText reads a text.
func ReadText(value []byte, into *string) (err error) {
	if string(value) == "null" {
		return ErrUnread
	}
	*into, err = unquoted(value)
	return err
}

// ReadID reads an id.
func ReadID(value []byte, into *ID) error {
	if n := len(value); n < 2 || value[0] != '"' || value[n-1] != '"' {
		return ErrUnread
	}
	return into.UnmarshalText(value[1 : len(value)-1])
}

// ReadIDs reads a list of ids into new memory.
func ReadIDs(value []byte, into *[]ID) error {
	list := make([]ID, 0, 4)
	*into = list
	return readList(value, func(part []byte) error {
		list = append(list, ID{})
		*into = list
		return ReadID(part, &list[len(list)-1])
	})
}

// ReadNumber reads a whole number.
func ReadNumber(value []byte, into *int64) error {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || value[0] == '+' || value[0] == '0' && len(value) > 1 {
		return ErrUnread // such as 1e3, which is left to encoding/json
	}
	*into = n
	return nil
}

// ReadNumbers reads a list of whole numbers into new memory.
func ReadNumbers(value []byte, into *[]int64) error {
	list := make([]int64, 0, 4)
	*into = list
	return readList(value, func(part []byte) error {
		list = append(list, 0)
		*into = list
		return ReadNumber(part, &list[len(list)-1])
	})
}

func readList(value []byte, each func([]byte) error) error {
	if string(value) == "null" { // the list stays as it is, as with encoding/json
		return ErrUnread
	}
	return eachPart(value, '[', ']', each)
}

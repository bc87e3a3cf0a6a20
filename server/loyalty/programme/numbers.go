package programme

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
)

// ParseTree parses JSON and keeps its numbers as they are written.
func ParseTree(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// PlainNumbers writes the numbers of a document in their shortest form, 3.5 instead of 3.50, so that a document that
// passed through another format reads the same. A number that would lose a digit stays as it is.
func PlainNumbers(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	return encoded(shortest(ParseTree(raw)))
}

// encoded is JSON whose texts are readable: < and & are not escaped.
func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // what was JSON can be encoded again
	}
	return bytes.TrimSpace(b.Bytes())
}

// shortest writes every number of a document in its shortest form. A text of forty digits could stand for a short
// number with an exponent; such a number stays as it was written.
func shortest(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = shortest(value)
		}
	case []any:
		for i, value := range v {
			v[i] = shortest(value)
		}
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		if short := json.Number(strconv.FormatFloat(f, 'f', -1, 64)); err == nil && len(short) < 40 && sameNumber(short, v) {
			return short
		}
	}

	return v
}

// sameNumber compares exactly, as fractions of any length.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	if len(a) > 64 || len(b) > 64 { // an exponent could ask for huge numbers
		return false
	}
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}

// SameJSON reports whether two documents mean the same: 3.5 equals 3.50.
func SameJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok || len(m) != len(a) {
			return false
		}
		for name, value := range a {
			// a member with null differs from a missing one
			other, there := m[name]
			if !there || !SameJSON(value, other) {
				return false
			}
		}
		return true

	case []any:
		list, ok := b.([]any)
		if !ok || len(list) != len(a) {
			return false
		}
		for i := range a {
			if !SameJSON(a[i], list[i]) {
				return false
			}
		}
		return true

	case json.Number:
		n, ok := b.(json.Number)
		return ok && sameNumber(a, n)
	}

	return a == b
}

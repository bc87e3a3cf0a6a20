package loyalty

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// TextOf reads an attribute that is text; empty where it is none. Most need no
// decoder.
func TextOf(raw json.RawMessage) string {
	if n := len(raw); n > 1 && raw[0] == '"' && raw[n-1] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : n-1])
	}
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func Deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func JSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of JSON always marshal
	}
	return raw
}

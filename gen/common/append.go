package common

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Types of hot answers are marked x-append in openapi/codegen/*.overlay.yaml. Each gets a method AppendJSON that is
// generated and calls what is here. It writes the bytes of encoding/json, which spent much of the time of a read.

// appender is a type with an encoder of its own.
type appender interface{ AppendJSON(b []byte) []byte }

// AppendValue writes a value with its own encoder if it has one.
func AppendValue[T any](b []byte, v *T) []byte {
	switch v := any(v).(type) {
	case appender:
		return v.AppendJSON(b)
	case *money.Amount:
		return v.Append(b)
	case *float64:
		return strconv.AppendFloat(b, *v, 'f', -1, 64)
	}
	return appendAny(b, v)
}

// appendAny writes a value by reflection. The types of answers always marshal.
func appendAny(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return append(b, text...)
}

// AppendJSON writes the instant as MarshalJSON does.
func (i Instant) AppendJSON(b []byte) []byte { return append(i.Append(append(b, '"')), '"') }

// AppendText writes a text. Texts with a character that JSON or HTML escapes are rare and take the longer way.
func AppendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return appendAny(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// AppendUUID writes an id.
func AppendUUID(b []byte, id [16]byte) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i, c := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b = append(b, '-')
		}
		b = append(b, digits[c>>4], digits[c&15])
	}
	return append(b, '"')
}

// AppendList writes a list, entry by entry.
func AppendList[T any](b []byte, all []T, entry func(b []byte, v *T) []byte) []byte {
	if all == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = entry(b, &all[i])
	}
	return append(b, ']')
}

// AppendDeclared writes the attributes that the programme declares, behind the other properties.
func AppendDeclared(b []byte, attributes map[string]any) []byte {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		b = append(AppendText(append(b, ','), name), ':')
		b = appendAny(b, attributes[name])
	}
	return b
}

// CloseObject ends an object that begins at a position of b. Each of its properties begins with a comma, and the first
// comma makes room for the brace.
func CloseObject(b []byte, at int) []byte {
	if len(b) == at {
		return append(b, "{}"...)
	}
	b[at] = '{'
	return append(b, '}')
}

// WriteJSON answers with a value. Types with an encoder of their own are written without a newline at the end.
func WriteJSON(w http.ResponseWriter, status int, answer any) error {
	a, ok := answer.(appender)
	if !ok {
		var body bytes.Buffer
		if err := json.NewEncoder(&body).Encode(answer); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, err := body.WriteTo(w)
		return err
	}

	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	*room = a.AppendJSON((*room)[:0])
	WriteBody(w, status, *room)
	return nil
}

// rooms are the buffers in which answers are written. An answer is at most some megabytes long.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// WriteBody answers with a finished body.
func WriteBody(w http.ResponseWriter, status int, body []byte) {
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller may be gone: not our failure
}

var jsonType = []string{"application/json; charset=utf-8"}

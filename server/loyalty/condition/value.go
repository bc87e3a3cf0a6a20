package condition

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// kind is the kind of a value. In compilation, unknown is a kind that only the facts determine.
type kind uint8

const (
	unknown kind = iota
	absent
	truth
	number
	text
	instant
	duration
	list
	object
	line   // a line of a purchase
	record // event, customer, transaction or item as a whole
)

var kindNames = [...]string{
	"of unknown kind", "absent", "true or false", "a number", "text",
	"an instant", "a duration", "a list", "an object", "a line item", "a record",
}

func (k kind) String() string { return kindNames[k] }

// value is one value at run time. The zero value has unknown kind: something in the data that no condition can use.
type value struct {
	kind kind
	// Whole numbers are kept exactly: ids and amounts of points have more digits than a float.
	exact bool    // number: the value is n, otherwise f
	n     int64   // number, truth (0 or 1), instant and duration in microseconds
	f     float64 // number
	s     string
	ref   any // list: a sequence; object: Attributes, map[string]string or map[string][]string; line: *Item
}

var (
	nothing = value{kind: absent}
	yes     = value{kind: truth, n: 1}
	no      = value{kind: truth}
)

// truthOf is true or false.
func truthOf(b bool) value {
	if b {
		return yes
	}
	return no
}

// integer is an exact number.
func integer(n int64) value { return value{kind: number, exact: true, n: n} }

// largest is where a float no longer has all whole numbers.
const largest = 1 << 53

// decimal makes a number of a float; a float without a fraction becomes exact.
func decimal(f float64) value {
	if f == math.Trunc(f) && math.Abs(f) < largest {
		return integer(int64(f))
	}
	return value{kind: number, f: f}
}

// float is the number as a float, possibly rounded.
func (v value) float() float64 {
	if v.exact {
		return float64(v.n)
	}
	return v.f
}

func textOf(s string) value { return value{kind: text, s: s} }

// fieldText is a field whose empty text means not set.
func fieldText(s string) value {
	if s == "" {
		return nothing
	}
	return textOf(s)
}

// instantOf is an instant in microseconds, absent if the time is zero: there is no such date in the data.
func instantOf(t time.Time) value {
	if t.IsZero() {
		return nothing
	}
	return value{kind: instant, n: t.UnixMicro()}
}

// sequence is a list of the facts.
type sequence interface {
	size() int
	at(i int) value
}

type (
	texts  []string
	lines  []Item
	anys   []any
	values []value
)

func (l *texts) size() int      { return len(*l) }
func (l *texts) at(i int) value { return textOf((*l)[i]) }
func (l *lines) size() int      { return len(*l) }
func (l *lines) at(i int) value { return value{kind: line, ref: &(*l)[i]} }
func (l anys) size() int        { return len(l) }
func (l anys) at(i int) value   { return dynamic(l[i]) }
func (l values) size() int      { return len(l) }
func (l values) at(i int) value { return l[i] }

// dynamic is a value of untyped data.
func dynamic(from any) value {
	switch v := from.(type) {
	case nil:
		return nothing
	case bool:
		return truthOf(v)
	case string:
		return textOf(v)
	case float64:
		return decimal(v)
	case int:
		return integer(int64(v))
	case int64:
		return integer(v)
	case json.Number:
		return parseNumber(string(v))
	case time.Time:
		return instantOf(v)
	case json.RawMessage:
		return decode(v)
	case []any:
		return value{kind: list, ref: anys(v)}
	case []string:
		return value{kind: list, ref: (*texts)(&v)}
	case sent, Heir, map[string]any, map[string]string:
		return value{kind: object, ref: v}
	}

	return value{}
}

// decode reads an attribute in JSON text. Most are a plain text or a number, which need no decoder.
func decode(raw json.RawMessage) value {
	switch n := len(raw); {
	// without escapes and valid, the text is between the quotes
	case n > 1 && raw[0] == '"' && raw[n-1] == '"' && !bytes.Contains(raw, []byte(`\`)) && json.Valid(raw) &&
		utf8.Valid(raw):
		return textOf(string(raw[1 : n-1]))
	case n > 0 && (raw[0] == '-' || digit(raw[0])) && digit(raw[n-1]) && json.Valid(raw):
		return parseNumber(string(raw))
	}
	return decodeAny(raw)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func decodeAny(raw json.RawMessage) value {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // points and ids do not fit into a float
	var v any
	if d.Decode(&v) != nil {
		return value{}
	}
	return dynamic(v)
}

// parseNumber reads a decimal number; anything else has unknown kind.
func parseNumber(s string) value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return integer(n)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return value{}
	}
	return decimal(f)
}

// attribute is a field of an object. Decoding JSON text costs steps. A missing field is absent, even if the caller made
// up the object itself.
func (f *frame) attribute(of any, name string) value {
	switch m := of.(type) {
	case Heir:
		return f.attribute(m.With(name), name)
	case sent:
		text, ok := m[name]
		if !ok || !f.step(len(text)/decodeStep) {
			return nothing
		}
		return decode(text)

	case map[string]any:
		if raw, ok := m[name].(json.RawMessage); ok && !f.step(len(raw)/decodeStep) {
			return nothing
		}
		return dynamic(m[name])

	case map[string]string:
		return fieldText(m[name])
	case map[string][]string:
		if len(m[name]) > 0 {
			return textOf(m[name][0])
		}
	}

	return nothing
}

// compare orders two values of one kind that has an order, or of truth.
func compare(a, b value) int {
	switch {
	case a.kind == text:
		return order(a.s, b.s)
	case a.kind == number && (!a.exact || !b.exact):
		return order(a.float(), b.float())
	}
	return order(a.n, b.n)
}

func order[T string | int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

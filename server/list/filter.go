package list

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Pair is a decoded query parameter.
type Pair struct{ Name, Value string }

// Kind says how the value of a filter is read.
type Kind uint8

// The kinds of fields. Text, Choice and Boolean have no order: a filter that compares by order finds nothing.
const (
	Text    Kind = iota
	Choice       // one of Field.Choices
	Integer      // 64 bits
	Instant      // a day, or an instant
	Number
	Boolean // true, false, 1, 0
)

// Field is an attribute to filter a list by.
type Field struct {
	Kind    Kind
	Choices []string // of a Choice
	List    bool     // every value is a list, one of which must match: stores=a,b
	ID      bool     // a Text that is an id: blanks around it do not belong to it
}

// operators are the operators of the Display grammar, attribute.operator=value.
var operators = []loyalty.Operator{
	loyalty.Eq, loyalty.Ne, loyalty.Gt, loyalty.Gte, loyalty.Lt, loyalty.Lte, loyalty.In, loyalty.Nin,
}

// span is a stretch of time: a day is [00:00, 24:00) UTC, an instant its one millisecond. It is the value of In and Nin
// on an instant field: a condition holds if the field lies in one of the spans.
type span = loyalty.Span

// Conditions reads the filters of a request on fields, by their names. readable is false if a value cannot be read (a
// number, a state, a day that is not in the calendar): such a filter finds nothing and is no error. Other parameters
// are skipped: unknown ones were refused before.
func Conditions(pairs []Pair, fields map[string]Field) (list []loyalty.Condition, readable bool) {
	for _, p := range pairs {
		name, op := SplitOperator(p.Name)
		f, known := fields[name]
		if !known {
			continue // a parameter that is no filter
		}
		read, ok := f.read(name, op, p.Value)
		if !ok {
			return nil, false
		}
		list = append(list, read...)
	}
	return list, true
}

// SplitOperator splits the operator off; without one it is eq. Only the part after the last dot can be an operator, so
// limit.eq is the attribute limit.
func SplitOperator(name string) (string, loyalty.Operator) {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		if op := loyalty.Operator(name[dot+1:]); slices.Contains(operators, op) {
			return name[:dot], op
		}
	}
	return name, loyalty.Eq
}

// Ordered returns the field that a parameter compares or sorts by order; empty if it does neither.
func (p Pair) Ordered() string {
	if p.Name == sortParameter {
		return p.Value
	}
	if name, op := SplitOperator(p.Name); op.Ordered() {
		return name
	}
	return ""
}

// Takes reports whether a field can be compared by an operator: texts, choices and booleans have no order.
func (f Field) Takes(op loyalty.Operator) bool {
	return !op.Ordered() || f.Kind != Text && f.Kind != Choice && f.Kind != Boolean
}

func (f Field) read(name string, op loyalty.Operator, text string) ([]loyalty.Condition, bool) {
	texts := []string{text}
	if f.List || op == loyalty.In || op == loyalty.Nin {
		texts = strings.Split(text, ",")
	}
	if !f.Takes(op) {
		return nil, false
	}
	if f.Kind == Instant {
		return instantConditions(name, op, texts)
	}

	values := make([]any, len(texts))
	for i, t := range texts {
		v, ok := f.value(t)
		if !ok {
			return nil, false
		}
		values[i] = v
	}

	return []loyalty.Condition{{Field: name, Operator: op, Values: values}}, true
}

func (f Field) value(text string) (any, bool) {
	if f.ID {
		text = strings.TrimSpace(text)
	}

	switch f.Kind {
	case Choice:
		return text, slices.Contains(f.Choices, text)
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	case Number:
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && contract.IsNumber(text)
	case Boolean:
		return text == "true" || text == "1", slices.Contains([]string{"true", "false", "1", "0"}, text)
	}

	return text, true
}

// instantConditions turns a comparison with days or instants into comparisons with instants.
func instantConditions(name string, op loyalty.Operator, texts []string) ([]loyalty.Condition, bool) {
	spans := make([]any, len(texts))
	var first span
	for i, text := range texts {
		s, ok := readSpan(text)
		if !ok {
			return nil, false
		}
		if i == 0 {
			first = s
		}
		spans[i] = s
	}

	one := func(op loyalty.Operator, t time.Time) loyalty.Condition {
		return loyalty.Condition{Field: name, Operator: op, Values: []any{t}}
	}
	from, before := first.From, first.Before
	switch op {
	case loyalty.Gt:
		return []loyalty.Condition{one(loyalty.Gte, before)}, true
	case loyalty.Gte:
		return []loyalty.Condition{one(loyalty.Gte, from)}, true
	case loyalty.Lt:
		return []loyalty.Condition{one(loyalty.Lt, from)}, true
	case loyalty.Lte:
		return []loyalty.Condition{one(loyalty.Lt, before)}, true
	case loyalty.Ne, loyalty.Nin:
		return []loyalty.Condition{{Field: name, Operator: loyalty.Nin, Values: spans}}, true
	}

	if len(spans) == 1 {
		return []loyalty.Condition{one(loyalty.Gte, from), one(loyalty.Lt, before)}, true
	}

	return []loyalty.Condition{{Field: name, Operator: loyalty.In, Values: spans}}, true
}

// withPlus restores the plus of an offset. In a query it is a blank unless it is written %2B, which many clients
// forget; a blank before an offset has no other meaning.
func withPlus(text string) string {
	const seconds, offset = len("2006-01-02T15:04:05"), len("+00:00")
	if at := len(text) - offset; at >= seconds && text[at] == ' ' {
		return text[:at] + "+" + text[at+1:]
	}
	return text
}

// readSpan reads YYYY-MM-DD as a day; RFC 3339, or day and time in UTC, as an instant.
func readSpan(text string) (span, bool) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return span{From: day, Before: day.AddDate(0, 0, 1)}, true
	}
	at, err := loyalty.ParseInstant(withPlus(text))
	if err != nil || at.Year() < 1 || at.Year() > 9999 {
		return span{}, false
	}
	return span{From: at, Before: at.Add(time.Millisecond)}, true
}

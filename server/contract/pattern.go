package contract

import (
	"encoding/json"
	"regexp/syntax"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// What matching a pattern costs is its size times the length of the text: RE2 takes no
// longer, and a hostile text takes no less.
const (
	// patternBudget bounds one declared pattern, for the longest text it may meet.
	patternBudget = 2_000_000
	// patternLength is the length that a pattern is held to at least, and where
	// its attribute has no maxLength.
	patternLength = 1000
	// eventPatternBudget bounds the patterns of all texts of an event together: lists
	// have many of them, and an attribute without maxLength has no end.
	eventPatternBudget = 4 * patternBudget
)

// declare compiles a schema that is declared now. Those in force already are only
// compiled: what was declared before a rule came stays declared.
func (d *declarations) declare(text json.RawMessage) (*Schema, error) {
	schema, err := d.read(text)
	if err != nil {
		return nil, err
	}
	k := checker{prefix: "schema"}
	k.affordable(schema)
	if len(k.faults) > 0 {
		return nil, k.failure()
	}
	return d.compile(text)
}

// affordable notes the patterns of a schema that do not stay within their budget.
func (k *checker) affordable(s *openapi3.Schema) {
	length := uint64(patternLength)
	if s.MaxLength != nil {
		length = max(length, *s.MaxLength)
	}
	if parsed, err := syntax.Parse(s.Pattern, syntax.Perl); err == nil && uint64(patternSize(parsed)) > patternBudget/length {
		k.fault("property_invalid", "pattern", map[string]any{"property": "pattern", "reason": "pattern_budget"})
	}
	if s.Items != nil {
		k.within([]step{{"items", -1}}, func() { k.affordable(s.Items.Value) })
	}
	for name, p := range s.Properties {
		k.within([]step{{"properties", -1}, {name, -1}}, func() { k.affordable(p.Value) })
	}
}

// patternSize is about how many instructions a pattern compiles to: one for a
// character, a class or an operator, with repetitions written out.
func patternSize(r *syntax.Regexp) int {
	switch r.Op {
	case syntax.OpLiteral:
		return len(r.Rune)
	case syntax.OpRepeat:
		times := r.Max
		if times < 0 {
			times = r.Min + 1
		}
		return max(1, times) * (patternSize(r.Sub[0]) + 1)
	}
	size := 1
	for _, part := range r.Sub {
		size += patternSize(part)
	}
	return size
}

// affords charges a text that is to be held against a declared pattern, and notes the
// fault where the event's budget ends. Patterns of the documents are ours and cost little.
func (k *checker) affords(s *Schema, text string) bool {
	k.patterns += s.pattern * (utf8.RuneCountInString(text) + 1)
	if k.patterns <= eventPatternBudget {
		return true
	}
	k.fault("property_invalid", "", map[string]any{"property": k.property(), "reason": "pattern_budget"})
	return false
}

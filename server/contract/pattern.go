package contract

import (
	"encoding/json"
	"regexp/syntax"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// The cost of matching a pattern is its size times the length of the text: RE2's upper bound, which a hostile text
// reaches.
const (
	// patternBudget bounds the cost of one declared pattern for the longest allowed text.
	patternBudget = 2_000_000
	// patternLength is the least length of a text that a pattern must afford, and the length for an attribute without
	// maxLength.
	patternLength = 1000
	// eventPatternBudget bounds the patterns of all texts of an event together: lists have many texts, and an attribute
	// without maxLength is unbounded.
	eventPatternBudget = 4 * patternBudget
)

// declare compiles a newly declared schema. Schemas in force are only compiled: a declaration stays valid if a stricter
// rule is added later.
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

// affordable notes the patterns of a schema that exceed their budget.
func (k *checker) affordable(s *openapi3.Schema) {
	length := uint64(patternLength)
	if s.MaxLength != nil {
		length = max(length, *s.MaxLength)
	}
	if parsed, err := syntax.Parse(s.Pattern, syntax.Perl); err == nil &&
		uint64(patternSize(parsed)) > patternBudget/length {
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

// affords charges a text that is to be matched with a declared pattern, and notes a fault if the event's budget is
// spent. The patterns of the documents are trusted and cost little.
func (k *checker) affords(s *Schema, text string) bool {
	k.patterns += s.pattern * (utf8.RuneCountInString(text) + 1)
	if k.patterns <= eventPatternBudget {
		return true
	}
	k.fault("property_invalid", "", map[string]any{"property": k.property(), "reason": "pattern_budget"})
	return false
}

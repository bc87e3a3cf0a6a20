package importer

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Words are a text in every language: Name is its name in the catalogue, without the prefix "finding.".
type Words struct {
	Name string         `json:"name"`
	Args map[string]any `json:"args,omitempty"`
}

type args = map[string]any

// say names a text, which i18n/locales must have as finding.NAME with the given values.
func say(name string, a args) Words { return Words{name, a} }

// Finding is an error in a file, or a warning.
type Finding struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // from 1; 0: of no line
	Column string `json:"column"`
	Value  string `json:"-"` // may be personal, so it is shown only beside the file
	Words
	// Refusal is the reason why the contract or the programme refuses the row, as a message of the API; nil if Words
	// say it all. It fills {refusal}.
	Refusal *Words `json:"refusal,omitempty"`
	Warning bool   `json:"warning,omitempty"` // the file can still be imported

	cut bool // the rest of the file was not read
}

// Text writes a finding in the language of say, which renders a text of the catalogue.
func (f *Finding) Text(say func(name string, args map[string]any) string) string {
	if f.Refusal == nil {
		return f.In(say)
	}
	w := Words{f.Name, maps.Clone(f.Args)}
	if w.Args == nil {
		w.Args = args{}
	}
	w.Args["refusal"] = say(f.Refusal.Name, f.Refusal.Args)
	return w.In(say)
}

// In writes the words in the language of say.
func (w Words) In(say func(name string, args map[string]any) string) string {
	return say("finding."+w.Name, w.Args)
}

// Error is the name of the words, for faults that prevent an import.
func (w Words) Error() string { return "finding." + w.Name }

// WordsOf reads words that were stored as JSON.
func WordsOf(text string) (w Words) {
	_ = json.Unmarshal([]byte(text), &w) // written by this program
	return w
}

// mostOfRow bounds the findings of one row.
const mostOfRow = 10

// refusal returns the contract's faults in a row.
func (s *sheet) refusal(err *loyalty.Error) (told []Finding) {
	if len(err.Details) == 0 {
		f := s.finding("", "", say("refused", nil))
		f.Refusal = &Words{err.Name, plainly(err.Args)}
		return []Finding{f}
	}
	for _, d := range err.Details[:min(len(err.Details), mostOfRow)] {
		field, _, _ := strings.Cut(strings.TrimPrefix(d.Field, "data."), "[") // a cell can hold several values
		column := s.kind.columnOf(field)
		f := s.finding(column, s.cell(column), say("refused", nil))
		f.Refusal = &Words{d.Name, plainly(d.Args)}
		told = append(told, f)
	}
	return told
}

// plainly removes values from a message that could be the row's own text, which its sender has.
func plainly(values map[string]any) map[string]any {
	values = maps.Clone(values)
	if _, is := values["value"]; is {
		values["value"] = "…"
	}
	return values
}

// shownValue is how many characters of a value are shown.
const shownValue = 100

func (s *sheet) finding(column, value string, w Words) Finding {
	if runes := []rune(value); len(runes) > shownValue {
		value = string(runes[:shownValue]) + "…"
	}
	return Finding{File: s.file, Line: s.line, Column: column, Value: value, Words: w}
}

// warning is a finding that does not prevent the import.
func (s *sheet) warning(column, value string, w Words) Finding {
	f := s.finding(column, value, w)
	f.Warning = true
	return f
}

// stopped is a finding of the row at which the reading of a file ends.
func (s *sheet) stopped(w Words) Finding {
	f := s.finding("", "", w)
	f.cut = true
	return f
}

// faults are the findings that prevent the import of a row.
func faults(told []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(told), func(f Finding) bool { return f.Warning })
}

package loyalty

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Texts is a translatable text: one for each language, by ISO 639-1 code.
type Texts map[string]string

// In returns the text in the first of the languages that it has, otherwise in the one whose code comes first in the
// alphabet.
func (t Texts) In(languages ...string) string {
	text, _ := t.Choose(languages...)
	return text
}

// Choose is In, and returns the language as well.
func (t Texts) Choose(languages ...string) (text, language string) {
	for _, l := range languages {
		if t[l] != "" {
			return t[l], l
		}
	}
	for _, l := range slices.Sorted(maps.Keys(t)) {
		if t[l] != "" {
			return t[l], l
		}
	}
	return "", ""
}

// Moment is an instant of an entity, written as RFC 3339. Days that callers write become instants before an entity is
// stored or compiled (programme.Dated), so a day is refused here.
type Moment struct{ time.Time }

// UnmarshalJSON reads the instant; empty text is none.
func (m *Moment) UnmarshalJSON(raw []byte) (err error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || strings.TrimSpace(text) == "" {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	m.Time = at.UTC().Truncate(time.Millisecond)
	return err
}

// The states that follow from the dates of an entity.
const (
	StatusScheduled = "scheduled"
	StatusActive    = "active"
	StatusCompleted = "completed"
)

// DateStatuses lists them.
var DateStatuses = []string{StatusScheduled, StatusActive, StatusCompleted}

// Dates bound when an entity is in force: from StartsAt, before EndsAt.
type Dates struct {
	StartsAt Moment `json:"starts_at"`
	EndsAt   Moment `json:"ends_at"`
}

// Status returns the state at an instant: scheduled, active or completed.
func (d Dates) Status(at time.Time) string {
	switch {
	case !d.StartsAt.IsZero() && at.Before(d.StartsAt.Time):
		return StatusScheduled
	case !d.EndsAt.IsZero() && !at.Before(d.EndsAt.Time):
		return StatusCompleted
	}
	return StatusActive
}

// CompareAmounts orders amounts of money, the smaller first.
func CompareAmounts(a, b money.Amount) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// The fields by which the store can sort lists of entities.
const (
	SortCreated = "created_at"
	SortUpdated = "updated_at"
	SortID      = "id"
)

package challenge

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// ChallengeState is a customer's stored progress in a challenge.
type ChallengeState struct {
	Of          string    `json:"of"`          // the criteria that were counted, as text
	Completions int64     `json:"completions"` // how often it was completed
	Criteria    []int64   `json:"criteria"`    // counts towards the next completion, each in its scale
	Started     time.Time `json:"started,omitzero"`
	Completed   time.Time `json:"completed,omitzero"` // the last time
	// Days splits Criteria by day if a completion must happen within a number of days.
	Days []map[calendar.Day]int64 `json:"days,omitempty"`
	// Parts name this progress for the purchases and completions that counted towards it and may be taken back. Sole is
	// the only one of them, by its event; zero if there are several. Progress that no refund can touch has no name.
	Parts []loyalty.ID `json:"parts,omitempty"`
	Sole  loyalty.ID   `json:"sole,omitzero"`
	// Kept are completions that a refund may break, oldest first. A completion that one purchase made alone is kept
	// with that purchase.
	Kept   []loyalty.Completion `json:"kept,omitempty"`
	Passed []passed             `json:"passed,omitempty"` // completions that were taken back before a later one
}

// ReadDocument reads the common members of a stored state; encoding/json reads a document with rare ones.
func (st *ChallengeState) ReadDocument(text json.RawMessage) error {
	fresh := *st
	err := loyalty.EachMember(text, func(name, value []byte) error {
		switch string(name) {
		case "of":
			return loyalty.ReadText(value, &fresh.Of)
		case "completions":
			return loyalty.ReadNumber(value, &fresh.Completions)
		case "criteria":
			return loyalty.ReadNumbers(value, &fresh.Criteria)
		case "started":
			return fresh.Started.UnmarshalJSON(value)
		case "completed":
			return fresh.Completed.UnmarshalJSON(value)
		case "parts":
			return loyalty.ReadIDs(value, &fresh.Parts)
		case "sole":
			return loyalty.ReadID(value, &fresh.Sole)
		}

		return loyalty.ErrUnread
	})
	if err == nil {
		*st = fresh
	}

	return err
}

// ChallengeStatus is a customer's progress as it is shown.
type ChallengeStatus struct {
	Completions int64
	Left        int64 // completions that are still possible
	Percent     int   // of the next completion, floored; 100 if none is left
	Criteria    []CriterionStatus
	Started     time.Time // of the next completion; zero: nothing counts towards it yet
	Completed   time.Time // the last time; zero: never
}

// CriterionStatus is the progress in one criterion.
type CriterionStatus struct {
	Action    string
	Current   int64 // whole units; never above Threshold
	Threshold int64
	Percent   int
}

// reset starts counting from 0; completions stay.
func (c *Challenge) reset(st *ChallengeState) {
	st.Of, st.Criteria, st.Days, st.Started = c.of, make([]int64, len(c.Criteria)), nil, time.Time{}
	st.Parts, st.Sole = nil, loyalty.ID{}
}

// take adds an event's counts and returns the day on which they count. An event dated in the future
// counts today, because windows only look back from today.
func (c *Challenge) take(st *ChallengeState, moves []int64, at time.Time, v tier.TierView) (on calendar.Day) {
	today := v.Today()
	on = min(today, calendar.DayOf(at, v.Location))
	c.age(st, today)
	if st.Started.IsZero() {
		st.Started = at
	}
	for i, n := range moves {
		if n > 0 {
			c.add(st, i, n, on)
		}
	}
	c.age(st, today) // a date that is too early is outside the window already
	return on
}

// add counts for one criterion on a day.
func (c *Challenge) add(st *ChallengeState, criterion int, n int64, on calendar.Day) {
	st.Criteria[criterion] = min(maxSum, st.Criteria[criterion]+n)
	if c.WindowDays == 0 {
		return
	}
	if len(st.Days) != len(c.Criteria) {
		st.Days = make([]map[calendar.Day]int64, len(c.Criteria))
	}
	if st.Days[criterion] == nil {
		st.Days[criterion] = map[calendar.Day]int64{}
	}
	st.Days[criterion][on] = min(maxSum, st.Days[criterion][on]+n)
}

// age drops progress that was made towards former criteria, and counts outside the window of days (including today).
func (c *Challenge) age(st *ChallengeState, today calendar.Day) {
	if st.Of != c.of || len(st.Criteria) != len(c.Criteria) {
		c.reset(st)
	}

	if c.WindowDays == 0 || st.Days == nil {
		st.Days = nil
		return
	}

	for i := range st.Criteria {
		days := maps.Clone(st.Days[i])
		maps.DeleteFunc(days, func(d calendar.Day, _ int64) bool { return d <= today-calendar.Day(c.WindowDays) })
		st.Days[i], st.Criteria[i] = days, 0
		for _, n := range days {
			st.Criteria[i] = min(maxSum, st.Criteria[i]+n)
		}
	}

	st.nothing()
}

// done reports whether every criterion is met. A sum is cut to whole units before it is compared: 9.9999 of 10 is not
// enough.
func (c *Challenge) done(st *ChallengeState) bool {
	for i := range c.Criteria {
		if st.Criteria[i]/c.Criteria[i].scale() < c.Criteria[i].Threshold {
			return false
		}
	}
	return true
}

// Status is the progress at an instant. Its percentage is the mean of the criteria's.
func (c *Challenge) Status(st ChallengeState, at time.Time, loc *time.Location) ChallengeStatus {
	st.Days = append([]map[calendar.Day]int64(nil), st.Days...)
	st.Criteria = append([]int64(nil), st.Criteria...)
	c.age(&st, calendar.DayOf(at, loc))
	status := ChallengeStatus{
		Completions: st.Completions, Left: max(0, c.most()-st.Completions), Percent: 100,
		Started: st.Started, Completed: st.Completed,
	}

	var sum int
	for i, k := range c.Criteria {
		current := min(st.Criteria[i]/k.scale(), k.Threshold)
		if status.Left == 0 {
			current = k.Threshold
		}
		percent := int(100 * current / max(1, k.Threshold))
		sum += percent
		status.Criteria = append(status.Criteria, CriterionStatus{k.Action, current, k.Threshold, percent})
	}

	if len(c.Criteria) > 0 {
		status.Percent = sum / len(c.Criteria)
	}

	return status
}

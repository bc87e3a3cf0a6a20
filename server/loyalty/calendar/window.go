// Package calendar is days as a programme sees them: a day in a time zone, and the windows
// that tiers and challenges count in. It knows no customer and no programme.
package calendar

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The kinds of a tier window.
const (
	WindowNone        = "none"        // everything that ever happened
	WindowRolling     = "rolling"     // the last days or months up to now
	WindowCalendar    = "calendar"    // from the anchor, a year or some months long
	WindowAnniversary = "anniversary" // from the day of enrolment, a year or some months long
)

// Window is the time over which a structure counts. Its days are those of the
// programme's time zone.
type Window struct {
	Kind   string `json:"kind"`   // one of the Window constants
	Days   int    `json:"days"`   // rolling
	Months int    `json:"months"` // rolling; calendar and anniversary in place of a year
	Anchor string `json:"anchor"` // calendar: MM-DD; 29 February means the last day of February
}

// Split reports whether time falls into windows that follow one another.
func (w Window) Split() bool { return w.Kind == WindowCalendar || w.Kind == WindowAnniversary }

// Limit is the last day that a rolling window ending on today does not count.
func (w Window) Limit(today Day) Day {
	if w.Days > 0 {
		return today - Day(w.Days)
	}
	return today.PlusMonths(-w.Months)
}

// Leaves is the first day on which a rolling window no longer counts d.
func (w Window) Leaves(d Day) Day {
	if w.Days > 0 {
		return d + Day(w.Days)
	}
	on := d.PlusMonths(w.Months)
	for on.PlusMonths(-w.Months) < d { // the month was too short for the day
		on++
	}
	return on
}

// Bounds returns the first day of the window that holds d, and that of the next one. Windows begin on the day of the
// month of the first one, or on the last day of a month that lacks it.
func (w Window) Bounds(d, enrolled Day) (start, next Day) {
	first, months := enrolled, w.Months
	if w.Kind == WindowCalendar {
		month, dom := time.January, 1
		if w.Anchor != "" {
			month, dom, _ = points.ParseDay(w.Anchor) // checked when the structure was read
		}
		first = Civil(2000, month, dom) // a leap year
	}

	if months == 0 {
		months = 12
	}

	n := FloorDiv(first.monthsTo(d), months)
	if first.PlusMonths(n*months) > d {
		n--
	}

	return first.PlusMonths(n * months), first.PlusMonths((n + 1) * months)
}

// Day is a day of the calendar, counted from 1970-01-01.
type Day int

const secondsADay = 24 * 60 * 60

// Civil is the day of a date. 30 February is 1 or 2 March, as time.Date has it.
func Civil(year int, month time.Month, dom int) Day {
	return Day(time.Date(year, month, dom, 0, 0, 0, 0, time.UTC).Unix() / secondsADay)
}

// DayOf is the day on which an instant is in loc.
func DayOf(t time.Time, loc *time.Location) Day { return Civil(t.In(loc).Date()) }

// Date is the year, month and day of the month, without any zone: a day has none.
func (d Day) Date() (int, time.Month, int) {
	return time.Unix(int64(d)*secondsADay, 0).UTC().Date()
}

// Begins is the first instant of the day in loc: midnight, or the instant of the skip if clocks skip midnight.
func (d Day) Begins(loc *time.Location) time.Time {
	year, month, dom := d.Date()
	at := time.Date(year, month, dom, 0, 0, 0, 0, loc)
	start, end := at.ZoneBounds()
	switch hour, minute, second := at.Clock(); {
	case DayOf(at, loc) < d:
		at = end
	case hour+minute+second > 0:
		at = start
	}
	return at.UTC()
}

// PlusMonths is the day some months later or earlier; in a month that lacks the day, the last day of the month.
func (d Day) PlusMonths(n int) Day {
	year, month, dom := d.Date()
	last := time.Date(year, month+time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return Civil(year, month+time.Month(n), min(dom, last))
}

// monthsTo is the difference in calendar months, whatever the days are.
func (d Day) monthsTo(to Day) int {
	y1, m1, _ := d.Date()
	y2, m2, _ := to.Date()
	return (y2-y1)*12 + int(m2) - int(m1)
}

// MarshalText writes the day as 2026-03-01.
func (d Day) MarshalText() ([]byte, error) {
	year, month, dom := d.Date()
	return time.Date(year, month, dom, 0, 0, 0, 0, time.UTC).AppendFormat(nil, time.DateOnly), nil
}

// UnmarshalText reads what MarshalText writes.
func (d *Day) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.DateOnly, string(text))
	*d = Civil(t.Date())
	return err
}

// FloorDiv divides and rounds down, also below zero, where Go rounds towards it: windows before the first one would
// otherwise be off by one.
func FloorDiv(a, b int) int {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

package loyalty

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
	Anchor string `json:"anchor"` // calendar: MM-DD; 29 February is the last of that month
}

// split says whether time falls into windows that follow one another.
func (w Window) split() bool { return w.Kind == WindowCalendar || w.Kind == WindowAnniversary }

// limit is the last day that a rolling window of some day does not count.
func (w Window) limit(today day) day {
	if w.Days > 0 {
		return today - day(w.Days)
	}
	return today.plusMonths(-w.Months)
}

// leaves is the first day on which a rolling window does not count d any more.
func (w Window) leaves(d day) day {
	if w.Days > 0 {
		return d + day(w.Days)
	}
	on := d.plusMonths(w.Months)
	for on.plusMonths(-w.Months) < d { // the month was too short for the day
		on++
	}
	return on
}

// bounds gives the first day of the window that holds d, and that of the next
// one. Windows begin on the day of the month of the first one, or on the last
// of a month that lacks it.
func (w Window) bounds(d, enrolled day) (start, next day) {
	first, months := enrolled, w.Months
	if w.Kind == WindowCalendar {
		month, dom := time.January, 1
		if w.Anchor != "" {
			month, dom, _ = points.ParseDay(w.Anchor) // checked when the structure was read
		}
		first = civil(2000, month, dom) // a leap year
	}
	if months == 0 {
		months = 12
	}
	n := floorDiv(first.monthsTo(d), months)
	if first.plusMonths(n*months) > d {
		n--
	}
	return first.plusMonths(n * months), first.plusMonths((n + 1) * months)
}

// day is a day of the calendar, counted from 1970-01-01.
type day int

const secondsADay = 24 * 60 * 60

func civil(year int, month time.Month, dom int) day {
	return day(time.Date(year, month, dom, 0, 0, 0, 0, time.UTC).Unix() / secondsADay)
}

// dayOf is the day that calendars in loc show at an instant.
func dayOf(t time.Time, loc *time.Location) day { return civil(t.In(loc).Date()) }

func (d day) date() (int, time.Month, int) {
	return time.Unix(int64(d)*secondsADay, 0).UTC().Date()
}

// begins is the first instant of the day in loc: midnight, or where clocks skip
// it the instant of the skip.
func (d day) begins(loc *time.Location) time.Time {
	year, month, dom := d.date()
	at := time.Date(year, month, dom, 0, 0, 0, 0, loc)
	start, end := at.ZoneBounds()
	switch hour, minute, second := at.Clock(); {
	case dayOf(at, loc) < d:
		at = end
	case hour+minute+second > 0:
		at = start
	}
	return at.UTC()
}

// plusMonths is the day some months later or earlier, the last of its month
// where that lacks the day.
func (d day) plusMonths(n int) day {
	year, month, dom := d.date()
	last := time.Date(year, month+time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return civil(year, month+time.Month(n), min(dom, last))
}

// monthsTo counts months by their names alone.
func (d day) monthsTo(to day) int {
	y1, m1, _ := d.date()
	y2, m2, _ := to.date()
	return (y2-y1)*12 + int(m2) - int(m1)
}

// MarshalText writes the day as 2026-03-01.
func (d day) MarshalText() ([]byte, error) {
	year, month, dom := d.date()
	return time.Date(year, month, dom, 0, 0, 0, 0, time.UTC).AppendFormat(nil, time.DateOnly), nil
}

// UnmarshalText reads what MarshalText writes.
func (d *day) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.DateOnly, string(text))
	*d = civil(t.Date())
	return err
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

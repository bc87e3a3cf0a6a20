package calendar

import (
	"errors"
	"time"
)

// The first and the last instant that can be written with four digits of a year.
var (
	earliest = time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, time.December, 31, 23, 59, 59, 999*int(time.Millisecond), time.UTC)
)

// ReadStart reads a day or an instant (RFC 3339) at which something begins. A day means its first instant
// in loc.
func ReadStart(text string, loc *time.Location) (time.Time, error) {
	return read(text, func(d Day) time.Time { return d.Begins(loc) })
}

// ReadEnd reads a day or an instant (RFC 3339) at which something ends. A day means its last millisecond in loc: what
// is good until the 31st is good on the 31st.
func ReadEnd(text string, loc *time.Location) (time.Time, error) {
	return read(text, func(d Day) time.Time { return d.Ends(loc) })
}

// read keeps days at the edges of the calendar within it: many systems write 9999-12-31 for "never", and west of
// Greenwich that day ends in a year of five digits.
func read(text string, day func(Day) time.Time) (time.Time, error) {
	if date, err := time.Parse(time.DateOnly, text); err == nil {
		at := day(Civil(date.Date()))
		if at.Before(earliest) {
			at = earliest
		} else if at.After(latest) {
			at = latest
		}
		return at, nil
	}

	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Before(earliest) || at.After(latest) {
		return time.Time{}, errors.New("not a day or an instant")
	}

	return at.UTC().Truncate(time.Millisecond), nil
}

// Ends is the last millisecond of the day in loc. A day has 23 or 25 hours where clocks change.
func (d Day) Ends(loc *time.Location) time.Time { return (d + 1).Begins(loc).Add(-time.Millisecond) }

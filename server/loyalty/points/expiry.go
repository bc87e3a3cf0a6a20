package points

import (
	"fmt"
	"time"
)

// Period is a span of calendar months and days.
type Period struct {
	Months int `json:"months,omitempty"`
	Days   int `json:"days,omitempty"`
}

// IsZero reports whether no period is set.
func (p Period) IsZero() bool { return p == Period{} }

// After adds the period to t on the clocks of t's location. A month that lacks the day ends on its last day: 31 January
// plus one month is the end of February.
func (p Period) After(t time.Time) time.Time {
	year, month := t.Year(), t.Month()+time.Month(p.Months)
	day := min(t.Day(), daysIn(year, month)) + p.Days
	return onClock(time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC), t.Location())
}

// From adds the period to t on the clocks of loc. The result is in UTC.
func (p Period) From(t time.Time, loc *time.Location) time.Time { return p.After(t.In(loc)).UTC() }

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// onClock is the instant at which clocks in loc show what t shows in UTC. If they skip that time, it is the instant of
// the skip: a day whose first hour is skipped begins at 01:00, not at 23:00 the day before.
func onClock(t time.Time, loc *time.Location) time.Time {
	at := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc)
	_, offset := at.Zone()
	start, end := at.ZoneBounds()
	switch missed := t.Unix() - at.Unix() - int64(offset); {
	case missed > 0:
		return end
	case missed < 0:
		return start
	}
	return at
}

// The expiry policies a programme may choose.
const (
	ExpiryNone         = "none"
	ExpiryRolling      = "rolling"
	ExpiryCalendar     = "calendar"
	ExpiryLastActivity = "last_activity"
	ExpiryAnniversary  = "anniversary"
)

// Policy is the rule by which new lots expire.
type Policy struct {
	Kind   string // one of the Expiry constants
	Period Period // rolling, last_activity
	Month  time.Month
	Day    int // calendar: the last day on which the points are good
}

// ParseDay reads a day of the year, MM-DD. 29 February is accepted and means
// the last day of February.
func ParseDay(text string) (time.Month, int, error) {
	t, err := time.Parse("2006-01-02", "2000-"+text)
	if err != nil {
		return 0, 0, fmt.Errorf("not a day of the year (MM-DD): %q", text)
	}
	return t.Month(), t.Day(), nil
}

// Dates returns the expiry of a new lot. Calendar days are those of loc; enrolled is the customer's
// creation. expires is in UTC.
func (p Policy) Dates(earned, enrolled time.Time, loc *time.Location) (expires time.Time, idle Period) {
	local := earned.In(loc)
	switch p.Kind {
	case ExpiryRolling:
		return p.Period.From(earned, loc), Period{}
	case ExpiryCalendar:
		return endOfDay(local, p.Month, p.Day), Period{}
	case ExpiryAnniversary:
		return anniversary(local, enrolled.In(loc)), Period{}
	case ExpiryLastActivity:
		return time.Time{}, p.Period
	}
	return time.Time{}, Period{}
}

// endOfDay returns the first end (24:00 local time) of the given day of the year after t.
func endOfDay(t time.Time, month time.Month, day int) time.Time {
	for year := t.Year(); ; year++ {
		last := min(day, daysIn(year, month))
		end := onClock(time.Date(year, month, last+1, 0, 0, 0, 0, time.UTC), t.Location())
		if end.After(t) {
			return end.UTC()
		}
	}
}

// anniversary returns the first anniversary of the enrolment after t.
func anniversary(t, enrolled time.Time) time.Time {
	for years := max(1, t.Year()-enrolled.Year()); ; years++ {
		at := Period{Months: 12 * years}.After(enrolled)
		if at.After(t) {
			return at.UTC()
		}
	}
}

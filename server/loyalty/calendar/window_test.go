package calendar

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func zoneOf(t require.TestingT, name string) *time.Location {
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

// on reads a day, 2026-03-01.
func on(t require.TestingT, text string) (d Day) {
	require.NoError(t, d.UnmarshalText([]byte(text)), text)
	return d
}

func shown(t require.TestingT, d Day) string {
	text, err := d.MarshalText()
	require.NoError(t, err)
	return string(text)
}

func TestDayBegins(t *testing.T) {
	for _, c := range []struct{ zone, day, begins string }{
		{"UTC", "2026-03-01", "2026-03-01T00:00:00Z"},
		{"Europe/Budapest", "2026-03-29", "2026-03-28T23:00:00Z"}, // the clocks go forward that night, later
		{"Europe/Budapest", "2026-03-30", "2026-03-29T22:00:00Z"},
		{"Europe/Budapest", "2026-10-25", "2026-10-24T22:00:00Z"},
		{"Europe/Budapest", "2026-10-26", "2026-10-25T23:00:00Z"},
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z"},   // 00:00 is skipped: it begins at 01:00
		{"America/Havana", "2026-03-08", "2026-03-08T05:00:00Z"}, // the same, west of Greenwich
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},   // the day before does not exist
		{"America/New_York", "2028-02-29", "2028-02-29T05:00:00Z"},
	} {
		begins := on(t, c.day).Begins(zoneOf(t, c.zone))
		require.Equal(t, c.begins, begins.Format(time.RFC3339), "%s in %s", c.day, c.zone)
		require.Equal(t, on(t, c.day), DayOf(begins, zoneOf(t, c.zone)))
		require.Less(t, DayOf(begins.Add(-time.Millisecond), zoneOf(t, c.zone)), on(t, c.day), "%s in %s is the first instant", c.day, c.zone)
	}
}

func TestRollingWindow(t *testing.T) {
	for _, c := range []struct {
		window Window
		day    string
		limit  string // the last day that does not count on that day
		leaves string // the first on which that day does not count
	}{
		{Window{Days: 1}, "2026-03-01", "2026-02-28", "2026-03-02"},
		{Window{Days: 30}, "2026-03-29", "2026-02-27", "2026-04-28"},
		{Window{Days: 365}, "2028-02-29", "2027-03-01", "2029-02-28"},
		{Window{Months: 1}, "2026-03-31", "2026-02-28", "2026-05-01"}, // April has no 31st
		{Window{Months: 1}, "2026-01-31", "2025-12-31", "2026-03-01"},
		{Window{Months: 1}, "2026-01-28", "2025-12-28", "2026-02-28"},
		{Window{Months: 12}, "2028-02-29", "2027-02-28", "2029-03-01"},
		{Window{Months: 12}, "2027-02-28", "2026-02-28", "2028-02-28"},
		{Window{Months: 48}, "2028-02-29", "2024-02-29", "2032-02-29"},
	} {
		c.window.Kind = WindowRolling
		require.Equal(t, c.limit, shown(t, c.window.Limit(on(t, c.day))), "%+v on %s", c.window, c.day)
		require.Equal(t, c.leaves, shown(t, c.window.Leaves(on(t, c.day))), "%+v and %s", c.window, c.day)
	}
}

// TestRollingLeaves holds leaves against its meaning, day by day.
func TestRollingLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Window{Kind: WindowRolling, Days: rapid.IntRange(1, 800).Draw(t, "days")}
		if rapid.Bool().Draw(t, "by months") {
			w = Window{Kind: WindowRolling, Months: rapid.IntRange(1, 30).Draw(t, "months")}
		}
		d := Day(rapid.IntRange(-1000, 40000).Draw(t, "day"))
		first := d
		for d > w.Limit(first) {
			first++
		}
		require.Equal(t, first, w.Leaves(d))
	})
}

func TestWindowBounds(t *testing.T) {
	for _, c := range []struct {
		window      Window
		enrolled    string
		day         string
		start, next string
	}{
		{Window{Kind: WindowCalendar}, "2024-05-05", "2026-03-01", "2026-01-01", "2027-01-01"},
		{Window{Kind: WindowCalendar, Anchor: "01-01"}, "2024-05-05", "2026-01-01", "2026-01-01", "2027-01-01"},
		{Window{Kind: WindowCalendar, Anchor: "04-06"}, "2024-05-05", "2026-04-05", "2025-04-06", "2026-04-06"},
		{Window{Kind: WindowCalendar, Anchor: "04-06"}, "2024-05-05", "2026-04-06", "2026-04-06", "2027-04-06"},
		{Window{Kind: WindowCalendar, Anchor: "02-29"}, "2024-05-05", "2026-02-28", "2026-02-28", "2027-02-28"},
		{Window{Kind: WindowCalendar, Anchor: "02-29"}, "2024-05-05", "2028-02-28", "2027-02-28", "2028-02-29"},
		{Window{Kind: WindowCalendar, Anchor: "02-29"}, "2024-05-05", "2028-02-29", "2028-02-29", "2029-02-28"},
		{Window{Kind: WindowCalendar, Months: 3}, "2024-05-05", "2026-06-30", "2026-04-01", "2026-07-01"},
		{Window{Kind: WindowCalendar, Months: 1, Anchor: "01-31"}, "2024-05-05", "2026-02-28", "2026-02-28", "2026-03-31"},
		{Window{Kind: WindowCalendar, Months: 24}, "2024-05-05", "2027-12-31", "2026-01-01", "2028-01-01"},
		{Window{Kind: WindowCalendar, Months: 24}, "2024-05-05", "1999-07-01", "1998-01-01", "2000-01-01"},
		{Window{Kind: WindowAnniversary}, "2024-05-05", "2024-05-05", "2024-05-05", "2025-05-05"},
		{Window{Kind: WindowAnniversary}, "2024-05-05", "2026-05-04", "2025-05-05", "2026-05-05"},
		{Window{Kind: WindowAnniversary}, "2024-02-29", "2025-02-28", "2025-02-28", "2026-02-28"},
		{Window{Kind: WindowAnniversary}, "2024-02-29", "2028-02-28", "2027-02-28", "2028-02-29"},
		{Window{Kind: WindowAnniversary, Months: 6}, "2024-08-31", "2025-02-28", "2025-02-28", "2025-08-31"},
		{Window{Kind: WindowAnniversary}, "2024-05-05", "2024-05-04", "2023-05-05", "2024-05-05"}, // booked before enrolment
	} {
		start, next := c.window.Bounds(on(t, c.day), on(t, c.enrolled))
		require.Equal(t, [2]string{c.start, c.next}, [2]string{shown(t, start), shown(t, next)}, "%+v, enrolled %s, %s", c.window, c.enrolled, c.day)
	}
}

// TestWindowsJoin: every day lies in one window, and windows follow one another.
func TestWindowsJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Window{Kind: WindowAnniversary, Months: rapid.IntRange(0, 40).Draw(t, "months")}
		enrolled := Day(rapid.IntRange(10000, 25000).Draw(t, "enrolled"))
		d := Day(rapid.IntRange(9000, 40000).Draw(t, "day"))
		start, next := w.Bounds(d, enrolled)
		require.True(t, start <= d && d < next)
		again, end := w.Bounds(next-1, enrolled)
		require.Equal(t, [2]Day{start, next}, [2]Day{again, end})
		after, _ := w.Bounds(next, enrolled)
		require.Equal(t, next, after)
	})
}

package points_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

func zone(t require.TestingT, name string) *time.Location {
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

func instant(t require.TestingT, text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(t, err)
	return at.UTC()
}

func TestPeriodAfter(t *testing.T) {
	for _, c := range []struct {
		from   string
		period points.Period
		want   string
	}{
		{"2023-01-31T10:20:30.456Z", points.Period{Months: 1}, "2023-02-28T10:20:30.456Z"},
		{"2024-01-31T10:20:30Z", points.Period{Months: 1}, "2024-02-29T10:20:30Z"},
		{"2024-02-29T00:00:00Z", points.Period{Months: 12}, "2025-02-28T00:00:00Z"},
		{"2024-02-29T00:00:00Z", points.Period{Months: 48}, "2028-02-29T00:00:00Z"},
		{"2023-12-31T23:59:59Z", points.Period{Months: 2}, "2024-02-29T23:59:59Z"},
		{"2023-03-31T00:00:00Z", points.Period{Months: 1}, "2023-04-30T00:00:00Z"},
		{"2023-05-15T00:00:00Z", points.Period{Months: 19}, "2024-12-15T00:00:00Z"},
		{"2023-01-31T00:00:00Z", points.Period{Months: 1, Days: 1}, "2023-03-01T00:00:00Z"}, // months first
		{"2024-02-28T00:00:00Z", points.Period{Days: 1}, "2024-02-29T00:00:00Z"},
		{"2023-02-28T00:00:00Z", points.Period{Days: 1}, "2023-03-01T00:00:00Z"},
		{"2023-12-31T00:00:00Z", points.Period{Days: 366}, "2024-12-31T00:00:00Z"},
		{"2023-12-31T00:00:00Z", points.Period{}, "2023-12-31T00:00:00Z"},
		{"1999-12-31T00:00:00Z", points.Period{Months: 1200}, "2099-12-31T00:00:00Z"},
		{"2024-02-29T00:00:00Z", points.Period{Months: 1200}, "2124-02-29T00:00:00Z"},
		{"2000-02-29T00:00:00Z", points.Period{Months: 1200}, "2100-02-28T00:00:00Z"}, // 2100 is no leap year
		{"2023-06-15T00:00:00Z", points.Period{Days: 36500}, "2123-05-22T00:00:00Z"},
	} {
		require.Equal(t, c.want, c.period.After(instant(t, c.from)).Format(time.RFC3339Nano), "%s + %v", c.from, c.period)
	}

	require.True(t, points.Period{}.IsZero())
	require.False(t, points.Period{Days: 1}.IsZero())
}

// The clock of the programme's zone is what a period counts: a day is a day on
// the calendar, 23 or 25 hours long on the nights the clocks change.
func TestPeriodInZone(t *testing.T) {
	for _, c := range []struct {
		zone   string
		from   string
		period points.Period
		want   string
	}{
		{"Europe/Budapest", "2026-03-28T12:00:00+01:00", points.Period{Days: 1}, "2026-03-29T12:00:00+02:00"},
		{"Europe/Budapest", "2026-10-24T12:00:00+02:00", points.Period{Days: 1}, "2026-10-25T12:00:00+01:00"},
		{"Europe/Budapest", "2026-01-15T08:00:00+01:00", points.Period{Months: 6}, "2026-07-15T08:00:00+02:00"},
		// 02:30 is skipped: the points are good until the clocks jump.
		{"Europe/Budapest", "2026-03-28T02:30:00+01:00", points.Period{Days: 1}, "2026-03-29T03:00:00+02:00"},
		{"America/New_York", "2026-03-07T02:30:00-05:00", points.Period{Days: 1}, "2026-03-08T03:00:00-04:00"},
		// On 1 April 2012 Havana's day began at 01:00: the month's first midnight
		// did not exist, and no day of the month may slip for it.
		{"America/Havana", "2012-03-15T00:00:00-05:00", points.Period{Months: 1}, "2012-04-15T00:00:00-04:00"},
		{"America/Havana", "2012-03-31T00:00:00-05:00", points.Period{Days: 1}, "2012-04-01T01:00:00-04:00"},
		{"America/Havana", "2012-03-01T00:30:00-05:00", points.Period{Months: 1}, "2012-04-01T01:00:00-04:00"},
		{"Asia/Beirut", "2020-03-28T00:00:00+02:00", points.Period{Days: 1}, "2020-03-29T01:00:00+03:00"},
		// Samoa had no 30 December 2011 at all.
		{"Pacific/Apia", "2011-12-29T12:00:00-10:00", points.Period{Days: 1}, "2011-12-31T00:00:00+14:00"},
		{"Pacific/Apia", "2011-12-29T12:00:00-10:00", points.Period{Days: 2}, "2011-12-31T12:00:00+14:00"},
		{"Asia/Kathmandu", "2026-01-31T00:00:00+05:45", points.Period{Months: 1}, "2026-02-28T00:00:00+05:45"},
	} {
		got := c.period.After(instant(t, c.from).In(zone(t, c.zone)))
		require.Equal(t, instant(t, c.want).String(), got.UTC().String(), "%s %s + %v gave %s", c.zone, c.from, c.period, got)
	}
}

func TestPolicies(t *testing.T) {
	const enrolled = "2024-02-29T23:30:00Z"
	year := points.Period{Months: 12}
	for _, c := range []struct {
		name   string
		policy points.Policy
		zone   string
		earned string
		want   string // empty: never
		idle   points.Period
	}{
		{"none", points.Policy{Kind: points.ExpiryNone}, "UTC", "2026-05-01T10:00:00Z", "", points.Period{}},
		{"unset", points.Policy{}, "UTC", "2026-05-01T10:00:00Z", "", points.Period{}},
		{"rolling", points.Policy{Kind: points.ExpiryRolling, Period: year}, "UTC", "2026-05-01T10:00:00.123Z", "2027-05-01T10:00:00.123Z", points.Period{}},
		{"rolling over 29 February", points.Policy{Kind: points.ExpiryRolling, Period: year}, "UTC", "2028-02-29T10:00:00Z", "2029-02-28T10:00:00Z", points.Period{}},
		{"rolling in the zone's month", points.Policy{Kind: points.ExpiryRolling, Period: points.Period{Months: 1}}, "Europe/Budapest",
			"2026-01-31T23:30:00Z" /* 1 February there */, "2026-02-28T23:30:00Z" /* 1 March there */, points.Period{}},
		{"rolling over a change of clocks", points.Policy{Kind: points.ExpiryRolling, Period: points.Period{Days: 1}}, "Europe/Budapest",
			"2026-03-28T11:00:00Z", "2026-03-29T10:00:00Z", points.Period{}},
		{"inactivity", points.Policy{Kind: points.ExpiryLastActivity, Period: year}, "UTC", "2026-05-01T10:00:00Z", "", year},

		{"calendar", points.Policy{Kind: points.ExpiryCalendar, Month: time.December, Day: 31}, "UTC", "2026-05-01T10:00:00Z", "2027-01-01T00:00:00Z", points.Period{}},
		{"calendar on the day itself", points.Policy{Kind: points.ExpiryCalendar, Month: time.May, Day: 1}, "UTC", "2026-05-01T23:59:59.999Z", "2026-05-02T00:00:00Z", points.Period{}},
		{"calendar at the end of the day", points.Policy{Kind: points.ExpiryCalendar, Month: time.May, Day: 1}, "UTC", "2026-05-02T00:00:00Z", "2027-05-02T00:00:00Z", points.Period{}},
		{"calendar in the zone", points.Policy{Kind: points.ExpiryCalendar, Month: time.December, Day: 31}, "Europe/Budapest", "2026-12-31T22:59:59Z", "2026-12-31T23:00:00Z", points.Period{}},
		{"calendar in the zone, a moment later", points.Policy{Kind: points.ExpiryCalendar, Month: time.December, Day: 31}, "Europe/Budapest", "2026-12-31T23:00:00Z", "2027-12-31T23:00:00Z", points.Period{}},
		{"calendar in summer time", points.Policy{Kind: points.ExpiryCalendar, Month: time.June, Day: 30}, "Europe/Budapest", "2026-01-01T00:00:00Z", "2026-06-30T22:00:00Z", points.Period{}},
		{"calendar 29 February, leap", points.Policy{Kind: points.ExpiryCalendar, Month: time.February, Day: 29}, "UTC", "2028-01-15T00:00:00Z", "2028-03-01T00:00:00Z", points.Period{}},
		{"calendar 29 February, common", points.Policy{Kind: points.ExpiryCalendar, Month: time.February, Day: 29}, "UTC", "2027-01-15T00:00:00Z", "2027-03-01T00:00:00Z", points.Period{}},
		{"calendar day that ends in a skipped hour", points.Policy{Kind: points.ExpiryCalendar, Month: time.March, Day: 31}, "America/Havana", "2012-01-01T05:00:00Z", "2012-04-01T05:00:00Z", points.Period{}},
		{"calendar of a month that begins in a skipped hour", points.Policy{Kind: points.ExpiryCalendar, Month: time.April, Day: 10}, "America/Havana", "2012-01-01T05:00:00Z", "2012-04-11T04:00:00Z", points.Period{}},

		{"anniversary", points.Policy{Kind: points.ExpiryAnniversary}, "UTC", "2026-01-10T00:00:00Z", "2026-02-28T23:30:00Z", points.Period{}},
		{"anniversary, leap", points.Policy{Kind: points.ExpiryAnniversary}, "UTC", "2028-01-10T00:00:00Z", "2028-02-29T23:30:00Z", points.Period{}},
		{"anniversary at the moment", points.Policy{Kind: points.ExpiryAnniversary}, "UTC", "2026-02-28T23:30:00Z", "2027-02-28T23:30:00Z", points.Period{}},
		{"anniversary in the first year", points.Policy{Kind: points.ExpiryAnniversary}, "UTC", "2024-03-01T00:00:00Z", "2025-02-28T23:30:00Z", points.Period{}},
		{"anniversary, booked before the enrolment", points.Policy{Kind: points.ExpiryAnniversary}, "UTC", "2020-01-01T00:00:00Z", "2025-02-28T23:30:00Z", points.Period{}},
		{"anniversary on the zone's day", points.Policy{Kind: points.ExpiryAnniversary}, "Europe/Budapest" /* 1 March there */, "2026-02-28T23:00:00Z", "2026-02-28T23:30:00Z", points.Period{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expires, idle := c.policy.Dates(instant(t, c.earned), instant(t, enrolled), zone(t, c.zone))
			require.Equal(t, c.idle, idle)
			if c.want == "" {
				require.True(t, expires.IsZero())
				return
			}
			require.Equal(t, time.UTC, expires.Location())
			require.Equal(t, instant(t, c.want).String(), expires.String())
		})
	}
}

func TestParseDay(t *testing.T) {
	for text, want := range map[string][2]int{"12-31": {12, 31}, "02-29": {2, 29}, "01-01": {1, 1}} {
		month, day, err := points.ParseDay(text)
		require.NoError(t, err)
		require.Equal(t, want, [2]int{int(month), day})
	}
	for _, text := range []string{"", "2-29", "02-30", "13-01", "00-10", "04-31", "12-31Z", "12/31", "2026-12-31", " 12-31"} {
		_, _, err := points.ParseDay(text)
		require.Error(t, err, text)
	}
}

var zones = []string{
	"UTC", "Europe/Budapest", "America/New_York", "America/Havana", "America/Sao_Paulo", "America/Santiago", "Asia/Beirut",
	"Asia/Kathmandu", "Africa/Cairo", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "America/Asuncion",
}

// Whatever the policy, zone and instant: points never expire before they are
// earned nor at that very instant, a calendar year is the longest a calendar
// policy waits, and a later credit never expires earlier.
func TestExpiryProperties(t *testing.T) {
	year := points.Period{Months: 12, Days: 2} // a leap day, and an hour of the clocks
	rapid.Check(t, func(t *rapid.T) {
		loc := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		second := rapid.Int64Range(0, 4102444800) // 1970 to 2100
		enrolled := time.Unix(second.Draw(t, "enrolled"), 0)
		earned := time.Unix(max(enrolled.Unix(), second.Draw(t, "earned")), 0)
		later := earned.Add(time.Duration(rapid.Int64Range(0, 200_000).Draw(t, "later")) * time.Second)
		month := time.Month(rapid.IntRange(1, 12).Draw(t, "month"))
		policy := points.Policy{
			Kind:   rapid.SampledFrom([]string{points.ExpiryRolling, points.ExpiryCalendar, points.ExpiryAnniversary}).Draw(t, "kind"),
			Period: points.Period{Months: rapid.IntRange(0, 36).Draw(t, "months"), Days: rapid.IntRange(1, 400).Draw(t, "days")},
			Month:  month, Day: rapid.IntRange(1, [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]).Draw(t, "day"),
		}

		expires, _ := policy.Dates(earned, enrolled, loc)
		require.True(t, expires.After(earned))
		if policy.Kind != points.ExpiryRolling {
			require.False(t, expires.After(year.After(earned)), "%s", expires)
			next, _ := policy.Dates(later, enrolled, loc)
			require.False(t, next.Before(expires))
		}

		if policy.Kind == points.ExpiryCalendar { // the last instant of the day is good, the next is another day
			last, first := expires.Add(-time.Nanosecond).In(loc), expires.In(loc)
			require.Equal(t, month, last.Month(), "%s", last)
			require.NotEqual(t, last.Day(), first.Day(), "%s", first)
		}
	})
}

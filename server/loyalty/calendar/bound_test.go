package calendar

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadStartAndEnd(t *testing.T) {
	for _, c := range []struct{ zone, text, start, end string }{
		{"UTC", "2026-03-01", "2026-03-01T00:00:00Z", "2026-03-01T23:59:59.999Z"},
		{"Europe/Budapest", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59.999Z"}, // 23 hours
		{"Europe/Budapest", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T22:59:59.999Z"}, // 25 hours
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T20:59:59.999Z"},    // has no midnight
		{"Africa/Cairo", "2026-04-23", "2026-04-22T22:00:00Z", "2026-04-23T21:59:59.999Z"},    // nor an hour 24
		{"America/Havana", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59.999Z"},  // the same, west of Greenwich
		{"Pacific/Pago_Pago", "2026-03-01", "2026-03-01T11:00:00Z", "2026-03-02T10:59:59.999Z"},
		{"Pacific/Kiritimati", "2026-03-01", "2026-02-28T10:00:00Z", "2026-03-01T09:59:59.999Z"},
		{"Asia/Kathmandu", "2026-03-01", "2026-02-28T18:15:00Z", "2026-03-01T18:14:59.999Z"},
		{"Europe/Budapest", "2028-02-29", "2028-02-28T23:00:00Z", "2028-02-29T22:59:59.999Z"},
		{"Pacific/Pago_Pago", "9999-12-31", "9999-12-31T11:00:00Z", "9999-12-31T23:59:59.999Z"},
		{"Asia/Kathmandu", "0001-01-01", "0001-01-01T00:00:00Z", "0001-01-01T18:18:43.999Z"},
		// an instant is what it says, in every zone
		{"Pacific/Pago_Pago", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"Asia/Kathmandu", "2026-03-01T02:00:00.5+02:00", "2026-03-01T00:00:00.5Z", "2026-03-01T00:00:00.5Z"},
	} {
		start, err := ReadStart(c.text, zoneOf(t, c.zone))
		require.NoError(t, err)
		end, err := ReadEnd(c.text, zoneOf(t, c.zone))
		require.NoError(t, err)
		got := [2]string{start.Format(time.RFC3339Nano), end.Format(time.RFC3339Nano)}
		require.Equal(t, [2]string{c.start, c.end}, got, "%s in %s", c.text, c.zone)
	}
}

func TestReadEndOfNoDay(t *testing.T) {
	for _, text := range []string{"", "2026-02-30", "tomorrow", "2026-3-1", "10000-01-01"} {
		_, err := ReadEnd(text, time.UTC)
		require.Error(t, err, text)
		_, err = ReadStart(text, time.UTC)
		require.Error(t, err, text)
	}
}

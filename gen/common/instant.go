package common

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// instantFormat is the one form in which the platform writes an instant.
const instantFormat = "2006-01-02T15:04:05.000Z"

// Instant is a point in time on the wire. It is written as RFC 3339 in UTC with
// exactly three decimals, whatever zone and precision the time has; it is read
// from RFC 3339 with any offset or from seconds since 1970. Convert with
// common.Instant(t) and time.Time(i).
type Instant time.Time

// MarshalJSON writes the instant in UTC with milliseconds.
func (i Instant) MarshalJSON() ([]byte, error) {
	return append(i.Append(append(make([]byte, 0, len(instantFormat)+2), '"')), '"'), nil
}

// Append writes the instant behind b, without quotes.
func (i Instant) Append(b []byte) []byte {
	t := time.Time(i).UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, instantFormat)
	}
	hour, minute, second := t.Clock()
	b = append(digits(digits(b, year/100), year%100), '-')
	b = append(digits(b, int(month)), '-')
	b = append(digits(b, day), 'T')
	b = append(digits(b, hour), ':')
	b = append(digits(b, minute), ':')
	milliseconds := t.Nanosecond() / int(time.Millisecond)
	b = append(digits(b, second), '.', byte('0'+milliseconds/100))
	return append(digits(b, milliseconds%100), 'Z')
}

// digits writes a number below 100. Lists have hundreds of instants, and time's formats are read
// anew for each.
func digits(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// UnmarshalJSON reads RFC 3339 text, seconds since 1970 as a number, or such a
// number as text, which is how a form sends it. null leaves the instant as it is.
func (i *Instant) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	text := string(data)
	if data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	t, err := parseInstant(text)
	if err != nil {
		return err
	}
	*i = Instant(t)
	return nil
}

// String writes the instant as MarshalJSON does, without quotes.
func (i Instant) String() string { return time.Time(i).UTC().Format(instantFormat) }

// parseInstant reads RFC 3339 with any offset, or seconds since 1970, and gives
// the time in UTC. Years outside 1 to 9999 are refused: they cannot be written.
func parseInstant(text string) (time.Time, error) {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return inRange(time.Unix(seconds, 0).UTC(), text)
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, notAnInstant(text)
	}
	return inRange(t.UTC(), text)
}

func inRange(t time.Time, text string) (time.Time, error) {
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, notAnInstant(text)
	}
	return t, nil
}

func notAnInstant(text string) error {
	return fmt.Errorf("%q is neither an RFC 3339 instant nor seconds since 1970", text)
}

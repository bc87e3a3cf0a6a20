package common_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/gen/common"
)

func TestInstantIsWrittenInUTCWithMilliseconds(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	for want, at := range map[string]time.Time{
		`"2026-03-01T09:30:00.000Z"`: time.Date(2026, 3, 1, 11, 30, 0, 0, zone),
		`"2026-03-01T09:30:00.120Z"`: time.Date(2026, 3, 1, 9, 30, 0, 120_000_000, time.UTC),
		`"2026-03-01T09:30:00.999Z"`: time.Date(2026, 3, 1, 9, 30, 0, 999_999_999, time.UTC), // never a moment too late
	} {
		got, err := json.Marshal(common.Instant(at))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestInstantIsRead(t *testing.T) {
	want := time.Date(2026, 2, 27, 18, 5, 0, 0, time.UTC)
	for _, text := range []string{
		`"2026-02-27T18:05:00Z"`, `"2026-02-27T20:05:00+02:00"`, `"2026-02-27T18:05:00.000Z"`, `1772215500`, `"1772215500"`,
	} {
		var got common.Instant
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		require.Equal(t, want, time.Time(got), text)
	}
	for _, text := range []string{
		`"2026-02-30T18:05:00Z"`, `"2026-02-27"`, `"2026-02-27T18:05:00"`, `""`, `1.5`, `1e9`, `true`, `{}`, `[1]`,
		`"0000-12-31T23:00:00Z"`, `"9999-12-31T23:59:59-01:00"`, `253402300800`, `99999999999999999999`,
	} {
		var got common.Instant
		require.Error(t, json.Unmarshal([]byte(text), &got), text)
		require.Zero(t, got, text)
	}
}

func TestInstantNullIsAbsent(t *testing.T) {
	at := common.Instant(time.Unix(1, 0).UTC())
	require.NoError(t, json.Unmarshal([]byte(`null`), &at))
	require.Equal(t, int64(1), time.Time(at).Unix())
	pointer := &at
	require.NoError(t, json.Unmarshal([]byte(`null`), &pointer))
	require.Nil(t, pointer)
}

// TestInstantRoundTrip: what is written is read back to the same millisecond,
// and seconds mean the same as their text.
func TestInstantRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(-62135596800000, 253402300799999).Draw(t, "ms")).UTC()
		raw, err := json.Marshal(common.Instant(at))
		require.NoError(t, err)
		var back common.Instant
		require.NoError(t, json.Unmarshal(raw, &back))
		require.Equal(t, at, time.Time(back))

		seconds := at.Unix()
		require.NoError(t, json.Unmarshal([]byte(strconv.FormatInt(seconds, 10)), &back))
		require.Equal(t, seconds, time.Time(back).Unix())
	})
}

func FuzzInstant(f *testing.F) {
	for _, seed := range []string{`"2026-02-27T18:05:00Z"`, `1772215500`, `"-1"`, `null`, `"9999-12-31T23:59:59.999999999Z"`, `"`, ``} {
		f.Add([]byte(seed))
	}
	written := regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$`)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var at common.Instant
		if json.Unmarshal(raw, &at) != nil {
			return
		}
		out, err := json.Marshal(at)
		require.NoError(t, err)
		require.Regexp(t, written, string(out))
		var back common.Instant
		require.NoError(t, json.Unmarshal(out, &back))
		require.Equal(t, time.Time(at).Truncate(time.Millisecond), time.Time(back))
	})
}

// TestInstantIsWrittenAsTimeWritesIt: whatever the year, and before it.
func TestInstantIsWrittenAsTimeWritesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(-70_000_000_000_000, 260_000_000_000_000).Draw(t, "ms")).Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, "ns")))
		require.Equal(t, at.UTC().Format("2006-01-02T15:04:05.000Z"), common.Instant(at).String())
		require.Equal(t, common.Instant(at).String(), string(common.Instant(at).Append(nil)))
	})
}

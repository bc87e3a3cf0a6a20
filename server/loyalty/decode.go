package loyalty

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// DecodeError names the field that could not be decoded.
func DecodeError(err error) error {
	reason := "type"
	if errors.Is(err, money.ErrRange) {
		reason = "range"
	}
	field := "data"
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) && typed.Field != "" {
		field = "data." + typed.Field
		if strings.HasPrefix(typed.Value, "number") {
			reason = "range"
		}
	}
	return ErrPropertyInvalid.With("property", field).With("reason", reason).At(field).Because(err)
}

// ParseInstant reads an instant where a day means its beginning in UTC: in filters, and in views of the past. It also
// reads a day and time without offset, which is UTC. Starts and ends are read by calendar.ReadStart and
// calendar.ReadEnd, in the programme's zone.
func ParseInstant(text string) (time.Time, error) {
	at, err := calendar.ReadStart(text, time.UTC)
	if bare, fault := time.Parse("2006-01-02T15:04:05.999999999", text); err != nil && fault == nil {
		return bare.Truncate(time.Millisecond), nil
	}
	return at, err
}

// clockAhead is how far the clock of a till may run ahead. The sale has happened, and a refusal would lose it.
const clockAhead = 300 * time.Second

// EffectiveTimestamp reads the attribute that books an event late: RFC 3339 or unix seconds. An instant ahead by no
// more than clockAhead counts as now: the result is zero, as if nothing had been sent. Further ahead it is refused.
func EffectiveTimestamp(raw json.RawMessage, now time.Time) (time.Time, error) {
	const property = "effective_timestamp"
	var text string
	var at time.Time
	if err := json.Unmarshal(raw, &text); err == nil {
		if at, err = ParseInstant(text); err != nil {
			return time.Time{}, InvalidAttribute(property, "instant")
		}
	} else {
		var seconds int64
		if err := json.Unmarshal(raw, &seconds); err != nil {
			return time.Time{}, InvalidAttribute(property, "instant")
		}
		at = time.Unix(seconds, 0).UTC()
	}

	if at.After(now.Add(clockAhead)) {
		return time.Time{}, ErrFutureTimestamp.With("property", property).At("data." + property)
	}
	if at.After(now) {
		return time.Time{}, nil
	}
	if at.Year() < 1970 {
		return time.Time{}, InvalidAttribute(property, "range")
	}

	return at, nil
}

// InvalidAttribute refuses an attribute for a fault that the contract cannot express. reason is a key of the messages
// (reason.…).
func InvalidAttribute(property, reason string) *Error {
	return ErrPropertyInvalid.With("property", property).With("reason", reason).At("data." + property)
}

// ItemField returns the path of a line item's property.
func ItemField(list string, i int, property string) string {
	return "data." + list + "[" + strconv.Itoa(i) + "]." + property
}

// TextOf returns an attribute that is a text; empty if it is not one. Most need no decoder.
func TextOf(raw json.RawMessage) string {
	if n := len(raw); n > 1 && raw[0] == '"' && raw[n-1] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : n-1])
	}
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Deref returns what p points to, or the zero value for nil.
func Deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// JSON encodes values made by the rules themselves, which can always be encoded.
func JSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of JSON always marshal
	}
	return raw
}

package programme

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
)

// instantFormat is how instants are written in the fields of an entity.
const instantFormat = "2006-01-02T15:04:05.000Z07:00"

// Dated returns the fields of an entity with the days of starts_at and ends_at converted to instants in loc: the first
// instant of a start, the last millisecond of an end. Entities are stored that way, so that a change of the programme's
// time zone moves none of its dates.
func Dated(fields json.RawMessage, loc *time.Location) json.RawMessage {
	if loc == nil || !bytes.Contains(fields, []byte(`s_at"`)) {
		return fields // most entities have no dates, and need no decoder
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(fields, &all) != nil {
		return fields // the schema reports the fault
	}

	changed := dated(all, "starts_at", func(text string) (time.Time, error) { return calendar.ReadStart(text, loc) })
	if dated(all, "ends_at", func(text string) (time.Time, error) { return calendar.ReadEnd(text, loc) }) || changed {
		return loyalty.JSON(all)
	}
	return fields
}

// dated converts the day in a field, and reports whether there was one.
func dated(fields map[string]json.RawMessage, name string, read func(string) (time.Time, error)) bool {
	text := loyalty.TextOf(fields[name])
	if len(text) != len(time.DateOnly) {
		return false
	}
	at, err := read(text)
	if err != nil {
		return false
	}
	fields[name] = loyalty.JSON(at.Format(instantFormat))
	return true
}

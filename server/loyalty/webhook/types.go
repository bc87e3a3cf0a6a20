package webhook

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Version is the newest form of messages. A form that a webhook has stays: what takes
// something away makes a new one, and the old one is still made.
const Version = "2026-11"

// NoticeType is a type of message that is about no event, with an example of what it says.
type NoticeType struct {
	Type    string
	Example json.RawMessage
}

// Notices lists them.
func Notices() []NoticeType {
	const about = `"webhook_id":"0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01","label":"CRM"`
	return []NoticeType{
		{string(tellDisabled), json.RawMessage(`{` + about + `,"since":"2026-03-01T09:30:00Z","failures":7200,"reason":"failing"}`)},
		{string(tellFailing), json.RawMessage(`{` + about + `,"since":"2026-03-01T09:30:00Z","failures":60}`)},
		{string(tellRecovered), json.RawMessage(`{` + about + `,"since":"2026-03-01T09:30:00Z","failures":60}`)},
		{loyalty.TestMessage, json.RawMessage(`{` + about + `}`)},
	}
}

// NoticeNames lists their names.
func NoticeNames() (names []string) {
	for _, n := range Notices() {
		names = append(names, n.Type)
	}
	return names
}

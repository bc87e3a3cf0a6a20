package webhook

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Version is the newest form of messages. A webhook keeps its form: a change that removes anything makes a new form,
// and the old one is still produced.
const Version = "2026-11"

// NoticeType is a type of message that is not about an event, with an example of its content and its JSON Schema.
type NoticeType struct {
	Type            string
	Example, Schema json.RawMessage
}

// Values of notices.
const (
	aText    = `{"type":"string"}`
	anID     = `{"type":"string","format":"uuid"}`
	anAt     = `{"type":"string","format":"date-time"}`
	aNumber  = `{"type":"integer","format":"int64"}`
	aboutOne = `"webhook_id":` + anID + `,"label":` + aText
)

// says is the schema of a notice.
func says(required, properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","required":[` + required + `],"properties":{` + properties + `}}`)
}

// Notices lists the types.
func Notices() []NoticeType {
	const about = `"webhook_id":"0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01","label":"CRM"`
	const batch = `{"batch_id":"0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e03","kind":`
	ended := says(`"batch_id","kind","target","done","errors"`,
		`"batch_id":`+anID+`,"kind":`+aText+`,"target":`+aText+`,"done":`+aNumber+`,"errors":`+aNumber)
	failing := says(`"webhook_id","label"`,
		aboutOne+`,"since":`+anAt+`,"failures":`+aNumber+`,"reason":{"type":"string","enum":["gone","failing"]}`)

	return []NoticeType{
		{loyalty.ProgrammeChanged,
			json.RawMessage(`{"changes":[{"action":"entity.update","target":"reward/coffee"}],"count":1}`),
			says(`"changes","count"`,
				`"changes":{"type":"array","maxItems":100,"items":{"type":"object","required":["action","target"],"properties":{"action":`+aText+`,"target":`+aText+`}}},"count":`+aNumber)},
		{loyalty.BulkEnded, json.RawMessage(batch + `"reward_claim","target":"coffee","done":1200,"errors":3}`), ended},
		{loyalty.ImportEnded, json.RawMessage(batch + `"import","target":"","done":100000,"errors":0}`), ended},
		{loyalty.JobFailed, json.RawMessage(`{"job":"expiry","done":12,"failed":1}`),
			says(`"job","done","failed"`, `"job":`+aText+`,"done":`+aNumber+`,"failed":`+aNumber)},
		{loyalty.LedgerFailed, json.RawMessage(`{"invariants":["I3"]}`),
			says(`"invariants"`, `"invariants":{"type":"array","items":`+aText+`}`)},
		{string(tellDisabled), json.RawMessage(`{` + about +
			`,"since":"2026-03-01T09:30:00Z","failures":7200,"reason":"failing"}`), failing},
		{string(tellFailing), json.RawMessage(`{` + about + `,"since":"2026-03-01T09:30:00Z","failures":60}`), failing},
		{string(tellRecovered), json.RawMessage(`{` + about + `,"since":"2026-03-01T09:30:00Z","failures":60}`), failing},
		{loyalty.TestMessage, json.RawMessage(`{` + about + `}`), says(`"webhook_id","label"`, aboutOne)},
	}
}

// NoticeNames lists their names.
func NoticeNames() (names []string) {
	for _, n := range Notices() {
		names = append(names, n.Type)
	}
	return names
}

package loyalty

import (
	"encoding/json"
	"time"
)

// What the platform has to say itself besides what it says of webhooks.
const (
	ProgrammeChanged = "programme.changed"
	JobFailed        = "job.failed"
	BulkEnded        = "bulk.done"
	ImportEnded      = "import.done"
	LedgerFailed     = "ledger.broken"
)

// NewNotice makes a notice. data must identify no customer, because every webhook that
// subscribes to the type receives it.
func NewNotice(kind string, now time.Time, data any) Notice {
	return Notice{ID: NewID(now, ID{}), Type: kind, Data: JSON(data), At: now}
}

// Notice is what the platform has to say itself, to the webhooks that want to hear it. It is
// written in the transaction of what it is about, and not at all where there is no webhook.
type Notice struct {
	ID    ID
	Type  string
	About ID // a webhook that is not told; zero: none
	Data  json.RawMessage
	At    time.Time
}

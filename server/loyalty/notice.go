package loyalty

import (
	"encoding/json"
	"time"
)

// The types of the platform's own messages, besides those about webhooks.
const (
	ProgrammeChanged = "programme.changed"
	JobFailed        = "job.failed"
	BulkEnded        = "bulk.done"
	ImportEnded      = "import.done"
	LedgerFailed     = "ledger.broken"
)

// NewNotice makes a notice. data must identify no customer, because every webhook that subscribes to the type receives
// it.
func NewNotice(kind string, now time.Time, data any) Notice {
	return Notice{ID: NewID(now, ID{}), Type: kind, Data: JSON(data), At: now}
}

// Notice is a message of the platform itself, for the webhooks that subscribe to its type. It is written in the
// transaction of its cause, and not at all if there is no webhook.
type Notice struct {
	ID    ID
	Type  string
	About ID // a webhook that does not get it; zero: none
	Data  json.RawMessage
	At    time.Time
}

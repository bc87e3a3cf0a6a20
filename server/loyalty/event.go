package loyalty

import (
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Event is one row of the journal. It is written once and never changed.
type Event struct {
	ID          ID
	Parent      ID // the event it derives from; zero: submitted
	Customer    ID
	Action      string
	Transaction string          // the transaction_id it belongs to, if any
	Points      *int64          // what it did to the balance, as shown; nil: nothing
	ExpDate     time.Time       // expiry of the lot it opened; zero: none
	At          time.Time       // when it took effect
	RecordedAt  time.Time       // when it was recorded
	Data        json.RawMessage // attributes, without the personal ones
	Personal    []byte          // personal attributes, sealed under the customer's key
	Effects     *Effects        // what the postings do not tell, for a rebuild
}

// Effects are the recorded effects of an event besides its postings: with them
// every state can be folded from the journal without rerunning a rule.
type Effects struct {
	Status      Status             `json:"status,omitempty"`
	Transaction *TransactionEffect `json:"transaction,omitempty"`
	Lot         *LotEffect         `json:"lot,omitempty"`
	Referrer    *ID                `json:"referrer,omitempty"`
}

// TransactionEffect is the state of a purchase after an event.
type TransactionEffect struct {
	State      TransactionState `json:"state"`
	Total      int64            `json:"total"` // 1/10,000 of a currency unit
	Refunded   int64            `json:"refunded"`
	Earned     int64            `json:"earned"`
	Burned     int64            `json:"burned"`
	AutoAccept *time.Time       `json:"auto_accept,omitempty"`
}

// LotEffect dates a lot that inactivity lets expire.
type LotEffect struct {
	Idle points.Period `json:"idle"`
}

package loyalty

import (
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// heavyData is the size of the data, in bytes, from which a submission is decided on a worker of its own, so that other
// callers' submissions, which take a millisecond, do not wait for the thousands of lines of one purchase.
const heavyData = 32 << 10

// Heavy reports whether a submission is decided apart from those of other callers.
func (s *Submission) Heavy() bool { return len(s.Data) >= heavyData }

// Submission is one event as it arrives: from POST /events, from a bulk, from
// a job.
type Submission struct {
	Customer   string // the customer's identifier, or the value of ExternalID
	ExternalID string // names the external id field that Customer is a value of
	Action     string
	// Sender is the access key of the request, or what stands in its place (ActorOf); empty: the platform itself. The
	// journal keeps it.
	Sender string
	Data   json.RawMessage // an object; empty counts as {}
	// Checked says that the data has passed its action's schema already.
	Checked bool
	// At is the path of the event inside the request, such as events[3].; it stands before the field names of errors.
	At          string
	Idempotency *Idempotency // nil: the caller sent no key
	// Refusal, if set, is why the request was refused before it became an event. Nothing is tried: an earlier answer is
	// found, or this one is stored.
	Refusal *Refusal
	// Operation says that an operation of another API submits it, which may cause events that cannot be submitted
	// otherwise.
	Operation bool
	// Imported says that it happened in another system, which rewarded it: it gives nothing, but counts for figures and
	// tiers.
	Imported bool
	// Chance is the seed of its wheels and codes; zero: the system's secure source. Only a demonstration sets it.
	Chance [32]byte
	// Guest says that a checkout may be for an unknown customer.
	Guest bool
}

// Refusal is why a request was refused, and under which version of the programme.
type Refusal struct {
	Err     error
	Version int64
}

// Idempotency makes a submission repeatable without a second effect.
type Idempotency struct {
	AnswerKey
	Hash [32]byte // of method, path and body; in a bulk of method, path and the event
	// Whole is what the key stands for if the submission is one event of a bulk: method and path. The key is refused
	// for another bulk, whatever the event.
	Whole [32]byte
	// Render makes the answer to store, without the customer. It runs inside the
	// engine, before the commit, and must not block.
	Render func(Outcome, error) (status int, body []byte)
	// Language returns the languages of what Render rendered, for Answer.Language; nil: the answer has no texts.
	Language func() string
	// Block makes the part of a successful answer that shows the customer; nil: the
	// answer shows none.
	Block func(Outcome) []byte
}

// WholeKey returns the key of the bulk that the submission belongs to.
func (i *Idempotency) WholeKey() AnswerKey { return AnswerKey{AccessKey: i.AccessKey, Key: i.Key} }

// Outcome is what a submission did.
type Outcome struct {
	Customer Customer // after the event
	Events   []Event  // every event recorded, parent first
	// Value is what an operation answers besides the events, such as the result of a spin.
	Value any
	// Replayed is the stored answer of an earlier submission under the same idempotency key; then nothing else is set.
	Replayed *Answer
	// Warnings are the codes that a purchase was recorded without, each with the error that would otherwise refuse it.
	Warnings []*Error
	// Trace explains a preview: one entry for every verdict of a rule.
	Trace []Verdict
	// Touched lists the lots a preview would change.
	Touched []LotChange
}

// Result is the result of one submission of a bulk.
type Result struct {
	Outcome Outcome
	Err     error
}

// Verdict is the verdict of one rule in a preview.
type Verdict struct {
	Rule    string         // such as module, standing, earn, burn, expiry
	Verdict string         // applied, skipped or refused
	Reason  string         // translation key of the explanation
	Input   map[string]any // what the rule read
	Points  int64          // what it gave or took
}

// LotChange is a lot that a preview would open or change.
type LotChange struct {
	Lot    points.Lot // as it would be
	Before int64      // free points before
}

// AnswerKey names a stored answer: an access key and its Idempotency-Key.
type AnswerKey struct {
	AccessKey string
	Key       string
	// Place is the event of a bulk that it answers, counted from 1; 0: the request itself. It is no part of the key's
	// text, so that a key chosen by a caller can never equal that of an event of a bulk.
	Place int
}

// Answer is a stored answer of an idempotent request.
type Answer struct {
	AnswerKey
	Hash   [32]byte // of method, path and body
	Status int
	Body   []byte // sealed under the customer's key, or the deployment's if Customer is zero
	// Block is the customer as the answer shows them, sealed as Body is; empty if it shows none. It is kept apart,
	// because whether it may be shown is decided whenever the answer is sent, also repeated.
	Block    []byte
	Customer ID
	At       time.Time
	// Language is the languages of the texts in the body, as in Content-Language; empty if it has none.
	Language string
}

package loyalty

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// WebhookState reports whether a webhook sends.
type WebhookState string

// The states of a webhook.
const (
	WebhookActive   WebhookState = "active"
	WebhookPaused   WebhookState = "paused"
	WebhookDisabled WebhookState = "disabled"
)

// The reasons for disabling a webhook.
const (
	DisabledGone    = "gone"
	DisabledFailing = "failing"
)

// The optional parts of a message.
const (
	IncludeFigures  = "figures"
	IncludePostings = "postings"
	IncludePersonal = "personal"
)

// Webhook is an address that receives events.
type Webhook struct {
	ID      ID
	Label   string
	URL     string
	Types   []string // wanted types; a * at the end matches every ending
	Filter  string   // a condition that must hold; empty: none
	Ordered bool     // messages about one customer are sent one after the other
	Version string   // of the messages
	Include []string
	Format  string // json or cloudevents
	// Headers are sent with each message. The store keeps them sealed.
	Headers     map[string]string
	Concurrency int // messages in flight at once, at most
	State       WebhookState
	Reason      string // why it is disabled
	Cursor      int64  // position in the tail: events up to this number were fanned out
	Revision    int64  // how often Types and Filter were changed
	Health      WebhookHealth
	Secrets     []Secret // newest first
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Wants reports whether a webhook wants messages of a type.
func (w *Webhook) Wants(kind string) bool { return FitsTypes(w.Types, kind) }

// Has reports whether its messages have an optional part.
func (w *Webhook) Has(what string) bool { return slices.Contains(w.Include, what) }

// FitsTypes reports whether a type matches one of the given types, in which a * at the end matches every ending.
func FitsTypes(types []string, kind string) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		if prefix, open := strings.CutSuffix(t, "*"); open {
			return strings.HasPrefix(kind, prefix)
		}
		return t == kind
	})
}

// ActionsOf returns the actions that types match, and the prefixes of actions; neither if they match all, and false if
// they match none.
func ActionsOf(types []string) (actions, prefixes []string, some bool) {
	for _, t := range types {
		prefix, open := strings.CutSuffix(t, "*")
		switch {
		case open && strings.HasPrefix(EventType, prefix):
			return nil, nil, true
		case open && strings.HasPrefix(prefix, EventType):
			prefixes = append(prefixes, strings.TrimPrefix(prefix, EventType))
		case strings.HasPrefix(t, EventType):
			actions = append(actions, strings.TrimPrefix(t, EventType))
		}
	}

	slices.Sort(actions)
	slices.Sort(prefixes)
	return slices.Compact(actions), slices.Compact(prefixes), len(actions)+len(prefixes) > 0
}

// WebhookHealth is the recent success of an address.
type WebhookHealth struct {
	Failures      int       // in a row
	Tries         int       // since FailingSince
	FailingSince  time.Time // the first failure since the last success; zero: it was a success
	Told          bool      // its failure was reported
	Pace          int       // messages in flight that it can take at present
	RestUntil     time.Time // nothing is sent before this instant
	LastSuccessAt time.Time
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryWaiting DeliveryState = "waiting"
	DeliverySent    DeliveryState = "sent"
	DeliveryDead    DeliveryState = "dead"
	DeliverySkipped DeliveryState = "skipped"
)

// The reasons for skipping a delivery.
const (
	SkippedResumed = "resumed" // its webhook was resumed without the waiting deliveries
	SkippedTypes   = "types"   // its webhook no longer wants the type
	SkippedFilter  = "filter"  // it no longer fits its webhook's filter
	SkippedGone    = "gone"    // the event does not exist
)

// EventType is the prefix of message types about events; the action's name follows. OptOutType names a customer to
// forget.
const (
	EventType  = "event."
	OptOutType = EventType + "opt_out"
)

// TestMessage is the type of a test message, which has no content.
const TestMessage = "webhook.test"

// ProbationAfter is the number of consecutive failures after which an address counts as out of order.
const ProbationAfter = 10

// Delivery is an event to be sent to a webhook. Its message is made when it is sent.
type Delivery struct {
	Webhook  ID
	Number   int64 // at its webhook: 1, 2, 3 …
	Sequence int64 // of the event in the tail; 0: it is not an event
	Customer ID    // zero: none
	Event    ID    // or the id of a notice
	Type     string
	Previous int64 // Sequence of the previous delivery about the customer; 0: none is known
	Replay   bool
	Revision int64 // of the webhook's types and filter by which it was selected
	State    DeliveryState
	Reason   string    // why it was skipped; empty: it was not
	Attempts int       // tries that were used up
	NextAt   time.Time // it is not sent before this instant

	CreatedAt  time.Time
	LastAt     time.Time // of the last attempt; zero: there was none
	LastStatus int
	LastFault  string

	Notice  json.RawMessage // content of a notice; nil: it is an event
	Subject string          // of an opt_out: the customer's name; for the sender only
	Name    string          // of the customer, in lists; empty: none, or they left
}

// Attempt is one attempt to deliver.
type Attempt struct {
	Number   int // 1, 2, 3 … of its delivery
	At       time.Time
	Status   int    // 0: there was no answer
	Fault    string // why
	Duration time.Duration
	Answer   []byte // the first bytes of the answer; the store keeps it sealed
}

// AttemptOutcome is the outcome of an attempt.
type AttemptOutcome int

// The outcomes of an attempt.
const (
	AttemptDelivered  AttemptOutcome = 1 // a status from 200 to 299
	AttemptRefused    AttemptOutcome = 2 // any other status
	AttemptUnanswered AttemptOutcome = 3
)

// AttemptCount counts the attempts that began within one minute, with the same outcome and the same duration, to two
// digits.
type AttemptCount struct {
	Minute  time.Time
	Outcome AttemptOutcome
	Took    time.Duration
	Count   int64
}

// DeliveryQuery selects deliveries of a webhook, newest first. Fields: state, type, customer (ids), created_at.
type DeliveryQuery struct {
	Webhook    ID
	Conditions []Condition
	Limit      int
	Offset     int // if neither After nor Before is set
	// After and Before are numbers: deliveries older than one, or those just newer than one; 0: none.
	After, Before int64
}

// RetryQuery selects dead deliveries of a webhook.
type RetryQuery struct {
	Webhook  ID
	Number   int64  // 0: any
	Type     string // empty: any
	Customer ID     // zero: any
	From, To time.Time
}

// Replay is a period of the past that is sent again.
type Replay struct {
	ID       ID
	Webhook  ID
	Types    []string // of the webhook's; nil: all
	Customer ID       // zero: any
	From, To time.Time
	Position int64 // done up to this number
	Until    int64 // the last number; 0 while it is selected by time
	At       time.Time
}

// Numbered reports whether a replay is selected by numbers instead of time.
func (r *Replay) Numbered() bool { return r.Until > 0 }

// WebhookBacklog is the undelivered messages of a webhook.
type WebhookBacklog struct {
	Waiting, Dead, Behind int64
	Oldest                time.Time // since when the oldest delivery has been waiting; zero: none is
}

// FanOut is the deliveries of a piece of the tail for some webhooks.
type FanOut struct {
	From, Through int64
	Deliveries    map[ID][]Delivery // by webhook, including those without deliveries
	Replay        *Replay           // set for a replay, whose position moves instead of the cursors
	Notices       []ID              // notices that were fanned out
}

// Settled is the result of a delivery, and the attempt that decided it. An attempt without an instant was not made, and
// has the result of the last one.
type Settled struct {
	Delivery Delivery
	Attempt  Attempt
}

// WebhookTx is one transaction on a webhook, whose row is locked.
type WebhookTx interface {
	Webhook() *Webhook
	// Leased counts the deliveries in flight.
	Leased(now time.Time) (int, error)
	// Claim takes deliveries, each the oldest of its customer: those that are due, longest due first, new events before
	// replays. A probe is the one that was not tried for longest, due or not.
	Claim(owner ID, now, until time.Time, limit int, probe bool) ([]Delivery, error)
	// Held returns which deliveries still belong to an owner; only those may be settled.
	Held(owner ID, numbers []int64) (map[int64]bool, error)
	// Settle writes the results of deliveries, each once, and releases the next ones of their customers.
	Settle([]Settled) error
	// SaveHealth writes the webhook's health and state.
	SaveHealth() error
	// Hurry makes deliveries that wait for their next try due.
	Hurry(now time.Time) error
	Notify(Notice) error
}

// WebhookStore keeps webhooks and their deliveries.
type WebhookStore interface {
	WebhookReader
	FeedReader
	// FanOut writes deliveries and moves the positions, in one transaction. false: another node was faster, and nothing
	// was written.
	FanOut(ctx context.Context, f FanOut) (bool, error)
	// DueWebhooks lists active webhooks that have something to send.
	DueWebhooks(ctx context.Context, now time.Time) ([]ID, error)
	// WorkWebhook runs work in a transaction that locks a webhook's row.
	WorkWebhook(ctx context.Context, id ID, work func(WebhookTx) error) error
	// Replays lists the running replays, and Notices the notices that were not fanned out yet.
	Replays(ctx context.Context) ([]Replay, error)
	Notices(ctx context.Context, limit int) ([]Notice, error)
}

// WebhookReader reads webhooks and their deliveries.
type WebhookReader interface {
	Webhooks(ctx context.Context) ([]Webhook, error)
	// Webhook fails with ErrWebhookNotFound.
	Webhook(ctx context.Context, id ID) (Webhook, error)
	Backlogs(ctx context.Context) (map[ID]WebhookBacklog, error)
	// Deliveries fails with ErrWebhookNotFound.
	Deliveries(ctx context.Context, q DeliveryQuery) ([]Delivery, error)
	// Delivery reads a delivery with its attempts, newest first. It fails with ErrDeliveryNotFound.
	Delivery(ctx context.Context, webhook ID, number int64) (Delivery, []Attempt, error)
	// Attempts counts the attempts of a webhook from an instant on, among the newest most attempts of all webhooks;
	// from since on, the counts are complete. It fails with ErrWebhookNotFound.
	Attempts(ctx context.Context, webhook ID, from time.Time, most int) (counts []AttemptCount, since time.Time, err error)
	// EventsAt reads the events at some numbers of the tail.
	EventsAt(ctx context.Context, numbers []int64, postings bool) (FeedPart, error)
	// CustomersByID reads customers with their figures; for a merged customer those of the
	// customer it was merged into.
	CustomersByID(ctx context.Context, ids []ID) (map[ID]Customer, error)
	// Stretch returns the numbers between which all events recorded in a period lie, and CountEvents counts the events
	// of a replay, by period or by numbers.
	Stretch(ctx context.Context, from, to time.Time) (after, until int64, err error)
	CountEvents(ctx context.Context, r *Replay, actions, prefixes []string) (int64, error)
}

// WebhookAdminTx is the part of an administrative transaction about webhooks: every AdminTx has it.
type WebhookAdminTx interface {
	// Webhook reads a webhook and locks it; false: there is none.
	Webhook(id ID) (Webhook, bool, error)
	CountWebhooks() (int64, error)
	// SaveWebhook writes everything but the cursor and the health; for a new webhook these too.
	SaveWebhook(Webhook) error
	// ResumeWebhook makes a webhook active and resets its health; with skip it drops waiting deliveries and the events
	// that were not fanned out.
	ResumeWebhook(id ID, skip bool, now time.Time) error
	// RemoveWebhook deletes a webhook with its secrets and replays, and as many of its deliveries and attempts as fit
	// one piece; ForgetDeliveries deletes the rest.
	RemoveWebhook(id ID) error
	AddDelivery(d Delivery) (Delivery, error)
	RetryDeliveries(q RetryQuery, now time.Time) (int64, error)
	AddReplay(Replay) error
	CountReplays(webhook ID) (int64, error)
	TailHead() (int64, error)
}

// How long deliveries, their attempts and the names of customers who left are kept.
const (
	AttemptLife = 14 * 24 * time.Hour
	SentLife    = 30 * 24 * time.Hour
	DeadLife    = 90 * 24 * time.Hour
	SubjectLife = 7 * 24 * time.Hour
)

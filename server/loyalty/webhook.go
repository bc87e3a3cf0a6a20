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

// Why a webhook was disabled.
const (
	DisabledGone    = "gone"
	DisabledFailing = "failing"
)

// What a message may have besides what happened.
const (
	IncludeFigures  = "figures"
	IncludePostings = "postings"
	IncludePersonal = "personal"
)

// Webhook is an address that is told of events.
type Webhook struct {
	ID      ID
	Label   string
	URL     string
	Types   []string // what it wants to hear of; a * at the end stands for every ending
	Filter  string   // a condition that must hold; empty: none
	Ordered bool     // what concerns one customer is sent one after the other
	Version string   // of the messages
	Include []string
	Format  string // json or cloudevents
	// Headers are sent with each message. The store keeps them sealed.
	Headers     map[string]string
	Concurrency int // messages under way at a time, at most
	State       WebhookState
	Reason      string // why it is disabled
	Cursor      int64  // events up to this number of the tail were looked at
	Revision    int64  // of Types and Filter: how often they were changed
	Health      WebhookHealth
	Secrets     []Secret // the newest first
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Wants reports whether a webhook asked for messages of a type.
func (w *Webhook) Wants(kind string) bool { return FitsTypes(w.Types, kind) }

// Has reports whether its messages have something besides.
func (w *Webhook) Has(what string) bool { return slices.Contains(w.Include, what) }

// FitsTypes reports whether a type is among some, of which those with a * at the end stand
// for every ending.
func FitsTypes(types []string, kind string) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		if prefix, open := strings.CutSuffix(t, "*"); open {
			return strings.HasPrefix(kind, prefix)
		}
		return t == kind
	})
}

// ActionsOf returns the actions that types ask for, and how they may begin; neither if they ask for
// all, and false if they ask for none.
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

// WebhookHealth is how an address has answered.
type WebhookHealth struct {
	Failures      int       // in a row
	Tries         int       // since FailingSince
	FailingSince  time.Time // the first failure since the last success; zero: it was a success
	Told          bool      // that it is failing was told
	Pace          int       // messages under way at a time, as far as it bears them
	RestUntil     time.Time // nothing is sent before
	LastSuccessAt time.Time
}

// DeliveryState is where a delivery stands.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryWaiting DeliveryState = "waiting"
	DeliverySent    DeliveryState = "sent"
	DeliveryDead    DeliveryState = "dead"
	DeliverySkipped DeliveryState = "skipped"
)

// Why a delivery was skipped.
const (
	SkippedResumed = "resumed" // its webhook was resumed without what waited
	SkippedTypes   = "types"   // its webhook does not ask for its type any more
	SkippedFilter  = "filter"  // it does not fit its webhook's filter any more
	SkippedGone    = "gone"    // there is no such event
)

// EventType is the type of messages about events of an action: it stands before the
// action's name. OptOutType tells whom to forget.
const (
	EventType  = "event."
	OptOutType = EventType + "opt_out"
)

// TestMessage is the type of a message that only says that it can be sent.
const TestMessage = "webhook.test"

// ProbationAfter is after how many failures in a row an address counts as out of order.
const ProbationAfter = 10

// Delivery is an event on its way to a webhook. What is sent is made when it is sent.
type Delivery struct {
	Webhook  ID
	Number   int64 // at its webhook: 1, 2, 3 …
	Sequence int64 // of the event in the tail; 0: it is no event
	Customer ID    // zero: none
	Event    ID    // or the id of a notice
	Type     string
	Previous int64 // Sequence of the delivery before it about the customer; 0: none is known
	Replay   bool
	Revision int64 // of the webhook's types and filter, by which it was decided to send it
	State    DeliveryState
	Reason   string    // why it was skipped; empty: it was not
	Attempts int       // tries that were used up
	NextAt   time.Time // it is not sent before

	CreatedAt  time.Time
	LastAt     time.Time // of the last attempt; zero: there was none
	LastStatus int
	LastFault  string

	Notice  json.RawMessage // what a notice says; nil: it is an event
	Subject string          // of an opt_out: what the customer was called; only for who sends it
	Name    string          // of the customer, in lists; empty: none, or they left
}

// Attempt is one attempt to deliver.
type Attempt struct {
	Number   int // 1, 2, 3 … of its delivery
	At       time.Time
	Status   int    // 0: there was no answer
	Fault    string // why
	Duration time.Duration
	Answer   []byte // the beginning of what was answered; the store keeps it sealed
}

// AttemptOutcome is what became of an attempt.
type AttemptOutcome int

// The outcomes of an attempt.
const (
	AttemptDelivered  AttemptOutcome = 1 // a status from 200 to 299
	AttemptRefused    AttemptOutcome = 2 // any other
	AttemptUnanswered AttemptOutcome = 3
)

// AttemptCount is how many attempts began within one minute, came out the same and took as
// long, to two digits.
type AttemptCount struct {
	Minute  time.Time
	Outcome AttemptOutcome
	Took    time.Duration
	Count   int64
}

// DeliveryQuery selects deliveries of a webhook, the newest first. Fields: state, type,
// customer (ids), created_at.
type DeliveryQuery struct {
	Webhook    ID
	Conditions []Condition
	Limit      int
	Offset     int // where neither After nor Before is set
	// After and Before are numbers: deliveries older than one, or those just newer than
	// one; 0: none.
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

// Replay is a stretch of the past that is sent again.
type Replay struct {
	ID       ID
	Webhook  ID
	Types    []string // of the webhook's; nil: all
	Customer ID       // zero: any
	From, To time.Time
	Position int64 // up to this number it was done
	Until    int64 // the last number; 0 while it is asked for by its time
	At       time.Time
}

// Numbered says that a replay is asked for by numbers, and not by a time.
func (r *Replay) Numbered() bool { return r.Until > 0 }

// WebhookBacklog is what has not arrived.
type WebhookBacklog struct {
	Waiting, Dead, Behind int64
	Oldest                time.Time // since when the oldest delivery waits; zero: none does
}

// FanOut is what becomes of a stretch of the tail for some webhooks, all at once.
type FanOut struct {
	From, Through int64
	Deliveries    map[ID][]Delivery // by webhook; those without deliveries are there too
	Replay        *Replay           // it is one of the past, whose position moves instead
	Notices       []ID              // that were looked at
}

// Settled is what became of a delivery, and the attempt that decided it; one without a moment was not made, and has what
// the last one came to.
type Settled struct {
	Delivery Delivery
	Attempt  Attempt
}

// WebhookTx is one transaction that concerns a webhook, whose row is locked.
type WebhookTx interface {
	Webhook() *Webhook
	// Leased counts the deliveries that are under way.
	Leased(now time.Time) (int, error)
	// Claim takes deliveries, each the oldest of its customer: those that are due, by
	// the time since they are, what happens now before replays; a probe is the one that
	// was not tried for longest, due or not.
	Claim(owner ID, now, until time.Time, limit int, probe bool) ([]Delivery, error)
	// Held says which deliveries are still an owner's: nothing else may be settled.
	Held(owner ID, numbers []int64) (map[int64]bool, error)
	// Settle writes what became of deliveries, each once, and lets the next ones of their
	// customers go.
	Settle([]Settled) error
	// SaveHealth writes how the webhook is, and whether it sends.
	SaveHealth() error
	// Hurry makes what waits for its next try due.
	Hurry(now time.Time) error
	Notify(Notice) error
}

// WebhookStore keeps webhooks and what is on its way to them.
type WebhookStore interface {
	WebhookReader
	FeedReader
	// FanOut writes deliveries and moves what they follow, in one transaction. false:
	// another node was faster, and nothing was written.
	FanOut(ctx context.Context, f FanOut) (bool, error)
	// DueWebhooks lists active webhooks that have something to send.
	DueWebhooks(ctx context.Context, now time.Time) ([]ID, error)
	// WorkWebhook runs work in a transaction that has a webhook's row.
	WorkWebhook(ctx context.Context, id ID, work func(WebhookTx) error) error
	// Replays lists those that are under way, and Notices what was not told yet.
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
	// Delivery reads one with its attempts, the newest first. It fails with
	// ErrDeliveryNotFound.
	Delivery(ctx context.Context, webhook ID, number int64) (Delivery, []Attempt, error)
	// Attempts counts the attempts of a webhook from an instant on, among the newest so many
	// of all webhooks: since is from when on these are all. It fails with ErrWebhookNotFound.
	Attempts(ctx context.Context, webhook ID, from time.Time, most int) (counts []AttemptCount, since time.Time, err error)
	// EventsAt reads the events at some numbers of the tail.
	EventsAt(ctx context.Context, numbers []int64, postings bool) (FeedPart, error)
	// CustomersByID reads customers with their figures; for a merged customer those of the
	// customer it was merged into.
	CustomersByID(ctx context.Context, ids []ID) (map[ID]Customer, error)
	// Stretch gives the numbers between which everything lies that was recorded in a
	// stretch of time, and CountEvents counts what a replay asks for by either.
	Stretch(ctx context.Context, from, to time.Time) (after, until int64, err error)
	CountEvents(ctx context.Context, r *Replay, actions, prefixes []string) (int64, error)
}

// WebhookAdminTx is an administrative transaction as far as webhooks are concerned: every
// AdminTx is one.
type WebhookAdminTx interface {
	// Webhook reads one and locks it; false: there is none.
	Webhook(id ID) (Webhook, bool, error)
	CountWebhooks() (int64, error)
	// SaveWebhook writes everything but the cursor and the health; of a new one these too.
	SaveWebhook(Webhook) error
	// ResumeWebhook makes one active and its health good; with skip it leaves out what
	// waits and what was not looked at.
	ResumeWebhook(id ID, skip bool, now time.Time) error
	// RemoveWebhook drops one with its secrets and replays, and what of its deliveries and
	// attempts one piece holds; ForgetDeliveries drops the rest.
	RemoveWebhook(id ID) error
	AddDelivery(d Delivery) (Delivery, error)
	RetryDeliveries(q RetryQuery, now time.Time) (int64, error)
	AddReplay(Replay) error
	CountReplays(webhook ID) (int64, error)
	TailHead() (int64, error)
}

// How long deliveries, their attempts and the names of those who left are kept.
const (
	AttemptLife = 14 * 24 * time.Hour
	SentLife    = 30 * 24 * time.Hour
	DeadLife    = 90 * 24 * time.Hour
	SubjectLife = 7 * 24 * time.Hour
)

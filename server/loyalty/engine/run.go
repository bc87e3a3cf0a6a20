package engine

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Coverable is what can be taken without a balance below zero: what can be spent,
// and what expired of a lot.
func (r *Run) Coverable(lot loyalty.ID) int64 {
	n := max(0, r.Book.Figures.Spendable())
	if l := r.Book.Lot(lot); l != nil {
		n += l.Expired
	}
	return n
}

// MemberOfAny says whether the customer is in one of the segments; everybody is
// where there are none.
func (r *Run) MemberOfAny(segments []string) (bool, error) {
	for _, id := range segments {
		s := programme.Segments.Of(r.Programme)[id]
		if s == nil {
			continue
		}
		if in, err := r.member(s); in || err != nil {
			return in, err
		}
	}
	return len(segments) == 0, nil
}

// Run is one event being decided: what its action may read, and where it
// records effects. Nothing leaves a run until the engine commits the batch, so
// a preview is a run that is thrown away.
type Run struct {
	Programme *programme.Programme
	Customer  *loyalty.Customer // working copy
	Book      *points.Book
	Now       time.Time      // when it is recorded
	At        time.Time      // when it takes effect; before Now only by effective_timestamp
	Event     *loyalty.Event // the submitted event's own row
	// Data holds the attributes as they were sent, by name.
	Data map[string]json.RawMessage
	// Value is what an operation answers besides the events, such as the result
	// of a spin. It is set by actions that only an operation can cause.
	Value any

	batch    *batch
	stored   *stored
	account  *account
	work     *work
	full     bool // everything that can be due was loaded
	Late     bool // At is the sender's (effective_timestamp)
	followed bool // the customer was named by one who was merged into them
	Holding  bool // what the event's rule does must wait for its validation
	changed  bool // the customer's row is written though no event is theirs (a merge)
}

// work is what the runs of one submission share: one run for its own customer,
// and one for each other customer that it touches.
type work struct {
	runs    []*Run // in the order in which they were opened
	events  []*loyalty.Event
	claims  []loyalty.Claim
	coupons map[string]*loyalty.Coupon // those that changed, by code
	tallies map[string]int64           // those that changed
	trace   []loyalty.Verdict
	tracing bool
	// imported says that it happened elsewhere, and was rewarded there.
	imported bool
	// warnings are the codes that a checkout named and did without.
	warnings []*loyalty.Error
	reacted  int                                             // so many of the events had their reactions, but for those that wait
	waiting  []*loyalty.Event                                // that stood back for what was due for another customer
	joined   []loyalty.CampaignMerge                         // who became part of whom
	members  []loyalty.Membership                            // of customer lists, that change
	merged   []loyalty.ID                                    // whose rows as loaded do not tell any more what they have
	bought   map[*loyalty.Transaction]*condition.Transaction // purchases as conditions see them
	effort   int                                             // steps that its rules took, see Run.effort
	counted  bool                                            // they are held against maxEffort
	paid     int                                             // so many of the events are counted in them
	looked   int                                             // at the batch's deadline, next at so many steps
	index    map[loyalty.ID]*loyalty.Event                   // see find
	indexed  int                                             // so many of the events are in it
	notes    map[any]any                                     // of features, see Note
	told     map[*loyalty.Transaction]*loyalty.Event         // purchases whose state an event has yet to tell, see tellLater
	seen     map[string]any                                  // the attributes of the event looked at, see lookedAt
	seenOf   loyalty.ID                                      // whose seen they are
	seed     *[32]byte                                       // see draws
	drawn    *rand.ChaCha8
}

// Append appends an event row with the next id.
// Ids grow with the customer's events, whatever the clock does: the order of the journal
// is that of the ids.
func (r *Run) Append(action string, at time.Time) *loyalty.Event {
	r.Customer.LastEvent = loyalty.NewID(r.Now, r.Customer.LastEvent)
	e := &loyalty.Event{
		ID: r.Customer.LastEvent, Customer: r.Customer.ID, Action: action,
		At: at, RecordedAt: r.Now, Data: json.RawMessage("{}"),
	}
	if r.Late {
		e.Tell().Booked = &e.RecordedAt
	}
	r.work.events = append(r.work.events, e)
	return e
}

// Derive writes an event that follows from another one, which may be another
// customer's. data are its attributes; those that name a person are not among
// them (see DeriveSealed).
func (r *Run) Derive(parent *loyalty.Event, action string, data any) *loyalty.Event {
	e := r.Append(action, r.At)
	e.Data = loyalty.JSON(data)
	if parent != nil {
		e.Parent, e.Transaction = parent.ID, parent.Transaction
	}
	return e
}

// DeriveSealed is Derive with attributes that name this customer: they are
// sealed under their key.
func (r *Run) DeriveSealed(parent *loyalty.Event, action string, data any, personal map[string]json.RawMessage) (*loyalty.Event, error) {
	if err := r.Require(loyalty.CustomerNeeds{Key: true}); err != nil {
		return nil, err
	}
	e := r.Derive(parent, action, data)
	var err error
	e.Personal, err = r.Seal(personal, e.ID)
	return e, err
}

// Earn opens a lot with the points an event brings, dated by the programme's
// expiry policy. It fails with ErrTooLarge.
func (r *Run) Earn(e *loyalty.Event, n int64, transaction string) error {
	if err := r.Credit(e, n, transaction); err != nil || n == 0 {
		return err
	}
	r.Trace("earn", "applied", "reason.earned", n)
	return nil
}

// Credit opens a lot of n points, earned at the (effective) time of the run, which expires by
// the policy in force now: a policy that changes later leaves lots as they are. transaction
// is the purchase that earned them; empty: none.
func (r *Run) Credit(e *loyalty.Event, n int64, transaction string) error {
	e.Points = &n
	if n == 0 {
		return nil
	}
	lot := points.Lot{Transaction: transaction, EarnedAt: r.At}
	lot.ExpiresAt, lot.Idle = r.Programme.Economy.Expiry.Dates(r.At, r.Customer.CreatedAt, r.Programme.Location)
	return r.credit(e, n, lot)
}

// CreditUntil is Credit with an expiry of the caller's own; zero: never.
func (r *Run) CreditUntil(e *loyalty.Event, n int64, expires time.Time) error {
	e.Points = &n
	return r.credit(e, n, points.Lot{EarnedAt: r.At, ExpiresAt: expires})
}

// credit opens the lot. The event tells what its postings do not: dates and purchase, of
// which a rebuild makes the lot.
func (r *Run) credit(e *loyalty.Event, n int64, lot points.Lot) error {
	if _, err := r.Book.Credit(e.ID, n, lot); err != nil {
		return loyalty.ErrTooLarge.With("property", "points").At("data.points")
	}
	e.ExpDate = lot.ExpiresAt
	if !lot.Idle.IsZero() {
		e.ExpDate = lot.Idle.After(r.Now)
	}
	e.OpensLot(lot)
	return nil
}

// Move leads the customer along the table of states and records it.
func (r *Run) Move(trigger string) error {
	before := r.Customer.Status
	if err := r.Customer.Move(trigger); err != nil {
		r.Trace("state", "refused", "reason.state", 0)
		return err
	}
	if before != r.Customer.Status {
		r.Event.Tell().Status = r.Customer.Status
	}
	return nil
}

// Transaction finds a purchase of this customer by transaction_id.
// It fails with ErrTransactionNotFound.
// A purchase that is another customer's was not opened with the account (see open), and is
// not found either: whose it is is not told.
func (r *Run) Transaction(name string) (*loyalty.Transaction, error) {
	if t, ok := r.account.transactions[name]; ok {
		return t, nil
	}
	return nil, loyalty.ErrTransactionNotFound.At("data.transaction_id")
}

// OpenTransaction claims a transaction_id and begins its purchase. It fails
// with ErrTransactionExists when the id was used before, by any customer.
func (r *Run) OpenTransaction(name string) (*loyalty.Transaction, error) {
	if err := loyalty.CheckName("transaction_id", name); err != nil {
		return nil, err
	}
	if !r.Claim(loyalty.Name{Kind: loyalty.NameTransaction, Value: name}) {
		return nil, loyalty.ErrTransactionExists.At("data.transaction_id")
	}
	t := &loyalty.Transaction{
		Customer: r.Customer.ID, Holder: r.Customer.ID, Name: name, UpdatedAt: r.Now,
		PurchaseOpening: loyalty.PurchaseOpening{Checkout: r.Event.ID, CreatedAt: r.Now, CheckoutDate: r.At},
	}
	r.account.transactions[name] = t
	return t, nil
}

// Changed records what an event made of a purchase. Of its lines the journal tells
// those that changed since the last time: there may be thousands.
func (r *Run) Changed(e *loyalty.Event, t *loyalty.Transaction) {
	t.UpdatedAt, t.Dirty = r.Now, true
	delete(r.work.told, t)
	effect := t.Effect()
	if t.Name == e.Transaction {
		effect.Follow(e.Tell().Transaction)
		e.Tell().Transaction = effect
		return
	}
	effect.Name = t.Name
	all := &e.Tell().Purchases
	for i := range *all {
		if o := &(*all)[i]; o.Name == t.Name {
			effect.Follow(o)
		}
	}
	*all = slices.DeleteFunc(*all, func(o loyalty.TransactionEffect) bool { return o.Name == t.Name })
	*all = append(*all, *effect)
}

// TellLater is Changed for one of many changes in a row: only the last event that
// made one tells the state, once all of them are through (see tellNow).
func (r *Run) TellLater(e *loyalty.Event, t *loyalty.Transaction) {
	t.Dirty = true
	if r.work.told == nil {
		r.work.told = map[*loyalty.Transaction]*loyalty.Event{}
	}
	r.work.told[t] = e
}

// tellNow records what was put off.
// By name, so that the same submission writes the same journal on every node.
func (w *work) tellNow() {
	byName := func(a, b *loyalty.Transaction) int { return strings.Compare(a.Name, b.Name) }
	for _, t := range slices.SortedFunc(maps.Keys(w.told), byName) {
		e := w.told[t]
		if r := w.run(e.Customer); r != nil {
			r.Changed(e, t)
		}
	}
}

// find gives the event of the submission with an id; nil: it has none.
// The index is made up to date when it is asked for; most submissions never ask.
func (w *work) find(id loyalty.ID) *loyalty.Event {
	if w.index == nil {
		w.index = map[loyalty.ID]*loyalty.Event{}
	}
	for w.indexed = min(w.indexed, len(w.events)); w.indexed < len(w.events); w.indexed++ {
		w.index[w.events[w.indexed].ID] = w.events[w.indexed]
	}
	return w.index[id]
}

// Reservation gives what is held for a transaction_id; empty where nothing is.
func (r *Run) Reservation(name string) *loyalty.Reservation {
	held, ok := r.account.reservations[name]
	if !ok {
		held = &loyalty.Reservation{Customer: r.Customer.ID, Transaction: name}
		r.account.reservations[name] = held
	}
	return held
}

// Claim takes a name for this customer; false: it is taken. A name that this
// customer owns already stays theirs.
func (r *Run) Claim(n loyalty.Name) bool {
	if owner, taken := r.Owner(n); taken {
		// a transaction_id is used once, also by the same customer: a second checkout is
		// told so
		return owner == r.Customer.ID && n.Kind != loyalty.NameTransaction
	}
	r.work.claims = append(r.work.claims, loyalty.Claim{Name: n, Owner: r.Customer.ID})
	return true
}

// Owner is who has a name, as this batch knows it: a name that the run itself has just
// claimed counts before what was loaded.
func (r *Run) Owner(n loyalty.Name) (loyalty.ID, bool) {
	if slices.ContainsFunc(r.work.claims, func(c loyalty.Claim) bool { return c.Name == n }) {
		return r.Customer.ID, true
	}
	owner, taken := r.batch.names[n]
	return owner, taken
}

// Free gives a name of this customer up.
// It is written before what is claimed: a name may change hands within one batch.
func (r *Run) Free(n loyalty.Name) {
	r.account.freed = append(r.account.freed, loyalty.Claim{Name: n, Owner: r.Customer.ID})
}

// DestroyKey makes everything sealed under the customer's key unreadable for
// good, once the batch is committed.
func (r *Run) DestroyKey() { r.account.destroyKey = true }

// Attributes names the attributes that the contract declares for an action.
func (r *Run) Attributes(action string) map[string]loyalty.Attribute {
	shape, ok := r.batch.engine.contract.Shape(action)
	if !ok {
		return nil
	}
	return shape.Attributes
}

// Undeclared gives the attributes that the contract does not declare, which are
// the caller's own: those that the programme declares are among them.
func (r *Run) Undeclared() map[string]json.RawMessage {
	declared := r.Attributes(r.Event.Action)
	own := maps.Clone(r.Data)
	maps.DeleteFunc(own, func(name string, _ json.RawMessage) bool {
		_, ok := declared[name]
		return ok && !r.Programme.Adds(r.Event.Action, name)
	})
	return own
}

// Trace explains a rule's verdict; it is kept only for a preview. reason is a
// translation key.
func (r *Run) Trace(rule, verdict, reason string, n int64) {
	if r.work.tracing {
		r.TraceInput(loyalty.Verdict{Rule: rule, Verdict: verdict, Reason: reason, Input: r.lookedAt(), Points: n})
	}
}

// TraceInput is Trace with what the rule looked at.
func (r *Run) TraceInput(v loyalty.Verdict) {
	if r.work.tracing && len(r.work.trace) < maxVerdicts {
		r.work.trace = append(r.work.trace, v)
	}
}

// maxVerdicts is how many verdicts a preview tells: a purchase has up to 5,000 lines,
// and every campaign has something to say of each.
const maxVerdicts = 20_000

// Parts gives the submitted attributes as they are stored, line items apart;
// items is nil where none were sent.
func (r *Run) Parts() (own Parts, items []Parts) { return r.stored.own, r.stored.lists["items"] }

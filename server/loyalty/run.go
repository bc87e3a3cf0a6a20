package loyalty

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Run is one event being decided: what its action may read, and where it
// records effects. Nothing leaves a run until the engine commits the batch, so
// a preview is a run that is thrown away.
type Run struct {
	Programme *Programme
	Customer  *Customer // working copy
	Book      *points.Book
	Now       time.Time // when it is recorded
	At        time.Time // when it takes effect; before Now only by effective_timestamp
	Event     *Event    // the submitted event's own row
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
	late     bool // At is the sender's (effective_timestamp)
	followed bool // the customer was named by one who was merged into them
	holding  bool // what the event's rule does must wait for its validation
	changed  bool // the customer's row is written though no event is theirs (a merge)
}

// work is what the runs of one submission share: one run for its own customer,
// and one for each other customer that it touches.
type work struct {
	runs    []*Run // in the order in which they were opened
	events  []*Event
	claims  []Claim
	coupons map[string]*Coupon // those that changed, by code
	tallies map[string]int64   // those that changed
	trace   []Verdict
	tracing bool
	// warnings are the codes that a checkout named and did without.
	warnings []*Error
	reacted  int                                     // so many of the events had their reactions, but for those that wait
	waiting  []*Event                                // that stood back for what was due for another customer
	joined   []CampaignMerge                         // who became part of whom
	members  []Membership                            // of customer lists, that change
	merged   []ID                                    // whose rows as loaded do not tell any more what they have
	bought   map[*Transaction]*condition.Transaction // purchases as conditions see them
	effort   int                                     // steps that its rules took, see Run.effort
	counted  bool                                    // they are held against maxEffort
	paid     int                                     // so many of the events are counted in them
	looked   int                                     // at the batch's deadline, next at so many steps
	index    map[ID]*Event                           // see find
	indexed  int                                     // so many of the events are in it
	notes    map[any]any                             // of features, see Note
	told     map[*Transaction]*Event                 // purchases whose state an event has yet to tell, see tellLater
	seen     map[string]any                          // the attributes of the event looked at, see lookedAt
	seenOf   ID                                      // whose seen they are
	seed     *[32]byte                               // see draws
	drawn    *rand.ChaCha8
}

// add appends an event row with the next id.
func (r *Run) add(action string, at time.Time) *Event {
	r.Customer.LastEvent = NewID(r.Now, r.Customer.LastEvent)
	e := &Event{
		ID: r.Customer.LastEvent, Customer: r.Customer.ID, Action: action,
		At: at, RecordedAt: r.Now, Data: json.RawMessage("{}"),
	}
	if r.late {
		e.effects().Booked = &e.RecordedAt
	}
	r.work.events = append(r.work.events, e)
	return e
}

// Derive writes an event that follows from another one, which may be another
// customer's. data are its attributes; those that name a person are not among
// them (see DeriveSealed).
func (r *Run) Derive(parent *Event, action string, data any) *Event {
	e := r.add(action, r.At)
	e.Data = marshal(data)
	if parent != nil {
		e.Parent, e.Transaction = parent.ID, parent.Transaction
	}
	return e
}

// DeriveSealed is Derive with attributes that name this customer: they are
// sealed under their key.
func (r *Run) DeriveSealed(parent *Event, action string, data any, personal map[string]json.RawMessage) (*Event, error) {
	if err := r.require(CustomerNeeds{Key: true}); err != nil {
		return nil, err
	}
	e := r.Derive(parent, action, data)
	var err error
	e.Personal, err = r.seal(personal, e.ID)
	return e, err
}

// Earn opens a lot with the points an event brings, dated by the programme's
// expiry policy. It fails with ErrTooLarge.
func (r *Run) Earn(e *Event, n int64, transaction string) error {
	if err := r.credit(e, n, transaction); err != nil || n == 0 {
		return err
	}
	r.Trace("earn", "applied", "reason.earned", n)
	return nil
}

func (r *Run) credit(e *Event, n int64, transaction string) error {
	e.Points = &n
	if n == 0 {
		return nil
	}
	lot := points.Lot{Transaction: transaction, EarnedAt: r.At}
	lot.ExpiresAt, lot.Idle = r.Programme.Economy.Expiry.Dates(r.At, r.Customer.CreatedAt, r.Programme.Location)
	if _, err := r.Book.Credit(e.ID, n, lot); err != nil {
		return ErrTooLarge.With("property", "points").At("data.points")
	}
	e.ExpDate = lot.ExpiresAt
	if !lot.Idle.IsZero() {
		e.ExpDate = lot.Idle.After(r.Now)
	}
	e.opens(lot)
	return nil
}

// opens records of the lot that an event opens what its row does not tell.
func (e *Event) opens(lot points.Lot) {
	told := LotEffect{Idle: lot.Idle}
	if lot.Transaction != e.Transaction {
		told.Purchase = new(lot.Transaction)
	}
	if !lot.EarnedAt.Equal(e.At) {
		told.EarnedAt = new(lot.EarnedAt)
	}
	if told != (LotEffect{}) { // most tell nothing, and cost nothing
		e.effects().Lot = new(told)
	}
}

func (e *Event) effects() *Effects {
	if e.Effects == nil {
		e.Effects = &Effects{}
	}
	return e.Effects
}

// Shown sets the points an event shows: what it is worth. What it did to the balance
// is told by its postings (Event.Change).
func (e *Event) Shown(n int64) { e.Points = &n }

// Move leads the customer along the table of states and records it.
func (r *Run) Move(trigger string) error {
	before := r.Customer.Status
	if err := r.Customer.Move(trigger); err != nil {
		r.Trace("state", "refused", "reason.state", 0)
		return err
	}
	if before != r.Customer.Status {
		r.Event.effects().Status = r.Customer.Status
	}
	return nil
}

// Transaction finds a purchase of this customer by transaction_id.
// It fails with ErrTransactionNotFound.
func (r *Run) Transaction(name string) (*Transaction, error) {
	if t, ok := r.account.transactions[name]; ok {
		return t, nil
	}
	return nil, ErrTransactionNotFound.At("data.transaction_id")
}

// OpenTransaction claims a transaction_id and begins its purchase. It fails
// with ErrTransactionExists when the id was used before, by anybody.
func (r *Run) OpenTransaction(name string) (*Transaction, error) {
	if err := CheckName("transaction_id", name); err != nil {
		return nil, err
	}
	if !r.Claim(Name{NameTransaction, name}) {
		return nil, ErrTransactionExists.At("data.transaction_id")
	}
	t := &Transaction{
		Customer: r.Customer.ID, Holder: r.Customer.ID, Name: name, Checkout: r.Event.ID,
		CreatedAt: r.Now, UpdatedAt: r.Now, CheckoutDate: r.At,
	}
	r.account.transactions[name] = t
	return t, nil
}

// Changed records what an event made of a purchase. Of its lines the journal tells
// those that changed since the last time: there may be thousands.
func (r *Run) Changed(e *Event, t *Transaction) {
	t.UpdatedAt, t.dirty = r.Now, true
	delete(r.work.told, t)
	effect := t.effect()
	if t.Name == e.Transaction {
		effect.follow(e.effects().Transaction)
		e.effects().Transaction = effect
		return
	}
	effect.Name = t.Name
	all := &e.effects().Purchases
	for i := range *all {
		if o := &(*all)[i]; o.Name == t.Name {
			effect.follow(o)
		}
	}
	*all = slices.DeleteFunc(*all, func(o TransactionEffect) bool { return o.Name == t.Name })
	*all = append(*all, *effect)
}

// tellLater is Changed for one of many changes in a row: only the last event that
// made one tells the state, once all of them are through (see tellNow).
func (r *Run) tellLater(e *Event, t *Transaction) {
	t.dirty = true
	if r.work.told == nil {
		r.work.told = map[*Transaction]*Event{}
	}
	r.work.told[t] = e
}

// tellNow records what was put off.
func (w *work) tellNow() {
	byName := func(a, b *Transaction) int { return strings.Compare(a.Name, b.Name) }
	for _, t := range slices.SortedFunc(maps.Keys(w.told), byName) {
		e := w.told[t]
		if r := w.run(e.Customer); r != nil {
			r.Changed(e, t)
		}
	}
}

// find gives the event of the submission with an id; nil: it has none.
func (w *work) find(id ID) *Event {
	if w.index == nil {
		w.index = map[ID]*Event{}
	}
	for w.indexed = min(w.indexed, len(w.events)); w.indexed < len(w.events); w.indexed++ {
		w.index[w.events[w.indexed].ID] = w.events[w.indexed]
	}
	return w.index[id]
}

// Reservation gives what is held for a transaction_id; empty where nothing is.
func (r *Run) Reservation(name string) *Reservation {
	held, ok := r.account.reservations[name]
	if !ok {
		held = &Reservation{Customer: r.Customer.ID, Transaction: name}
		r.account.reservations[name] = held
	}
	return held
}

// Claim takes a name for this customer; false: it is taken. A name that this
// customer owns already stays theirs.
func (r *Run) Claim(n Name) bool {
	if owner, taken := r.owner(n); taken {
		return owner == r.Customer.ID && n.Kind != NameTransaction
	}
	r.work.claims = append(r.work.claims, Claim{n, r.Customer.ID})
	return true
}

func (r *Run) owner(n Name) (ID, bool) {
	if slices.ContainsFunc(r.work.claims, func(c Claim) bool { return c.Name == n }) {
		return r.Customer.ID, true
	}
	owner, taken := r.batch.names[n]
	return owner, taken
}

// Free gives a name of this customer up.
func (r *Run) Free(n Name) {
	r.account.freed = append(r.account.freed, Claim{n, r.Customer.ID})
}

// DestroyKey makes everything sealed under the customer's key unreadable for
// good, once the batch is committed.
func (r *Run) DestroyKey() { r.account.destroyKey = true }

// Attributes names the attributes that the contract declares for an action.
func (r *Run) Attributes(action string) map[string]Attribute {
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
		return ok && !r.Programme.adds(r.Event.Action, name)
	})
	return own
}

// Trace explains a rule's verdict; it is kept only for a preview. reason is a
// translation key.
func (r *Run) Trace(rule, verdict, reason string, n int64) {
	if r.work.tracing {
		r.TraceInput(Verdict{Rule: rule, Verdict: verdict, Reason: reason, Input: r.lookedAt(), Points: n})
	}
}

// TraceInput is Trace with what the rule looked at.
func (r *Run) TraceInput(v Verdict) {
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

package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// all runs the rules of one ticket in their fixed order: what is due first,
// then the gates, then the action.
func (r *Run) all(t *Ticket) error {
	if err := r.settleDue(); err != nil {
		return err
	}
	if t.rule == nil { // a settlement of what is due, and what is no event
		if t.task != nil {
			return t.task(r)
		}
		return nil
	}
	// before the gate of the customer's state: what was pending when a module was switched
	// off can still be settled
	if err := r.leftPending(t); err != nil {
		return loyalty.PrefixFields(err, t.sub.At)
	}
	r.work.countFrom()
	if err := r.standing(t); err != nil {
		return err
	}
	if !t.at.IsZero() {
		r.At, r.Late = t.at, true
		if t.sub.Imported && r.Customer.Status == loyalty.None { // they are as old as what made them
			r.Customer.CreatedAt = t.at
		}
	}
	r.takeOver(t)
	r.Event = r.Append(t.rule.Meta().Name, r.At)
	if err := r.store(t); err != nil {
		return err
	}
	if err := r.guest(t); err != nil {
		return err
	}
	if err := r.apply(t); err != nil {
		return loyalty.PrefixFields(err, t.sub.At)
	}
	// after the event and not before: points that end by inactivity are judged by the
	// activity before it
	r.Customer.LastActivityAt = r.Now
	r.Book.LastActivity = r.Now
	for _, run := range r.work.runs {
		if err := run.expireDue(r.Now, r.Event); err != nil {
			return err
		}
	}
	return r.react()
}

// apply decides the event and everything that reacts to it.
func (r *Run) apply(t *Ticket) error {
	decide := t.bound.apply
	if r.Programme.Holds(r.Event.Action) && !t.sub.Operation {
		decide = func(r *Run) error {
			return r.hold(Submitted{t.transaction, t.sub.Data, t.stored.personal != nil, t.bound.apply})
		}
	}
	if err := decide(r); err != nil {
		return err
	}
	return r.react()
}

// standing is the gate of the customer's state.
func (r *Run) standing(t *Ticket) error {
	status, meta := r.Customer.Status, t.rule.Meta()
	if status == loyalty.None || status == loyalty.OptedOut && loyalty.CustomerMoves[meta.Name] != nil { // the table refuses, naming both states
		return nil
	}
	if err := r.MayAct(meta.Name, meta.Standing); err != nil && (status != loyalty.Inactive || !r.guestMay(t)) {
		r.traceStanding("refused", "reason.standing")
		return err
	}
	r.traceStanding("applied", "reason.allowed")
	return nil
}

// MayAct says why the customer's state keeps them from an action for customers of a
// standing: ErrWrongStatus, ErrSuspended (110003); nil: it does not.
func (r *Run) MayAct(action string, needs Standing) error {
	switch status := r.Customer.Status; {
	case status == loyalty.OptedOut || status == loyalty.Merged, status == loyalty.Inactive && needs != Anyone:
		return loyalty.ErrWrongStatus.With("status", string(status)).With("action", action)
	case status == loyalty.Suspended && needs == Spender:
		return loyalty.ErrSuspended
	}
	return nil
}

// traceStanding explains the gate; outside a preview it costs nothing.
func (r *Run) traceStanding(verdict, reason string) {
	if r.work.tracing {
		r.TraceInput(loyalty.Verdict{Rule: "standing", Verdict: verdict, Reason: reason, Input: map[string]any{"status": string(r.Customer.Status)}})
	}
}

// takeOver gives a new customer its name; a profile found by e-mail gets the
// submitted identifier in place of its own.
func (r *Run) takeOver(t *Ticket) {
	if t.needs.Ref.Kind != loyalty.NameCustomer || t.needs.Ref.Value == "" {
		return
	}
	if _, known := r.batch.names[t.needs.Ref]; known {
		return
	}
	if r.Customer.Status != loyalty.None {
		r.Free(loyalty.Name{Kind: loyalty.NameCustomer, Value: r.Customer.Name})
		r.Customer.Name = t.needs.Ref.Value
	}
	r.Claim(t.needs.Ref)
}

// store puts the submitted attributes on the event's row, the personal ones
// sealed.
func (r *Run) store(t *Ticket) (err error) {
	r.Event.Transaction, r.Event.Data = t.transaction, t.stored.plain
	r.Event.Personal, err = r.Seal(t.stored.personal, r.Event.ID)
	return err
}

// Seal encrypts personal attributes for a row. A customer whose key is gone
// keeps none.
func (r *Run) Seal(personal map[string]json.RawMessage, row loyalty.ID) ([]byte, error) {
	if len(personal) == 0 || r.Customer.Key == nil {
		return nil, nil
	}
	return loyalty.Seal(r.Customer.Key, row[:], loyalty.Object(personal))
}

// open reads personal attributes back, fresh ones first; none where the
// customer's key is gone.
func (r *Run) open(sealed []byte, row loyalty.ID, fresh map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	if fresh != nil || sealed == nil || r.Customer.Key == nil {
		return fresh, nil
	}
	plain, err := loyalty.Open(r.Customer.Key, row[:], sealed)
	if err != nil {
		return nil, err
	}
	var personal map[string]json.RawMessage
	return personal, json.Unmarshal(plain, &personal)
}

// close brings the working copies to their final form.
func (w *work) close() {
	for _, r := range w.runs {
		r.close()
	}
	w.sum()
}

// sum adds up what each event did to the spendable balance. Postings come in the
// order of their events, by and large, so each search begins where the last one ended.
func (w *work) sum() {
	at := 0
	for _, r := range w.runs {
		for _, p := range r.Book.Postings {
			for tried := 0; tried < len(w.events); tried++ {
				if w.events[at].ID == loyalty.ID(p.Event) {
					w.events[at].Change += p.Change()
					break
				}
				at = (at + 1) % len(w.events)
			}
		}
	}
}

func (r *Run) close() {
	r.settle()
	a := r.account
	a.lots = r.Book.Lots()
	a.postings = append(a.postings, r.Book.Postings...)
	a.customer.Figures = r.Book.Figures
	a.customer.DueAt = a.nextDue(r.Book, r.full)
	if a.loaded != nil {
		a.customer.Version = a.loaded.Customer.Version + 1
	}
}

// settle pays debt from what the run brought, in the name of its last posting.
func (r *Run) settle() {
	if n := len(r.Book.Postings); n > 0 {
		r.Book.Settle(r.Book.Postings[n-1].Event)
	}
}

// leftPending refuses an action whose module is off, unless it decides on a purchase
// that is pending from when the module was on. One that is held waits for its
// validation instead.
func (r *Run) leftPending(t *Ticket) error {
	if t.off == nil {
		return nil
	}
	if bought := r.account.transactions[t.transaction]; bought == nil || bought.State != loyalty.Pending {
		return r.refusedOff(t)
	}
	held, err := r.held(t.transaction)
	if err != nil || !held {
		return err
	}
	return r.refusedOff(t)
}

func (r *Run) refusedOff(t *Ticket) error {
	for _, v := range refusedAtOnce(t.off) {
		r.TraceInput(v)
	}
	return t.off
}

// settleDue applies what came due before the event: expired lots and purchases
// whose acceptance date has come, in the order of their instants, by the same
// events that the job writes for idle customers.
func (r *Run) settleDue() error {
	due := r.Customer.DueAt
	if due.IsZero() || due.After(r.Now) || errors.Is(r.batch.engine.trusted(), loyalty.ErrClockOff) {
		return nil
	}
	for {
		at, apply := r.nextDue()
		if apply == nil {
			break
		}
		if err := r.onTime(at, apply); err != nil {
			return err
		}
	}
	if err := r.expireDue(r.Now, nil); err != nil {
		return err
	}
	if err := r.react(); err != nil {
		return err
	}
	r.Customer.DueAt = r.account.nextDue(r.Book, r.full)
	return nil
}

// nextDue is what came due first besides expiry, and how it is applied; nil:
// nothing did.
func (r *Run) nextDue() (at time.Time, apply func() error) {
	t, s := r.nextAcceptance(), r.nextProgress()
	switch {
	case t == nil && s == nil:
		return time.Time{}, nil
	case s == nil || (t != nil && !s.DueAt.Before(t.AutoAccept)):
		return t.AutoAccept, func() error { return r.decide(t) }
	}
	return s.DueAt, func() error { return r.batch.engine.feature(s.Kind).Due(r, s) }
}

// onTime applies what came due at its own instant, with the reactions to it, as
// if the customer had been looked at then.
func (r *Run) onTime(at time.Time, apply func() error) error {
	if err := r.expireDue(at, nil); err != nil {
		return err
	}
	was := r.At
	r.At = at
	defer func() { r.At = was }()
	if err := apply(); err != nil {
		return err
	}
	if err := r.react(); err != nil {
		return err
	}
	r.settle()
	return nil
}

// nextAcceptance is the pending purchase whose date came first; nil: none did.
func (r *Run) nextAcceptance() *loyalty.Transaction {
	var next *loyalty.Transaction
	for _, t := range r.account.transactions {
		if t.State != loyalty.Pending || t.AutoAccept.IsZero() || t.AutoAccept.After(r.Now) {
			continue
		}
		if next == nil || t.AutoAccept.Before(next.AutoAccept) || (t.AutoAccept.Equal(next.AutoAccept) && t.Name < next.Name) {
			next = t
		}
	}
	return next
}

// expireDue lets the free points of lots expire whose time has come, oldest
// instant first: one point_expire event an instant.
func (r *Run) expireDue(now time.Time, parent *loyalty.Event) error {
	r.settle() // debt comes before expiry
	due := r.Book.Due(now)
	for len(due) > 0 {
		at := due[0].Expiry(r.Book.LastActivity)
		n := slices.IndexFunc(due, func(l *points.Lot) bool { return !l.Expiry(r.Book.LastActivity).Equal(at) })
		if n < 0 {
			n = len(due)
		}
		r.expire(due[:n], at, parent)
		due = due[n:]
	}
	return nil
}

func (r *Run) expire(lots []*points.Lot, at time.Time, parent *loyalty.Event) {
	e := r.Append("point_expire", at)
	if parent != nil {
		e.Parent = parent.ID
	}
	portions := make([]points.Portion, len(lots))
	for i, l := range lots {
		portions[i] = points.Portion{Lot: l.ID, Points: r.Book.Expire(e.ID, l)}
	}
	total := points.Total(portions)
	e.Shown(-total)
	e.Data = loyalty.JSON(expiredPoints{total, portions})
	r.TraceInput(loyalty.Verdict{Rule: "expiry", Verdict: "applied", Reason: "reason.expired", Input: expiredOn(at, len(lots)), Points: -total})
}

// expiredPoints are the attributes of point_expire.
type expiredPoints struct {
	Points int64            `json:"points"`
	Lots   []points.Portion `json:"lots"`
}

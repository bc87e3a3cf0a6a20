package engine

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// decide runs the rules of one ticket in their fixed order: first what is due, then the gates, then
// the action.
func (t *Ticket) decide(r *Run) error {
	if err := settleDue(r); err != nil {
		return err
	}

	if t.rule == nil { // a settlement, and other tickets without an event
		if t.task != nil {
			return t.task(r)
		}
		return nil
	}

	// Before the gate of the customer's state: purchases that were pending when their module was switched off can still
	// be decided.
	if err := t.leftPending(r); err != nil {
		return loyalty.PrefixFields(err, t.sub.At)
	}

	r.work.countFrom()
	if err := t.standing(r); err != nil {
		return err
	}

	if !t.at.IsZero() {
		r.At, r.Late = t.at, true
		// Customers are as old as the event that creates them, whatever its source: anniversaries, windows and figures
		// by the month of joining count from there. A customer who bought as a guest before stays as old as that
		// purchase.
		if r.Customer.Status == loyalty.None && r.Customer.LastEvent == (loyalty.ID{}) {
			r.Customer.CreatedAt = t.at
		}
	}

	if t.bound.repeats != nil {
		if again, err := t.bound.repeats(r); again || err != nil {
			return loyalty.PrefixFields(err, t.sub.At)
		}
	}

	r.Book.Lapse(r.Now)
	t.takeOver(r)
	r.Event = r.Append(t.rule.Meta().Name, r.At)
	if err := t.store(r); err != nil {
		return err
	}
	if err := t.guest(r); err != nil {
		return err
	}
	if err := t.apply(r); err != nil {
		return loyalty.PrefixFields(err, t.sub.At)
	}

	// After the event and not before: points that expire by inactivity are judged by the activity before it, also those
	// that it gives back (see Lapse).
	r.Customer.LastActivityAt = r.Now
	r.Book.LastActivity = r.Now
	for _, run := range r.work.runs {
		if err := expireDue(run, r.Now, r.Event); err != nil {
			return err
		}
	}

	return r.work.react()
}

// leftPending refuses an action whose module is off, unless it decides on a purchase that is pending from the time when
// the module was on. A held purchase waits for its validation instead.
func (t *Ticket) leftPending(r *Run) error {
	if t.off == nil {
		return nil
	}
	if bought := r.account.transactions[t.transaction]; bought == nil || bought.State != loyalty.Pending {
		return t.refusedOff(r)
	}
	held, err := isPutOff(r, t.transaction)
	if err != nil || !held {
		return err
	}
	return t.refusedOff(r)
}

func (t *Ticket) refusedOff(r *Run) error {
	for _, v := range refusedAtOnce(t.off) {
		r.TraceInput(v)
	}
	return t.off
}

// standing checks that the customer's state allows the action.
func (t *Ticket) standing(r *Run) error {
	status, meta := r.Customer.Status, t.rule.Meta()
	// the table of states refuses it and names both states
	if status == loyalty.None || status == loyalty.OptedOut && loyalty.CustomerMoves[meta.Name] != nil {
		return nil
	}
	if err := r.MayAct(meta.Name, meta.Standing); err != nil && (status != loyalty.Inactive || !t.guestMay()) {
		traceStanding(r, "refused", "reason.standing")
		return err
	}
	traceStanding(r, "applied", "reason.allowed")
	return nil
}

// traceStanding explains the gate of the customer's state; outside a preview it costs nothing.
func traceStanding(r *Run, verdict, reason string) {
	if r.work.tracing {
		r.TraceInput(loyalty.Verdict{Rule: "standing", Verdict: verdict, Reason: reason,
			Input: map[string]any{"status": string(r.Customer.Status)}})
	}
}

// guest lets a customer who is unknown to the programme, or known as inactive, buy under an identifier that the caller
// chose. It does not enrol the customer.
func (t *Ticket) guest(r *Run) error {
	if !t.sub.Guest || (r.Customer.Status != loyalty.None && r.Customer.Status != loyalty.Inactive) {
		return nil
	}
	return r.Move("guest")
}

// guestMay reports whether an action is one that a guest's purchase needs. The action itself checks that the purchase
// belongs to this customer, as it does for every customer.
func (t *Ticket) guestMay() bool {
	return t.sub.Guest || loyalty.TransactionMoves[t.rule.Meta().Name] != nil
}

// takeOver gives a new customer the submitted identifier as name. A profile found by e-mail address gets it in place of
// its own.
func (t *Ticket) takeOver(r *Run) {
	if t.Needs.Ref.Kind != loyalty.NameCustomer || t.Needs.Ref.Value == "" {
		return
	}
	if _, known := r.batch.names[t.Needs.Ref]; known {
		return
	}
	if r.Customer.Status != loyalty.None {
		r.Free(loyalty.Name{Kind: loyalty.NameCustomer, Value: r.Customer.Name})
		r.Customer.Name = t.Needs.Ref.Value
	}
	r.Claim(t.Needs.Ref)
}

// store puts the submitted attributes on the event's row, the personal ones sealed.
func (t *Ticket) store(r *Run) (err error) {
	r.Event.Transaction, r.Event.Data = t.transaction, t.stored.plain
	r.Event.Personal, err = r.Seal(t.stored.personal, r.Event.ID)
	return err
}

// apply runs the action and everything that reacts to it.
func (t *Ticket) apply(r *Run) error {
	decide := t.bound.apply
	if r.Programme.Holds(r.Event.Action) && !t.sub.Operation {
		decide = func(r *Run) error {
			return putOff(r, Submitted{t.transaction, t.sub.Data, t.stored.personal != nil, t.bound.apply})
		}
	}
	if err := decide(r); err != nil {
		return err
	}
	return r.work.react()
}

// Resubmit passes attributes that were submitted earlier through today's gates: their module may be off by now, or the
// customer suspended. It returns the function that applies them to this run.
func Resubmit(r *Run, action string, data json.RawMessage) (apply func() error, err error) {
	t := &Ticket{sub: loyalty.Submission{Action: action, Data: data}, programme: r.Programme}
	if err := t.check(r.batch.rules); err != nil {
		return nil, err
	}
	if err := r.Require(t.bound.needs); err != nil {
		return nil, err
	}
	if err := t.standing(r); err != nil {
		return nil, err
	}

	return func() error {
		r.Data, r.stored = t.data, &t.stored
		return t.bound.apply(r)
	}, nil
}

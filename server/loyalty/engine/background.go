package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
)

// markTime bounds a transaction of background work that is not a batch of tickets.
const markTime = 10 * time.Second

// WorkItems commits the tickets of a bulk operation. An item ends by success, by refusal, or by a fault of this
// program, which is returned as well. WorkItems fails if the database is away: the fate of the remaining items is
// unknown then.
func (e *Engine) WorkItems(ctx context.Context, tickets []*Ticket) (done int, faults []error, err error) {
	release, err := e.traffic.Hold()
	if err != nil {
		return 0, nil, err
	}
	defer release()

	ctx = context.WithoutCancel(ctx) // a chunk is short, and half of one is of no use
	if err := e.traffic.CommitApart(ctx, carried(tickets)); err != nil {
		return 0, nil, err
	}

	var broken []loyalty.BulkMark
	for _, t := range tickets {
		switch fault := loyalty.AsError(t.Result.Err); {
		case t.doneBefore():
		case t.Result.Err == nil:
			done++
		case fault.Kind == loyalty.Unavailable:
			err = fault
		case fault.Kind == loyalty.Internal:
			broken = append(broken, t.mark(e.Now(), fault))
			faults = append(faults, fmt.Errorf("item %d: %w", t.item.Seq, fault))
		default:
			done++
		}
	}

	if len(broken) > 0 {
		err = errors.Join(err, e.markAlone(ctx, broken))
	}

	return done, faults, err
}

// markAlone ends items that have no other effect to write.
func (e *Engine) markAlone(ctx context.Context, marks []loyalty.BulkMark) error {
	ctx, cancel := context.WithTimeout(ctx, markTime)
	defer cancel()
	n := loyalty.Needs{Now: e.Now()}
	for _, m := range marks {
		n.Items = append(n.Items, m.BulkKey)
	}

	return e.store.Within(ctx, n, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		var w loyalty.Writes
		for _, m := range marks {
			if l.Items[m.BulkKey] {
				w.Items = append(w.Items, m)
			}
		}
		return &w, nil
	})
}

// Item attaches a ticket to an item of a bulk operation, which ends in the ticket's transaction.
func (t *Ticket) Item(i loyalty.BulkItem) { t.Needs.Ref, t.item = i.Ref, i.BulkKey }

// Recalculate evaluates a tier structure again for some customers, once for each customer in a pass.
func (e *Engine) Recalculate(
	ctx context.Context, structure string, pass loyalty.ID, customers []loyalty.ID,
) (done int, failed []error, err error) {
	release, err := e.traffic.Hold()
	if err != nil {
		return 0, nil, err
	}
	defer release()

	tickets := make([]*Ticket, len(customers))
	for i, id := range customers {
		key := loyalty.AnswerKey{AccessKey: jobKey, Key: "tier_recalculation/" + pass.String() + "/" + id.String()}
		t := e.Prepare(loyalty.Submission{
			Operation: true, Action: "tier_recalculation", Data: loyalty.JSON(map[string]string{"structure": structure}),
			Idempotency: &loyalty.Idempotency{AnswerKey: key,
				Render: func(loyalty.Outcome, error) (int, []byte) { return 0, nil }},
		})
		t.Needs.ID, t.Needs.Ref = id, loyalty.Name{}
		tickets[i] = t
	}

	if err := e.traffic.Commit(ctx, carried(tickets)); err != nil {
		return 0, nil, err
	}

	for i, t := range tickets {
		switch err := t.Result.Err; {
		case err == nil:
			done++
		case loyalty.AsError(err).Kind != loyalty.Refused && !errors.Is(err, loyalty.ErrCustomerNotFound):
			// a customer who is not enrolled has no tiers
			failed = append(failed, fmt.Errorf("recalculating %s: %w", customers[i], err))
		}
	}

	return done, failed, nil
}

// jobKey takes the place of the access key in the idempotency keys of a job, so that the job is repeatable.
const jobKey = "job"

// SettleDue applies what is due for customers who have no events of their own. Several nodes may run it at once: they
// share the work, and nothing is applied twice. A customer who cannot be settled does not stop the others; the failures
// are returned at the end.
func (e *Engine) SettleDue(ctx context.Context) error {
	var failed []error
	err := e.SettleAll(ctx, func(_ int, failures ...error) { failed = append(failed, failures...) })
	return errors.Join(append(failed, err)...)
}

// SettleAll settles batch by batch, until the only due customers left are locked by other nodes. report is called after
// each batch with the number of effects applied and the failures.
func (e *Engine) SettleAll(ctx context.Context, report func(done int, failures ...error)) error {
	var passed []loyalty.ID // tried and still due: skipped in the rest of this run
	for ctx.Err() == nil {
		var tickets []*Ticket
		err := e.InBackground(ctx, func(most int) (took int, err error) {
			tickets, err = e.settleSome(ctx, passed, most)
			return len(tickets), err
		})
		if err != nil || len(tickets) == 0 {
			return err
		}

		for _, t := range tickets {
			if err := t.Result.Err; err != nil {
				report(0, fmt.Errorf("settling %s: %w", t.Needs.ID, err))
			} else {
				report(settled(&t.Result))
			}
			if at := t.Result.Outcome.Customer.DueAt; t.Result.Err != nil || (!at.IsZero() && !at.After(e.Now())) {
				passed = append(passed, t.Needs.ID)
			}
		}
	}

	return ctx.Err()
}

// settled counts the effects that came due: the events that have no parent.
func settled(r *loyalty.Result) (n int) {
	for i := range r.Outcome.Events {
		if r.Outcome.Events[i].Parent == (loyalty.ID{}) {
			n++
		}
	}
	return n
}

// settleSome locks some customers with due effects and settles them in one transaction. Customers whose rules need more
// rows than were loaded, and customers who could not be written together, are settled one by one. That finds nothing to
// do if another writer was faster.
func (e *Engine) settleSome(ctx context.Context, passed []loyalty.ID, most int) ([]*Ticket, error) {
	if err := e.trusted(); err != nil {
		return nil, err
	}

	release, err := e.traffic.Hold()
	if err != nil {
		return nil, err
	}
	defer release()

	limited, cancel := context.WithTimeout(ctx, markTime)
	defer cancel()
	var tickets []*Ticket
	due := loyalty.Needs{Now: e.Now(), Due: most, DueExcept: passed}
	err = e.store.Within(limited, due, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		tickets = make([]*Ticket, len(l.Due))
		for i, id := range l.Due {
			tickets[i] = e.settlement(id)
		}
		b := newBatch(&e.rulebook, l, needs(carried(tickets), due.Now))
		if b.runAll(carried(tickets)) != traffic.Done {
			return nil, loyalty.ErrBatchConflict // each is decided on its own below
		}
		return b.Writes(), nil
	})

	switch {
	case err == nil:
		e.decider.Ended(carried(tickets))
		return tickets, nil
	case len(tickets) > 0 && traffic.Repeatable(err):
		if err := e.traffic.Commit(ctx, carried(tickets)); err != nil {
			return nil, err
		}
		return tickets, nil // each ticket has its result
	}

	return nil, err
}

// JoinTicket puts a customer on the operation's list; a customer who is already on it stays.
func JoinTicket(e *Engine, o *loyalty.BulkOperation) *Ticket { return e.membership(o.Target, false) }

// LeaveTicket takes a customer off the operation's list; a customer who is not on it stays off.
func LeaveTicket(e *Engine, o *loyalty.BulkOperation) *Ticket { return e.membership(o.Target, true) }

// membership makes a ticket without an event. It increments the customer's version, so that a customer who leaves the
// programme or is merged at the same moment cannot get onto a list.
func (e *Engine) membership(list string, gone bool) *Ticket {
	return e.Task(func(r *Run) error {
		if r.Customer.Status == loyalty.OptedOut {
			return loyalty.ErrCustomerNotFound.At("customer")
		}
		r.work.members = append(r.work.members, loyalty.Membership{List: list, Customer: r.Customer.ID, Gone: gone})
		r.changed = true
		return nil
	})
}

// Remind runs a rule on customers without a submitted event, and the reactions to the events that the rule writes. It
// does not count as activity of the customers. done is the number of customers that got an event.
func (e *Engine) Remind(
	ctx context.Context, customers []loyalty.ID, rule func(*Run) error,
) (done int, failed []error, err error) {
	release, err := e.traffic.Hold()
	if err != nil {
		return 0, nil, err
	}
	defer release()

	tickets := make([]*Ticket, len(customers))
	for i, id := range customers {
		t := e.Task(func(r *Run) error {
			if err := rule(r); err != nil {
				return err
			}
			return r.work.react()
		})
		t.Needs = loyalty.CustomerNeeds{
			ID: id, Key: true, Lots: loyalty.OpenLots, Codes: true,
			Progress: loyalty.Kinds(loyalty.ProgressReminder, loyalty.ProgressTier, loyalty.ProgressChallenge),
		}
		tickets[i] = t
	}

	if err := e.traffic.Commit(ctx, carried(tickets)); err != nil {
		return 0, nil, err
	}

	for i, t := range tickets {
		switch err := t.Result.Err; {
		case err != nil:
			failed = append(failed, fmt.Errorf("reminding %s: %w", customers[i], err))
		case len(t.Result.Outcome.Events) > 0:
			done++
		}
	}

	return done, failed, nil
}

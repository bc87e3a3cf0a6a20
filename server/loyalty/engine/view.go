package engine

import (
	"context"
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// View shows a customer as a run sees them, with everything applied that is due by now, and records nothing: the rules
// themselves say what the customer has and may do. n says which customer it is (Ref or ID) and what to load. If look
// needs more, it is loaded and look is called again, so look must return the run's errors unchanged. For a merged
// customer it shows the target of the merge. It fails with ErrCustomerNotFound, and with look's errors.
func (e *Engine) View(ctx context.Context, n loyalty.CustomerNeeds, look func(*Run) error) error {
	release, err := e.traffic.Hold()
	if err != nil {
		return err
	}
	defer release()

	t := e.Task(nil)
	t.Needs, t.preview, t.unseen = n, true, loyalty.UnseenBy(ctx)
	for tries := 1; ; tries++ {
		seen, err := e.look(ctx, t, look)
		switch {
		case err != nil:
			return loyalty.OutcomeError(err)
		case errors.Is(seen, loyalty.ErrBatchConflict) && tries < mostLooks, t.wants(seen):
			continue
		case errors.Is(seen, loyalty.ErrBatchConflict):
			return loyalty.OutcomeError(seen)
		}
		return seen
	}
}

// mostLooks is how often a look is tried whose rows other writers change meanwhile.
const mostLooks = 12

// look loads once; seen is the error of the run or of the caller's function.
func (e *Engine) look(ctx context.Context, t *Ticket, look func(*Run) error) (seen, err error) {
	n := needs([]*traffic.Ticket{&t.Ticket}, e.Now())
	err = e.traffic.Read(ctx, &t.Ticket, n, func(l *loyalty.Loaded) {
		seen = newBatch(&e.rulebook, l, n).show(t, look)
	})
	return seen, err
}

// show applies what is due before look is called: a list with expired points would promise what the next event refuses.
func (b *batch) show(t *Ticket, look func(*Run) error) error {
	account, err := b.find(t)
	if err != nil {
		return err
	}
	r := b.openRun(t.programme, account, &work{seed: &t.seed, unseen: t.unseen})
	if err := settleDue(r); err != nil {
		return err
	}
	payDebt(r.Book)
	return look(r)
}

// maxPastRounds limits how often the rows of one chunk are loaded again. No fact about a customer that conditions read
// is further away.
const maxPastRounds = 8

// Hindsight shows customers as they are known now, to evaluate conditions on events of the past.
type Hindsight struct {
	batch     *batch
	programme *programme.Programme
	missing   []loyalty.CustomerNeeds
	err       error
}

// LookBack loads what is needed of customers and has look read it, without settling or recording anything. If look
// needs more, it is loaded and look is called again, so look must begin anew each time.
func (e *Engine) LookBack(ctx context.Context, customers []loyalty.CustomerNeeds, look func(*Hindsight)) error {
	release, err := e.traffic.Hold()
	if err != nil {
		return err
	}
	defer release()

	p := e.programmes.Programme()
	t := newTicket(&Ticket{programme: p, preview: true, more: customers[1:]})
	t.Needs = customers[0]
	for range maxPastRounds {
		n := needs([]*traffic.Ticket{&t.Ticket}, e.Now())
		var missing []loyalty.CustomerNeeds
		err = e.store.Within(ctx, n, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			h := &Hindsight{batch: newBatch(&e.rulebook, l, n), programme: p}
			look(h)
			missing = h.missing
			return &loyalty.Writes{}, h.err
		})
		if err != nil || len(missing) == 0 {
			return err
		}
		t.more = append(t.more, missing...)
	}

	return errors.New("a condition on the past asks for more and more")
}

// Customer opens a customer, or the target of their merge; nil if there is none or more must be loaded first.
func (h *Hindsight) Customer(n loyalty.CustomerNeeds) *Run {
	original, known := h.batch.accounts[n.ID]
	if !known {
		return nil
	}
	a, err := h.batch.survivor(original, n)
	if h.Lacks(err) {
		return nil
	}
	return h.batch.openRun(h.programme, a, &work{})
}

// Lacks records what must be loaded, and reports whether there was an error. An error that does not come from the store
// means that a past event can no longer be evaluated: its condition does not hold.
func (h *Hindsight) Lacks(err error) bool {
	var w *NeedMoreError
	switch {
	case errors.As(err, &w):
		h.missing = append(append(h.missing, w.needs), w.more...)
	case errors.Is(err, loyalty.ErrBatchConflict):
		h.err = err
	}
	return err != nil
}

// Preview returns what a submission would do and records nothing. A refusal is returned together
// with the verdicts of the rules before it.
func (e *Engine) Preview(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, error) {
	s.Idempotency = nil
	t := e.Prepare(s)
	if t.err != nil {
		return loyalty.Outcome{Trace: refusedAtOnce(t.err)}, t.err
	}
	return e.try(ctx, t)
}

// PreviewAccepted is Preview of a purchase by a programme in which no purchase waits for acceptance; it returns that
// programme too. It fails as the purchase would, without verdicts.
func (e *Engine) PreviewAccepted(
	ctx context.Context, s loyalty.Submission,
) (loyalty.Outcome, *programme.Programme, error) {
	s.Idempotency = nil
	t := e.Prepare(s)
	if t.err != nil {
		return loyalty.Outcome{}, nil, t.err
	}
	t.programme = t.programme.Accepting()
	o, err := e.try(ctx, t)
	return o, t.programme, err
}

// try decides a ticket and records nothing.
func (e *Engine) try(ctx context.Context, t *Ticket) (loyalty.Outcome, error) {
	release, err := e.traffic.Hold()
	if err != nil {
		return loyalty.Outcome{}, err
	}
	defer release()
	t.preview, t.unseen = true, loyalty.UnseenBy(ctx)
	if err := e.traffic.Preview(ctx, &t.Ticket); err != nil {
		return loyalty.Outcome{}, err
	}
	return t.Result.Outcome, t.Result.Err
}

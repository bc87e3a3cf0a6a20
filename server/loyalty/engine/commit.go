package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// attempts is how often a single submission is tried when other writers keep winning.
const attempts = 12

// batchTime bounds one transaction, including the time it waits for locks.
const batchTime = 10 * time.Second

// process commits a batch. If another writer was faster, the whole batch is tried again under its customers' locks; if
// it still cannot be written, every submission is tried on its own, so that none can harm another. Batches with
// contended customers take the locks from the start. process returns the failure that ended the work, which the tickets
// have too, except for errLarge and ErrMuch: then nothing was tried.
func (e *Engine) process(ctx context.Context, tickets []*Ticket) error {
	tickets, err := e.reachable(ctx, tickets)
	if len(tickets) == 0 {
		return err
	}

	locked := slices.ContainsFunc(tickets, func(t *Ticket) bool { return e.fought.has(t.needs.Ref) })
	err = e.once(ctx, tickets, locked)
	if errors.Is(err, errLarge) || errors.Is(err, loyalty.ErrMuch) {
		return err
	}

	for _, t := range tickets {
		t.movable = false
	}

	if !locked && errors.Is(err, loyalty.ErrBatchConflict) {
		e.lost(tickets)
	}

	if err != nil && len(tickets) > 1 {
		if errors.Is(err, loyalty.ErrBatchConflict) {
			err = e.once(ctx, tickets, true)
		}
		if err != nil && repeatable(err) {
			return e.alone(ctx, tickets)
		}
	}

	for n := 1; n < attempts && errors.Is(err, loyalty.ErrBatchConflict); n++ {
		time.Sleep(rand.N(time.Duration(n) * time.Millisecond))
		err = e.once(ctx, tickets, true)
	}

	if err != nil {
		fail(tickets, err)
	}

	return err
}

// machines is a store whose rows are on several machines, some of which may be down.
type machines interface {
	// MachineAway reports for each of the given number of submissions whether it needs a machine that is down; nil
	// means that none does.
	MachineAway(ctx context.Context, submissions int, needs func(i int) loyalty.Needs) []bool
}

// reachable refuses the submissions that need a machine which is known to be down, and returns the others: in one batch
// with the refused ones they would fail, too.
func (e *Engine) reachable(ctx context.Context, tickets []*Ticket) (rest []*Ticket, err error) {
	m, several := e.store.(machines)
	if !several || len(tickets) == 0 {
		return tickets, nil
	}

	away := m.MachineAway(ctx, len(tickets), func(i int) loyalty.Needs { return needs(tickets[i:i+1], e.Now()) })
	if away == nil {
		return tickets, nil
	}

	for i, t := range tickets {
		if !away[i] {
			rest = append(rest, t)
			continue
		}
		t.movable = false
		err = loyalty.ErrMachineAway
		fail(tickets[i:i+1], err)
	}

	return rest, err
}

// lost records a conflict: another writer was faster than this batch.
func (e *Engine) lost(tickets []*Ticket) {
	for _, t := range tickets {
		t.fought = true
		e.fought.note(t.needs.Ref)
	}
}

// alone tries every submission on its own while the database answers. On Citus, where a machine that is down may take
// long to fail, it stops once every caller has given up (submitTime).
func (e *Engine) alone(ctx context.Context, tickets []*Ticket) error {
	began := time.Now()
	for i := range tickets {
		err := e.process(ctx, tickets[i:i+1])
		if err != nil && (!repeatable(err) || errors.Is(err, loyalty.ErrMachineAway) && time.Since(began) > submitTime) {
			fail(tickets[i+1:], err)
			return err
		}
	}
	return nil
}

func fail(tickets []*Ticket, err error) {
	for _, t := range tickets {
		t.result = loyalty.Result{Err: loyalty.OutcomeError(err)}
	}
}

// repeatable reports whether an error proves that nothing was written. A database that is away is not asked again for
// each submission of a batch, unless only one of its machines is away.
func repeatable(err error) bool {
	return !errors.Is(err, loyalty.ErrOutcomeUnknown) && !errors.Is(err, context.DeadlineExceeded) &&
		(!errors.Is(err, loyalty.ErrDatabaseAway) || errors.Is(err, loyalty.ErrMachineAway))
}

func (e *Engine) once(ctx context.Context, tickets []*Ticket, locked bool) error {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	return e.complete(ctx, tickets, locked, func(b *batch) (*loyalty.Writes, error) { return b.result(), nil })
}

// errIncomplete ends an attempt whose rules needed rows that were not loaded.
var errIncomplete = errors.New("more must be loaded")

// complete decides the tickets, loading again as long as their rules need rows that were not loaded.
func (e *Engine) complete(
	ctx context.Context, tickets []*Ticket, locked bool, result func(*batch) (*loyalty.Writes, error),
) error {
	for {
		err := e.attempt(ctx, tickets, locked, result)
		if !errors.Is(err, errIncomplete) {
			return err
		}
	}
}

// attempt decides on cached customers where it can, and loads them otherwise. A conflict on cached rows is counted
// apart from other conflicts: it means that the rows were out of date, so cached rows are used less often for a while.
func (e *Engine) attempt(
	ctx context.Context, tickets []*Ticket, locked bool, result func(*batch) (*loyalty.Writes, error),
) (err error) {
	n := needs(tickets, e.Now()) // one instant, so that what is due at it was loaded
	n.Locked = locked
	n.Apart = !locked && slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.large || t.sub.Heavy() })
	n.Reading = slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.preview })
	n.Light = !locked && slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.movable })
	if known := e.customers.find(&n); known != nil {
		err := e.decideOn(ctx, tickets, n, known, result)
		if errors.Is(err, loyalty.ErrBatchConflict) {
			e.customers.miss(&n)
			e.lost(tickets)
		} else if !errors.Is(err, errUnsure) {
			return err
		}
	}

	return e.decideOn(ctx, tickets, n, nil, result)
}

// errUnsure ends an attempt on cached customers whose outcome no guard would check, such as a refusal. It is decided
// again on loaded rows.
var errUnsure = errors.New("what was decided on kept rows must be decided on loaded ones")

// decideOn decides the tickets on the known rows of their customers, or on freshly loaded rows if known is nil.
func (e *Engine) decideOn(
	ctx context.Context, tickets []*Ticket, n loyalty.Needs, known *loyalty.Loaded,
	result func(*batch) (*loyalty.Writes, error),
) (err error) {
	decided := false
	timed := watch{began: time.Now()}
	defer func() {
		if fault := recover(); fault != nil {
			err = Panicked(fault, decided)
		}
		if !n.Reading && !errors.Is(err, errIncomplete) && !errors.Is(err, errLarge) && !errors.Is(err, loyalty.ErrMuch) &&
			!errors.Is(err, errUnsure) {
			e.observer.Tried(timed.attempt(len(tickets), err))
		}
		if e.tracer != nil {
			e.traced(tickets, &timed, n.Reading, err)
		}
	}()

	var b *batch
	var w *loyalty.Writes
	loads := n
	if known != nil {
		loads = loyalty.Needs{Now: n.Now}
	}

	err = e.store.Within(ctx, loads, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		timed.loaded = time.Now()
		defer func() { timed.decided = time.Now() }()
		if known != nil {
			l = known
		}
		if findLarge(tickets, l) {
			return nil, errLarge
		}

		b = newBatch(&e.rulebook, l, n)
		b.ctx = ctx
		if err := b.runAll(tickets); err != nil {
			return nil, err
		}
		if known != nil && !b.rests(tickets) {
			return nil, errUnsure
		}

		var err error
		w, err = result(b)
		decided = err == nil
		return w, err
	})
	if err == nil && !n.Reading {
		e.customers.note(w, known != nil, b.left)
		if e.optedOut != nil && w != nil && len(w.DestroyKeys) > 0 {
			e.optedOut(w.DestroyKeys, n.Now)
		}
	}

	return err
}

// Panicked is the error of a panic in a worker. A panic ends the batch, never the process. If decided is set, the batch
// may have been written.
func Panicked(fault any, decided bool) error {
	err := fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
	if decided {
		return fmt.Errorf("%w: %w", loyalty.ErrOutcomeUnknown, err)
	}
	return err
}

// traced reports an attempt to the tracer if any of its callers is traced.
func (e *Engine) traced(tickets []*Ticket, w *watch, preview bool, err error) {
	var callers []any
	for i, t := range tickets {
		// all events of a bulk have the same caller
		if t.caller != nil && (i == 0 || t.caller != tickets[i-1].caller) {
			callers = append(callers, t.caller)
		}
	}

	if len(callers) == 0 {
		return
	}

	b := Traced{Attempt: w.attempt(len(tickets), err), Began: w.began, Outcome: tracedCommitted}
	switch {
	case errors.Is(err, errIncomplete), errors.Is(err, errLarge), errors.Is(err, loyalty.ErrMuch):
		b.Outcome = tracedIncomplete
	case errors.Is(err, loyalty.ErrBatchConflict):
		b.Outcome = tracedConflict
	case err != nil:
		b.Outcome = TracedFailed
	case preview:
		b.Outcome = tracedPreview
	}

	e.tracer.Batch(callers, b)
}

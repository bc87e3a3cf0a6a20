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

// commit decides and commits tickets, in one transaction if it can. If another writer was faster, the whole batch is
// tried again under its customers' locks; if it still cannot be written, every submission is tried on its own, so that
// none can harm another. Batches with contended customers take the locks from the start. On Citus, where a machine that
// is down may take long to fail, commit stops once every caller has given up (submitTime). It returns the failure that
// ended the work, which the tickets have too.
func (e *Engine) commit(ctx context.Context, f *flight, tickets []*Ticket) error {
	tickets, err := e.reachable(ctx, tickets)
	locked := slices.ContainsFunc(tickets, func(t *Ticket) bool { return e.fought.has(t.needs.Ref) })
	for tries := 1; len(tickets) > 0; tries++ {
		var to next
		limited, cancel := context.WithTimeout(ctx, batchTime)
		to, err = e.attempt(limited, tickets, locked)
		cancel()

		switch {
		case to == split && len(tickets) > 1:
			f.split = true
			half := len(tickets) / 2
			_ = e.commit(ctx, f, tickets[:half:half])
			return e.commit(ctx, f, tickets[half:])
		case to == split, to == heavy:
			tickets, tries, err = e.move(f, tickets), 0, nil
		case to == again && tries < mostTries(tickets):
			stay(tickets)
			if !locked {
				e.lost(tickets)
			}
			if locked = true; len(tickets) == 1 {
				time.Sleep(rand.N(time.Duration(tries) * time.Millisecond))
			}
		case err != nil && len(tickets) > 1 && repeatable(err):
			stay(tickets)
			began := time.Now()
			for i := range tickets {
				if err = e.commit(ctx, f, tickets[i:i+1]); lasting(err, began) {
					fail(tickets[i+1:], err)
					return err
				}
			}
			return nil
		default:
			fail(tickets, err)
			return err
		}
	}

	return err
}

// mostTries is how often a batch is tried while other writers win. Two submissions or more are tried on their own then.
func mostTries(tickets []*Ticket) int {
	if len(tickets) > 1 {
		return 2
	}
	return attempts
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

// lasting reports whether a failure would meet the other submissions of a batch as well, or lasts too long already.
func lasting(err error, began time.Time) bool {
	return err != nil &&
		(!repeatable(err) || errors.Is(err, loyalty.ErrMachineAway) && time.Since(began) > submitTime)
}

// fail gives tickets a failure as their result; nil leaves the results that they have.
func fail(tickets []*Ticket, err error) {
	if err == nil {
		return
	}
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

// attempt decides the tickets and commits what they changed. It decides on cached customers where it can, and on loaded
// ones otherwise; it begins again for as long as rules need rows that were not loaded. A conflict on cached rows is
// counted apart from other conflicts: it means that the rows were out of date, so cached rows are used less often for a
// while.
func (e *Engine) attempt(ctx context.Context, tickets []*Ticket, locked bool) (to next, err error) {
	for to = more; to == more; {
		n := needs(tickets, e.Now()) // one instant, so that what is due at it was loaded
		n.Locked = locked
		n.Apart = !locked && slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.large || t.sub.Heavy() })
		n.Reading = slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.preview })
		n.Light = !locked && slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.movable })

		known := e.customers.find(&n)
		to, err = e.within(ctx, tickets, n, known)
		if known == nil || to != again && to != load {
			continue
		}

		if to == again {
			e.customers.miss(&n)
			e.lost(tickets)
		}
		to, err = e.within(ctx, tickets, n, nil)
	}

	return to, err
}

// within decides the tickets in one transaction, on the known rows of their customers, or on freshly loaded rows if
// known is nil.
func (e *Engine) within(
	ctx context.Context, tickets []*Ticket, n loyalty.Needs, known *loyalty.Loaded,
) (to next, err error) {
	var b *batch
	var w *loyalty.Writes
	timed := watch{began: time.Now()}
	defer func() {
		if fault := recover(); fault != nil {
			err = Panicked(fault, w != nil)
			to = after(err, to)
		}
		e.tried(tickets, &timed, n.Reading, to, err)
	}()

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
			to = heavy
			return nil, errNotDecided
		}

		b = newBatch(&e.rulebook, l, n)
		b.ctx = ctx
		if to = b.runAll(tickets); to == done && known != nil && !b.rests(tickets) {
			to = load
		}

		switch to {
		case done:
			w = b.result()
			return w, nil
		case again:
			return nil, loyalty.ErrBatchConflict
		}
		return nil, errNotDecided
	})
	if to = after(err, to); err == nil && !n.Reading {
		e.committed(b, w, n.Now, known != nil)
	}

	return to, err
}

// committed keeps the customers of a committed batch, and tells of opt-outs.
func (e *Engine) committed(b *batch, w *loyalty.Writes, at time.Time, cached bool) {
	e.customers.note(w, cached, b.left)
	if e.optedOut != nil && len(w.DestroyKeys) > 0 {
		e.optedOut(w.DestroyKeys, at)
	}
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

// tried reports an attempt to the observer and to the tracer. Previews, and attempts that end before their tickets are
// decided, are no attempts to write.
func (e *Engine) tried(tickets []*Ticket, w *watch, preview bool, to next, err error) {
	if !preview && (to == done || to == again) {
		e.observer.Tried(w.attempt(len(tickets), err))
	}
	if e.tracer != nil {
		e.traced(tickets, w, preview, to, err)
	}
}

// traced reports an attempt to the tracer if any of its callers is traced.
func (e *Engine) traced(tickets []*Ticket, w *watch, preview bool, to next, err error) {
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
	case to == more, to == heavy, to == split:
		b.Outcome = tracedIncomplete
	case to == again:
		b.Outcome = tracedConflict
	case err != nil:
		b.Outcome = TracedFailed
	case preview:
		b.Outcome = tracedPreview
	}

	e.tracer.Batch(callers, b)
}

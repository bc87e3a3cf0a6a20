package traffic

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// attempts is how often a single submission is tried when other writers keep winning.
const attempts = 12

// batchTime bounds one transaction, including the time it waits for locks.
const batchTime = 10 * time.Second

// Commit decides and commits tickets that did not come through a lane. Each has its result then, unless Commit fails:
// then the database is away, and the fate of the tickets is unknown.
func (d *Dispatcher) Commit(ctx context.Context, tickets []*Ticket) error {
	if err := d.commit(ctx, &flight{}, tickets); !Repeatable(err) {
		return err
	}
	d.rules.Ended(tickets)
	return nil
}

// CommitApart is Commit once no batch in flight has any of the tickets' customers.
func (d *Dispatcher) CommitApart(ctx context.Context, tickets []*Ticket) error {
	customers := customersOf(tickets)
	d.inFlight.alone(customers)
	defer d.inFlight.end(customers)
	return d.Commit(ctx, tickets)
}

// Preview decides a ticket and records nothing. It fails if the ticket could not be decided.
func (d *Dispatcher) Preview(ctx context.Context, t *Ticket) error {
	d.Follow(ctx, t)
	if _, err := d.attempt(ctx, []*Ticket{t}, false); err != nil {
		return loyalty.OutcomeError(err)
	}
	return nil
}

// Read has work read what is loaded for a ticket, and records nothing.
func (d *Dispatcher) Read(ctx context.Context, t *Ticket, n loyalty.Needs, work func(*loyalty.Loaded)) (err error) {
	d.Follow(ctx, t)
	n.Reading = true
	timed := watch{began: time.Now()}
	if t.caller != nil {
		defer func() { d.traced([]*Ticket{t}, &timed, true, after(err, Done), err) }()
	}
	return d.store.Within(ctx, n, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		timed.loaded = time.Now()
		defer func() { timed.decided = time.Now() }()
		work(l)
		return &loyalty.Writes{}, nil
	})
}

// commit decides and commits tickets, in one transaction if it can. If another writer was faster, the whole batch is
// tried again under its customers' locks; if it still cannot be written, every submission is tried on its own, so that
// none can harm another. Batches with customers in recentConflicts take the locks from the start. On Citus, where a
// machine that is down may take long to fail, commit stops once every caller has given up (submitTime). It returns the
// failure that ended the work, which the tickets have too.
func (d *Dispatcher) commit(ctx context.Context, f *flight, tickets []*Ticket) error {
	tickets, err := d.reachable(ctx, tickets)
	locked := slices.ContainsFunc(tickets, func(t *Ticket) bool { return d.conflicts.has(t.Needs.Ref) })
	for tries := 1; len(tickets) > 0; tries++ {
		var to Next
		limited, cancel := context.WithTimeout(ctx, batchTime)
		to, err = d.attempt(limited, tickets, locked)
		cancel()

		switch {
		case to == split && len(tickets) > 1:
			f.split = true
			half := len(tickets) / 2
			_ = d.commit(ctx, f, tickets[:half:half])
			return d.commit(ctx, f, tickets[half:])
		case to == split, to == heavy:
			tickets, tries, err = d.move(f, tickets), 0, nil
		case to == Again && tries < mostTries(tickets):
			stay(tickets)
			if !locked {
				d.noteConflict(tickets)
			}
			if locked = true; len(tickets) == 1 {
				time.Sleep(rand.N(time.Duration(tries) * time.Millisecond))
			}
		case err != nil && len(tickets) > 1 && Repeatable(err):
			stay(tickets)
			began := time.Now()
			for i := range tickets {
				if err = d.commit(ctx, f, tickets[i:i+1]); lasting(err, began) {
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
func (d *Dispatcher) reachable(ctx context.Context, tickets []*Ticket) (rest []*Ticket, err error) {
	m, several := d.store.(machines)
	if !several || len(tickets) == 0 {
		return tickets, nil
	}

	needs := func(i int) loyalty.Needs { return d.rules.Needs(tickets[i:i+1], d.rules.Now()) }
	away := m.MachineAway(ctx, len(tickets), needs)
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

// noteConflict records a conflict: another writer was faster than this batch.
func (d *Dispatcher) noteConflict(tickets []*Ticket) {
	for _, t := range tickets {
		t.conflicted = true
		d.conflicts.note(t.Needs.Ref)
	}
}

// lasting reports whether a failure would meet the other submissions of a batch as well, or lasts too long already.
func lasting(err error, began time.Time) bool {
	return err != nil &&
		(!Repeatable(err) || errors.Is(err, loyalty.ErrMachineAway) && time.Since(began) > submitTime)
}

// fail gives tickets a failure as their result; nil leaves the results that they have.
func fail(tickets []*Ticket, err error) {
	if err == nil {
		return
	}
	for _, t := range tickets {
		t.Result = loyalty.Result{Err: loyalty.OutcomeError(err)}
	}
}

// Repeatable reports whether an error proves that nothing was written. A database that is away is not asked again for
// each submission of a batch, unless only one of its machines is away.
func Repeatable(err error) bool {
	return !errors.Is(err, loyalty.ErrOutcomeUnknown) && !errors.Is(err, context.DeadlineExceeded) &&
		(!errors.Is(err, loyalty.ErrDatabaseAway) || errors.Is(err, loyalty.ErrMachineAway))
}

// attempt decides the tickets and commits what they changed. It decides on cached customers where it can, and on loaded
// ones otherwise; it begins again for as long as rules need rows that were not loaded. A conflict on cached rows is
// counted apart from other conflicts: it means that the rows were out of date, so cached rows are used less often for a
// while.
func (d *Dispatcher) attempt(ctx context.Context, tickets []*Ticket, locked bool) (to Next, err error) {
	for to = More; to == More; {
		n := d.rules.Needs(tickets, d.rules.Now()) // one instant, so that what is due at it was loaded
		n.Locked = locked
		n.Apart = !locked && slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.large || t.Heavy })
		n.Light = !locked && slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.movable })

		known := d.customers.find(&n)
		to, err = d.within(ctx, tickets, n, known)
		if known == nil || to != Again && to != load {
			continue
		}

		if to == Again {
			d.customers.miss(&n)
			d.noteConflict(tickets)
		}
		to, err = d.within(ctx, tickets, n, nil)
	}

	return to, err
}

// within decides the tickets in one transaction, on the known rows of their customers, or on freshly loaded rows if
// known is nil.
func (d *Dispatcher) within(
	ctx context.Context, tickets []*Ticket, n loyalty.Needs, known *loyalty.Loaded,
) (to Next, err error) {
	var b Batch
	var w *loyalty.Writes
	timed := watch{began: time.Now()}
	defer func() {
		if fault := recover(); fault != nil {
			err = loyalty.Panicked(fault, w != nil)
			to = after(err, to)
		}
		d.tried(tickets, &timed, n.Reading, to, err)
	}()

	loads := n
	if known != nil {
		loads = loyalty.Needs{Now: n.Now}
	}

	err = d.store.Within(ctx, loads, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		timed.loaded = time.Now()
		defer func() { timed.decided = time.Now() }()
		if known != nil {
			l = known
		}

		switch b, to = d.decide(ctx, tickets, l, n, known != nil); to {
		case Done:
			w = b.Writes()
			return w, nil
		case Again:
			return nil, loyalty.ErrBatchConflict
		}
		return nil, errNotDecided
	})
	if to = after(err, to); err == nil && !n.Reading {
		d.committed(b, w, n.Now, known != nil)
	}

	return to, err
}

// decide has the rules decide the tickets, unless some of them are large. What was decided on cached rows counts only if
// guards check it.
func (d *Dispatcher) decide(
	ctx context.Context, tickets []*Ticket, l *loyalty.Loaded, n loyalty.Needs, cached bool,
) (Batch, Next) {
	if findLarge(tickets, l) {
		return nil, heavy
	}
	b, to := d.rules.Decide(ctx, tickets, l, n)
	if to == Done && cached && !b.Guarded(tickets) {
		return nil, load
	}
	return b, to
}

// committed keeps the customers of a committed batch, and tells of opt-outs.
func (d *Dispatcher) committed(b Batch, w *loyalty.Writes, at time.Time, cached bool) {
	d.customers.note(w, cached, b.FinalState)
	if d.optedOut != nil && len(w.DestroyKeys) > 0 {
		d.optedOut(w.DestroyKeys, at)
	}
}

// tried reports an attempt to the observer and to the tracer. Previews, and attempts that end before their tickets are
// decided, are no attempts to write.
func (d *Dispatcher) tried(tickets []*Ticket, w *watch, preview bool, to Next, err error) {
	if !preview && (to == Done || to == Again) {
		d.observer.Tried(w.attempt(len(tickets), err))
	}
	if d.tracer != nil {
		d.traced(tickets, w, preview, to, err)
	}
}

// traced reports an attempt to the tracer if any of its callers is traced.
func (d *Dispatcher) traced(tickets []*Ticket, w *watch, preview bool, to Next, err error) {
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
	case to == More, to == load, to == heavy, to == split:
		b.Outcome = tracedIncomplete
	case to == Again:
		b.Outcome = tracedConflict
	case err != nil:
		b.Outcome = TracedFailed
	case preview:
		b.Outcome = tracedPreview
	}

	d.tracer.Batch(callers, b)
}

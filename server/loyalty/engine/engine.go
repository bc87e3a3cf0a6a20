// Package engine turns submissions into committed effects. It has the queue, the batch, the
// account and the run of an event: what is loaded, sealed, due, merged and written. It names
// no feature: those are values (Feature) that the engine calls in the order of their table.
package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// MaxBatch is how many waiting submissions one transaction takes at most.
const MaxBatch = 128

// Programmes gives the configuration in force.
type Programmes interface {
	Programme() *programme.Programme
}

// EngineOptions are what an engine is made of.
type EngineOptions struct {
	Store      loyalty.Store
	Contract   loyalty.Contract
	Programmes Programmes
	Rules      []Rule
	// Features are the parts of the rules, in the order in which they run.
	Features []Feature
	// Workers is how many batches are in work at once; 0: one.
	Workers int
	// Clock is the time of recording; nil: the system's.
	Clock func() time.Time
	// Timekeeper holds the clock to the database's, and is in the place of Clock; nil:
	// the clock is trusted.
	Timekeeper *loyalty.Timekeeper
	// Kept is how many bytes of customers' rows are kept, so that they need not be loaded for
	// their next event; 0: as many as are usual, below: none.
	Kept int
	// Observer hears what the engine does; nil: it is not told.
	Observer Observer
	// Tracer follows batches; nil: nothing is followed.
	Tracer Tracer
}

// Engine turns submissions into committed effects. It takes batches: whatever
// waits while the last batch commits becomes the next one, so that a single
// request is a batch of one and a crowd shares the cost of a commit. A crowd
// whose callers were answered just now is waited for, for a moment (crowd).
type Engine struct {
	store      loyalty.Store
	contract   loyalty.Contract
	programmes Programmes
	rules      map[string]Rule
	features   []Feature
	clock      func() time.Time
	keeper     *loyalty.Timekeeper // nil: the clock is trusted
	observer   Observer
	tracer     Tracer // nil: nothing is followed

	queues  []chan waiting
	heavy   chan waiting // of submissions that take long by themselves
	fought  contended
	kept    kept
	seed    maphash.Seed
	workers sync.WaitGroup
	closing sync.RWMutex
	closed  bool
}

// NewEngine checks that rules and contract agree and starts the workers.
func NewEngine(o EngineOptions) (*Engine, error) {
	e := &Engine{
		store: o.Store, contract: o.Contract, programmes: o.Programmes, features: o.Features,
		rules: make(map[string]Rule, len(o.Rules)), clock: o.Clock, keeper: o.Timekeeper, seed: maphash.MakeSeed(), observer: o.Observer, tracer: o.Tracer,
	}
	e.kept.most = max(0, cmp.Or(o.Kept, keptBytes))
	if e.observer == nil {
		e.observer = unobserved{}
	}
	if o.Timekeeper != nil {
		e.clock = o.Timekeeper.Now
	}
	if e.clock == nil {
		e.clock = time.Now
	}
	for _, rule := range o.Rules {
		name := rule.Meta().Name
		if _, twice := e.rules[name]; twice {
			return nil, fmt.Errorf("two rules for the action %s", name)
		}
		if _, ok := o.Contract.Shape(name); !ok {
			return nil, fmt.Errorf("the contract does not know the action %s", name)
		}
		e.rules[name] = rule
	}
	for range max(1, o.Workers) {
		queue := make(chan waiting, 4*MaxBatch)
		e.queues = append(e.queues, queue)
		e.workers.Go(func() { e.work(queue, MaxBatch) })
	}
	e.heavy = make(chan waiting, maxHeavy)
	e.workers.Go(func() { e.work(e.heavy, 1) })
	return e, nil
}

// Close waits for the submissions that were taken and stops the workers. Later
// ones fail with ErrUnavailable.
func (e *Engine) Close() {
	e.closing.Lock()
	if !e.closed {
		e.closed = true
		for _, q := range append(e.queues, e.heavy) {
			close(q)
		}
	}
	e.closing.Unlock()
	e.workers.Wait()
}

// hold keeps the engine open while work is under way that no worker does. It
// fails with ErrUnavailable once the engine is closed.
func (e *Engine) hold() (release func(), err error) {
	e.closing.RLock()
	if e.closed {
		e.closing.RUnlock()
		return nil, loyalty.ErrUnavailable.Because(errors.New("the server is stopping"))
	}
	return e.closing.RUnlock, nil
}

// Submit records one event and everything that follows from it, exactly once.
// When ctx ends first, or nothing was heard for submitTime, it fails with
// ErrUnavailable where nothing was done and nothing will be, and with ErrUnconfirmed
// where the event may still be committed: only an idempotency key tells later.
func (e *Engine) Submit(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, error) {
	t := e.Prepare(s)
	if t.err != nil && s.Idempotency == nil {
		e.observer.Ended(s.Action, &loyalty.Result{Err: t.err})
		return loyalty.Outcome{}, t.err
	}
	return e.enqueue(ctx, t)
}

// SubmitAll records many events in order, each on its own: one transaction for
// all of them when none is refused by the database, and one result each.
func (e *Engine) SubmitAll(ctx context.Context, all []loyalty.Submission) []loyalty.Result {
	results := make([]loyalty.Result, len(all))
	e.SubmitEach(ctx, all, func(i int, r loyalty.Result) { results[i] = r })
	return results
}

// SubmitEach is SubmitAll that tells each result when it is known, and keeps none:
// what thousands of events did is more than their results. It works in batches.
// What was not begun when ctx ends, or the database went away, is not begun any
// more: it fails with ErrUnavailable.
func (e *Engine) SubmitEach(ctx context.Context, all []loyalty.Submission, told func(int, loyalty.Result)) {
	release, err := e.hold()
	if err == nil {
		defer release()
	}
	for start := 0; start < len(all); {
		if start > 0 && err == nil && ctx.Err() != nil {
			err = loyalty.ErrUnavailable.Because(ctx.Err())
		}
		tickets := e.prepareSome(all[start:])
		e.follow(ctx, tickets...)
		if err != nil {
			fail(tickets, err)
		} else if err = e.process(context.WithoutCancel(ctx), tickets); repeatable(err) {
			err = nil // each ticket has its result
		}
		e.ended(tickets)
		for i, t := range tickets {
			told(start+i, t.result)
		}
		start += len(tickets)
	}
}

// prepareSome makes the tickets of the next batch. One that takes long is a batch of
// its own, so that no caller waits for several of them.
func (e *Engine) prepareSome(all []loyalty.Submission) (tickets []*Ticket) {
	for i := range all {
		if len(tickets) == MaxBatch || len(tickets) > 0 && (all[i].Heavy() || all[i-1].Heavy()) {
			break
		}
		tickets = append(tickets, e.Prepare(all[i]))
	}
	return tickets
}

// Preview answers what a submission would do and records nothing. A refusal is
// returned with the trace of the rules that spoke before it.
func (e *Engine) Preview(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, error) {
	s.Idempotency = nil
	t := e.Prepare(s)
	if t.err != nil {
		return loyalty.Outcome{Trace: refusedAtOnce(t.err)}, t.err
	}
	return e.try(ctx, t)
}

// follow notes who waits for tickets, where that is wanted.
func (e *Engine) follow(ctx context.Context, tickets ...*Ticket) {
	if e.tracer == nil {
		return
	}
	caller := e.tracer.Caller(ctx)
	for _, t := range tickets {
		t.caller = caller
	}
}

// PreviewAccepted is Preview of a purchase by a programme in which none has to wait; it
// gives that programme too. It fails as the purchase would, without a trace.
func (e *Engine) PreviewAccepted(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, *programme.Programme, error) {
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
	release, err := e.hold()
	if err != nil {
		return loyalty.Outcome{}, err
	}
	defer release()
	t.preview = true
	e.follow(ctx, t)
	err = e.complete(ctx, []*Ticket{t}, false, func(*batch) (*loyalty.Writes, error) { return &loyalty.Writes{}, nil })
	if err != nil {
		return loyalty.Outcome{}, loyalty.OutcomeError(err)
	}
	return t.result.Outcome, t.result.Err
}

// Settle applies what is due for one customer now; reads call it before they
// show figures.
func (e *Engine) Settle(ctx context.Context, customer loyalty.ID) error {
	_, err := e.enqueue(ctx, e.settlement(customer))
	return err
}

// Programme is the configuration in force.
func (e *Engine) Programme() *programme.Programme { return e.programmes.Programme() }

// CheckClock compares this node's clock with the database's. It fails with ErrClockOff.
func (e *Engine) CheckClock(ctx context.Context) error {
	if e.keeper == nil {
		return nil
	}
	return e.keeper.Check(ctx)
}

// trusted fails with ErrClockOff where nothing that a date brings about may be done.
func (e *Engine) trusted() error {
	if e.keeper == nil {
		return nil
	}
	return e.keeper.Trusted()
}

// Now is the engine's clock, cut to the milliseconds that are stored: what is decided and
// what is read back later must be the same instant.
func (e *Engine) Now() time.Time { return e.clock().UTC().Truncate(time.Millisecond) }

// attempts is how often a single submission is tried against other writers.
const attempts = 12

// batchTime bounds one transaction, waiting for locks included.
const batchTime = 10 * time.Second

// process commits a batch. When another writer was faster, the whole batch is
// tried again under its customers' locks; when it still cannot be written, every
// submission is tried on its own, so that none can hurt another. Customers over whom
// nodes fight are locked from the start. It gives the failure that ended the work; the
// tickets have it too, but for errLarge: then nothing was tried.
func (e *Engine) process(ctx context.Context, tickets []*Ticket) error {
	if len(tickets) == 0 {
		return nil
	}
	locked := slices.ContainsFunc(tickets, func(t *Ticket) bool { return e.fought.has(t.needs.Ref) })
	err := e.once(ctx, tickets, locked)
	if errors.Is(err, errLarge) {
		return err
	}
	for _, t := range tickets {
		t.movable = false
	}
	if !locked && errors.Is(err, loyalty.ErrBatchConflict) {
		for _, t := range tickets {
			e.fought.note(t.needs.Ref)
		}
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

// alone tries every submission on its own, as long as the database is there.
func (e *Engine) alone(ctx context.Context, tickets []*Ticket) error {
	for i := range tickets {
		if err := e.process(ctx, tickets[i:i+1]); err != nil && !repeatable(err) {
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

// repeatable says whether nothing was written for certain. A database that is
// away is not asked again for each submission of a batch.
func repeatable(err error) bool {
	return !errors.Is(err, loyalty.ErrOutcomeUnknown) && !errors.Is(err, loyalty.ErrDatabaseAway) && !errors.Is(err, context.DeadlineExceeded)
}

func (e *Engine) once(ctx context.Context, tickets []*Ticket, locked bool) error {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	return e.complete(ctx, tickets, locked, func(b *batch) (*loyalty.Writes, error) { return b.result(), nil })
}

// errIncomplete ends an attempt whose rules came upon something not loaded.
var errIncomplete = errors.New("more must be loaded")

// complete decides the tickets on what they need, loading again as long as their
// rules come upon something that was not loaded.
func (e *Engine) complete(ctx context.Context, tickets []*Ticket, locked bool, result func(*batch) (*loyalty.Writes, error)) error {
	for {
		err := e.attempt(ctx, tickets, locked, result)
		if !errors.Is(err, errIncomplete) {
			return err
		}
	}
}

func (e *Engine) attempt(ctx context.Context, tickets []*Ticket, locked bool, result func(*batch) (*loyalty.Writes, error)) (err error) {
	n := needs(tickets, e.Now()) // one instant: what is due then is what was loaded
	n.Locked = locked
	n.Apart = !locked && slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.large || t.sub.Heavy() })
	n.Reading = slices.ContainsFunc(tickets, func(t *Ticket) bool { return t.preview })
	if known := e.kept.find(&n); known != nil {
		err := e.on(ctx, tickets, n, known, result)
		if errors.Is(err, loyalty.ErrBatchConflict) {
			e.kept.miss(&n)
			for _, t := range tickets {
				e.fought.note(t.needs.Ref)
			}
		} else if !errors.Is(err, errUnsure) {
			return err
		}
	}
	return e.on(ctx, tickets, n, nil, result)
}

// errUnsure ends an attempt on kept customers that came to something which no guard checks,
// such as a refusal: it is decided on what is loaded.
var errUnsure = errors.New("what was decided on kept rows must be decided on loaded ones")

// on decides the tickets on what is known of their customers; nil: on what is loaded now.
func (e *Engine) on(ctx context.Context, tickets []*Ticket, n loyalty.Needs, known *loyalty.Loaded, result func(*batch) (*loyalty.Writes, error)) (err error) {
	decided := false
	timed := watch{began: time.Now()}
	defer func() {
		if fault := recover(); fault != nil {
			err = Panicked(fault, decided)
		}
		if !n.Reading && !errors.Is(err, errIncomplete) && !errors.Is(err, errLarge) && !errors.Is(err, errUnsure) {
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
		b = e.newBatch(l, n)
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
		e.kept.note(w, known != nil, b.left)
	}
	return err
}

// Panicked is the error of a fault of ours in the worker: it ends its batch, never
// the process. Once there was something to write it may be written.
func Panicked(fault any, decided bool) error {
	err := fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
	if decided {
		return fmt.Errorf("%w: %w", loyalty.ErrOutcomeUnknown, err)
	}
	return err
}

// emptyObject is the data of an event that was sent without any.
var emptyObject = json.RawMessage("{}")

// traced tells of a try whose callers are followed.
func (e *Engine) traced(tickets []*Ticket, w *watch, preview bool, err error) {
	var callers []any
	for i, t := range tickets {
		// those of a bulk have one caller
		if t.caller != nil && (i == 0 || t.caller != tickets[i-1].caller) {
			callers = append(callers, t.caller)
		}
	}
	if len(callers) == 0 {
		return
	}
	b := Traced{Attempt: w.attempt(len(tickets), err), Began: w.began, Outcome: tracedCommitted}
	switch {
	case errors.Is(err, errIncomplete), errors.Is(err, errLarge):
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

// Package engine turns submissions into committed effects. It has the queue, the batch, the account and the run of an
// event: what is loaded, sealed, due, merged and written. It names no feature: features are values (Feature) that the
// engine calls in the order of their table.
package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// MaxBatch is the most submissions in one transaction.
const MaxBatch = 128

// Programmes returns the configuration in force.
type Programmes interface {
	Programme() *programme.Programme
}

// EngineOptions configures an engine.
type EngineOptions struct {
	Store      loyalty.Store
	Contract   loyalty.Contract
	Programmes Programmes
	Rules      []Rule
	// Features are the parts of the rules, in the order in which they run.
	Features []Feature
	// Workers is how many queues submissions are spread over; 0 means one.
	Workers int
	// Overlap is how many batches of a queue may be in flight at once; they never share a customer. 0 means one.
	Overlap int
	// Clock returns the time of recording; nil means the system's clock.
	Clock func() time.Time
	// Timekeeper compares the clock with the database's, and replaces Clock; nil means that the clock is trusted.
	Timekeeper *loyalty.Timekeeper
	// Kept is how many bytes of customers' rows are cached in memory, so that they need not be loaded for their next
	// event; 0 means the default, a negative number none.
	Kept int
	// Observer is told what the engine does; may be nil.
	Observer Observer
	// Tracer follows batches; nil means that none is followed.
	Tracer Tracer
	// OptedOut is called after opt-outs are committed and before they are answered, with the customers whose keys were
	// destroyed. The batch waits for it; nil means no call.
	OptedOut func(customers []loyalty.ID, at time.Time)
}

// Engine turns submissions into committed effects. It works in batches: submissions that wait while the last batch
// commits become the next one, so a single request is a batch of one and a crowd shares the cost of a commit. A worker
// waits a moment for callers that it has just answered (crowd).
type Engine struct {
	rulebook
	store      loyalty.Store
	programmes Programmes
	observer   Observer
	tracer     Tracer // nil: no batch is traced
	optedOut   func(customers []loyalty.ID, at time.Time)

	lanes     []*lane
	inFlight  *inFlight
	heavy     chan waiting // submissions that take long by themselves
	fought    contended
	load      callerLoad
	customers customerCache
	seed      maphash.Seed
	workers   sync.WaitGroup
	closing   sync.RWMutex
	closed    bool
}

// NewEngine checks that rules and contract agree and starts the workers.
func NewEngine(o EngineOptions) (*Engine, error) {
	e := &Engine{
		rulebook: rulebook{contract: o.Contract, features: o.Features, rules: make(map[string]Rule, len(o.Rules)),
			clock: o.Clock, keeper: o.Timekeeper},
		store: o.Store, programmes: o.Programmes, seed: maphash.MakeSeed(), observer: o.Observer,
		tracer: o.Tracer, optedOut: o.OptedOut,
	}

	e.customers.most = max(0, cmp.Or(o.Kept, cacheBytes))
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

	e.inFlight = newInFlight()
	for range max(1, o.Workers) {
		l := newLane(make(chan waiting, 4*MaxBatch), MaxBatch, max(1, o.Overlap), e.inFlight)
		e.lanes = append(e.lanes, l)
		for range l.overlap {
			e.workers.Go(func() { e.work(l) })
		}
	}

	e.heavy = make(chan waiting, maxHeavy)
	heavy := newLane(e.heavy, 1, 1, newInFlight()) // heavy submissions hold up no other batch
	e.workers.Go(func() { e.work(heavy) })
	return e, nil
}

// Close waits for the submissions that were accepted and stops the workers. Later ones fail with
// ErrUnavailable.
func (e *Engine) Close() {
	e.closing.Lock()
	if !e.closed {
		e.closed = true
		for _, l := range e.lanes {
			close(l.queue)
		}
		close(e.heavy)
	}
	e.closing.Unlock()
	e.workers.Wait()
}

// hold keeps the engine open during work outside its workers. It fails with ErrUnavailable once the engine is closed.
func (e *Engine) hold() (release func(), err error) {
	e.closing.RLock()
	if e.closed {
		e.closing.RUnlock()
		return nil, loyalty.ErrUnavailable.Because(errors.New("the server is stopping"))
	}
	return e.closing.RUnlock, nil
}

// Submit records one event and everything that follows from it, exactly once. If ctx ends first, or there is no result
// after submitTime, it fails with ErrUnavailable if nothing was done and nothing will be, and with ErrUnconfirmed if
// the event may still be committed: only a repetition under its idempotency key can tell.
func (e *Engine) Submit(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, error) {
	t := e.Prepare(s)
	if t.err != nil && s.Idempotency == nil {
		e.observer.Ended(s.Action, &loyalty.Result{Err: t.err})
		return loyalty.Outcome{}, t.err
	}
	return e.enqueue(ctx, t)
}

// SubmitAll records events in order, each on its own: they share one transaction unless the database refuses one of
// them, and each has its own result.
func (e *Engine) SubmitAll(ctx context.Context, all []loyalty.Submission) []loyalty.Result {
	results := make([]loyalty.Result, len(all))
	e.SubmitEach(ctx, all, func(i int, r loyalty.Result) { results[i] = r })
	return results
}

// SubmitEach is SubmitAll, but passes on each result once it is known and keeps none: the results of thousands of
// events take much memory. It works in batches. Events that were not begun when ctx ended or the database went away
// fail with ErrUnavailable.
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
		} else if err = e.aside(context.WithoutCancel(ctx), tickets); repeatable(err) {
			err = nil // each ticket has its own result
		}

		e.ended(tickets)
		for i, t := range tickets {
			told(start+i, t.result)
		}

		start += len(tickets)
	}
}

// prepareSome makes the tickets of the next batch. A heavy submission is a batch of its own, so that no caller waits
// for several of them.
func (e *Engine) prepareSome(all []loyalty.Submission) (tickets []*Ticket) {
	for i := range all {
		if len(tickets) == MaxBatch || len(tickets) > 0 && (all[i].Heavy() || all[i-1].Heavy()) {
			break
		}
		tickets = append(tickets, e.Prepare(all[i]))
	}
	return tickets
}

// follow stores the callers of tickets if there is a tracer.
func (e *Engine) follow(ctx context.Context, tickets ...*Ticket) {
	if e.tracer == nil {
		return
	}
	caller := e.tracer.Caller(ctx)
	for _, t := range tickets {
		t.caller = caller
	}
}

// Settle applies what is due for one customer now. Reads call it before they show figures, so that they never show
// expired points.
func (e *Engine) Settle(ctx context.Context, customer loyalty.ID) error {
	_, err := e.enqueue(ctx, e.settlement(customer))
	return err
}

// Programme returns the configuration in force.
func (e *Engine) Programme() *programme.Programme { return e.programmes.Programme() }

// CheckClock compares this node's clock with the database's. It fails with ErrClockOff.
func (e *Engine) CheckClock(ctx context.Context) error {
	if e.keeper == nil {
		return nil
	}
	return e.keeper.Check(ctx)
}

// emptyObject is the data of an event that was sent without any.
var emptyObject = json.RawMessage("{}")

// Package engine turns submissions into committed effects. It has the batch, the account and the run of an event: what
// is loaded, sealed, due, merged and written. It names no feature: features are values (Feature) that the engine calls
// in the order of their table. How a batch comes about and is committed belongs to the package traffic.
package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

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
	Tracer traffic.Tracer
	// OptedOut is called after opt-outs are committed and before they are answered, with the customers whose keys were
	// destroyed. The batch waits for it; nil means no call.
	OptedOut func(customers []loyalty.ID, at time.Time)
}

// Engine turns submissions into committed effects. It decides them, and a traffic.Dispatcher brings them to the
// database.
type Engine struct {
	rulebook
	store      loyalty.Store
	programmes Programmes
	decider    decider
	traffic    *traffic.Dispatcher
}

// NewEngine checks that rules and contract agree and starts the workers.
func NewEngine(o EngineOptions) (*Engine, error) {
	e := &Engine{
		rulebook: rulebook{contract: o.Contract, features: o.Features, rules: make(map[string]Rule, len(o.Rules)),
			clock: o.Clock, keeper: o.Timekeeper},
		store: o.Store, programmes: o.Programmes,
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

	if o.Observer == nil {
		o.Observer = unobserved{}
	}

	e.decider = decider{&e.rulebook, o.Observer}
	e.traffic = traffic.New(traffic.Options{
		Store: o.Store, Rules: e.decider, Observer: o.Observer, Tracer: o.Tracer,
		Lanes: o.Workers, Overlap: o.Overlap, Cache: o.Kept, OptedOut: o.OptedOut,
	})
	return e, nil
}

// Close waits for the submissions that were accepted and stops the workers. Later ones fail with
// ErrUnavailable.
func (e *Engine) Close() { e.traffic.Close() }

// Waiting returns how many submissions wait for a worker, light and heavy.
func (e *Engine) Waiting() (light, heavy int) { return e.traffic.Waiting() }

// Crowded reports whether callers come as fast as they can be served. Background work lets them go first.
func (e *Engine) Crowded() bool { return e.traffic.Crowded() }

// InBackground runs one piece of work that no caller waits for. piece gets the number of customers that it may take and
// returns how many it took. While a crowd submits events, pieces are small, and rests are between them.
func (e *Engine) InBackground(ctx context.Context, piece func(most int) (took int, err error)) error {
	return e.traffic.InBackground(ctx, piece)
}

// Submit records one event and everything that follows from it, exactly once. If ctx ends first, or there is no result
// after submitTime, it fails with ErrUnavailable if nothing was done and nothing will be, and with ErrUnconfirmed if
// the event may still be committed: only a repetition under its idempotency key can tell.
func (e *Engine) Submit(ctx context.Context, s loyalty.Submission) (loyalty.Outcome, error) {
	t := e.Prepare(s)
	if t.err != nil && s.Idempotency == nil {
		e.decider.observer.Ended(s.Action, &loyalty.Result{Err: t.err})
		return loyalty.Outcome{}, t.err
	}
	return e.traffic.Submit(ctx, &t.Ticket)
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
	release, err := e.traffic.Hold()
	if err == nil {
		defer release()
	}

	for start := 0; start < len(all); {
		if start > 0 && err == nil && ctx.Err() != nil {
			err = loyalty.ErrUnavailable.Because(ctx.Err())
		}

		tickets := e.prepareSome(all[start:])
		e.traffic.Follow(ctx, tickets...)
		if err == nil {
			err = e.traffic.CommitApart(context.WithoutCancel(ctx), tickets)
		} else {
			for _, t := range tickets {
				t.Result = loyalty.Result{Err: loyalty.OutcomeError(err)}
			}
		}

		if err != nil {
			e.decider.Ended(tickets)
		}
		for i, t := range tickets {
			told(start+i, t.Result)
		}

		start += len(tickets)
	}
}

// prepareSome makes the tickets of the next batch. A heavy submission is a batch of its own, so that no caller waits
// for several of them.
func (e *Engine) prepareSome(all []loyalty.Submission) (tickets []*traffic.Ticket) {
	for i := range all {
		if len(tickets) == traffic.MaxBatch || len(tickets) > 0 && (all[i].Heavy() || all[i-1].Heavy()) {
			break
		}
		tickets = append(tickets, &e.Prepare(all[i]).Ticket)
	}
	return tickets
}

// Settle applies what is due for one customer now. Reads call it before they show figures, so that they never show
// expired points.
func (e *Engine) Settle(ctx context.Context, customer loyalty.ID) error {
	_, err := e.traffic.Submit(ctx, &e.settlement(customer).Ticket)
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

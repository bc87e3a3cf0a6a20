// Package traffic brings submissions to the database: queues and lanes, batches, customers that need not be loaded, and
// commits that are tried again until they are written or refused. What a submission means is decided by the Rules that
// it is given.
package traffic

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// MaxBatch is the most submissions in one transaction.
const MaxBatch = 128

// Rules decide what submissions change. Several workers call them at once.
type Rules interface {
	// Now is the instant at which a batch is recorded.
	Now() time.Time
	// Needs adds up what a batch must load.
	Needs(tickets []*Ticket, now time.Time) loyalty.Needs
	// Decide gives each ticket its result, in order, on what was loaded for n. Next is Done, More or Again.
	Decide(ctx context.Context, tickets []*Ticket, l *loyalty.Loaded, n loyalty.Needs) (Batch, Next)
	// Ended is told of tickets that have their final result.
	Ended(tickets []*Ticket)
}

// Batch is what the rules made of the tickets of one transaction.
type Batch interface {
	// Writes are the rows to write, for which the rules are asked once.
	Writes() *loyalty.Writes
	// Guarded reports whether the guards of these rows check the whole outcome of the tickets. Only then may it be
	// decided on cached customers.
	Guarded(tickets []*Ticket) bool
	// FinalState is the state in which the batch leaves a customer that it writes.
	FinalState(customer loyalty.ID) FinalState
}

// Options configures a Dispatcher.
type Options struct {
	Store    loyalty.Store
	Rules    Rules
	Observer Observer
	Tracer   Tracer // nil: no batch is traced
	Lanes    int    // queues that submissions are spread over
	Overlap  int    // batches of a lane in flight at most
	Cache    int    // bytes of customers in memory; 0: the default, negative: none
	// OptedOut is called as soon as opt-outs are committed; nil: never.
	OptedOut func(customers []loyalty.ID, at time.Time)
}

// Dispatcher puts submissions into batches and commits these. Submissions that wait while the last batch commits become
// the next one, so a single request is a batch of one and a crowd shares the cost of a commit. A worker waits a moment
// for callers that it has just answered (callerWait).
type Dispatcher struct {
	store    loyalty.Store
	rules    Rules
	observer Observer
	tracer   Tracer
	optedOut func(customers []loyalty.ID, at time.Time)

	lanes     []*lane
	inFlight  *inFlight
	heavy     chan waiting // submissions that take long by themselves
	conflicts recentConflicts
	load      callerLoad
	customers customerCache
	seed      maphash.Seed
	workers   sync.WaitGroup
	closing   sync.RWMutex
	closed    bool
}

// New starts the workers of a Dispatcher.
func New(o Options) *Dispatcher {
	d := &Dispatcher{store: o.Store, rules: o.Rules, observer: o.Observer, tracer: o.Tracer, optedOut: o.OptedOut,
		seed: maphash.MakeSeed(), inFlight: newInFlight(), heavy: make(chan waiting, maxHeavy)}
	d.customers.most = max(0, cmp.Or(o.Cache, cacheBytes))

	for range max(1, o.Lanes) {
		l := newLane(make(chan waiting, 4*MaxBatch), MaxBatch, max(1, o.Overlap), d.inFlight)
		d.lanes = append(d.lanes, l)
		for range l.overlap {
			d.workers.Go(func() { d.work(l) })
		}
	}

	heavy := newLane(d.heavy, 1, 1, newInFlight()) // heavy submissions hold up no other batch
	d.workers.Go(func() { d.work(heavy) })
	return d
}

// Close waits for the submissions that were accepted and stops the workers. Later ones fail with ErrUnavailable.
func (d *Dispatcher) Close() {
	d.closing.Lock()
	if !d.closed {
		d.closed = true
		for _, l := range d.lanes {
			close(l.queue)
		}
		close(d.heavy)
	}
	d.closing.Unlock()
	d.workers.Wait()
}

// Hold keeps a Dispatcher open during work outside its workers. It fails with ErrUnavailable once it is closed.
func (d *Dispatcher) Hold() (release func(), err error) {
	d.closing.RLock()
	if d.closed {
		d.closing.RUnlock()
		return nil, loyalty.ErrUnavailable.Because(errors.New("the server is stopping"))
	}
	return d.closing.RUnlock, nil
}

// Follow has the tracer follow tickets whose caller is traced.
func (d *Dispatcher) Follow(ctx context.Context, tickets ...*Ticket) {
	if d.tracer == nil {
		return
	}
	caller := d.tracer.Caller(ctx)
	for _, t := range tickets {
		t.caller = caller
	}
}

package engine

import (
	"context"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
)

// decider are the rules as traffic calls them.
type decider struct {
	*rulebook
	observer Observer
}

// Needs adds up what a batch must load.
func (d decider) Needs(tickets []*traffic.Ticket, now time.Time) loyalty.Needs {
	return needs(tickets, now)
}

// Decide decides the tickets of a batch in order.
func (d decider) Decide(
	ctx context.Context, tickets []*traffic.Ticket, l *loyalty.Loaded, n loyalty.Needs,
) (traffic.Batch, traffic.Next) {
	b := newBatch(d.rulebook, l, n)
	b.ctx = ctx
	return b, b.runAll(tickets)
}

// Ended reports the results of tickets to the observer.
func (d decider) Ended(tickets []*traffic.Ticket) {
	for _, passed := range tickets {
		if t := ticketOf(passed); !t.doneBefore() { // counted when the item was done
			d.observer.Ended(t.sub.Action, &t.Result)
		}
	}
}

// runAll decides the tickets in order, and says whether they must be decided again (Again) or on more rows (More).
func (b *batch) runAll(tickets []*traffic.Ticket) traffic.Next {
	to := traffic.Done
	for _, passed := range tickets {
		t := ticketOf(passed)
		b.run(t)
		if errors.Is(t.Result.Err, loyalty.ErrBatchConflict) {
			return traffic.Again
		}
		// Continue with the others: the rows that they turn out to need are loaded in the same round trip.
		if t.wants(t.Result.Err) {
			to = traffic.More
		}
	}
	return to
}

// Guarded reports whether the guards of the written rows check the whole outcome: each ticket changed its own customer,
// and every purchase that was expected to be new was opened. Only such a batch can be decided on cached rows.
func (b *batch) Guarded(tickets []*traffic.Ticket) bool {
	touched := make(map[loyalty.ID]bool, len(b.touched))
	for _, id := range b.touched {
		touched[id] = true
	}

	opened := map[string]bool{}
	for i := range b.writes.Claims {
		if c := &b.writes.Claims[i]; c.Kind == loyalty.NameTransaction {
			opened[c.Value] = true
		}
	}

	for _, t := range tickets {
		if t.Result.Err != nil || t.Result.Outcome.Replayed != nil || !touched[b.names[t.Needs.Ref]] {
			return false
		}
		for _, name := range t.Needs.Transactions {
			if !opened[name] {
				return false
			}
		}
	}

	return true
}

// FinalState is the state in which the batch leaves a customer.
func (b *batch) FinalState(id loyalty.ID) traffic.FinalState {
	a := b.accounts[id]
	s := traffic.FinalState{Was: a.loaded, Kinds: a.covered.progress, Progress: a.progress,
		Forget: len(a.freed) > 0 || a.destroyKey}
	if a.loaded == nil || a.covered.everything {
		s.Kinds = ^loyalty.ProgressKinds(0)
	}
	return s
}

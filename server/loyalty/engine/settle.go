package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// SettleDue applies what is due for customers that nobody touches. Several
// nodes may run it at once: they share the work, and nothing is done twice. A
// customer who cannot be settled does not stop the others; what failed is
// returned in the end.
func (e *Engine) SettleDue(ctx context.Context) error {
	var failed []error
	err := e.SettleAll(ctx, func(_ int, failures ...error) { failed = append(failed, failures...) })
	return errors.Join(append(failed, err)...)
}

// SettleAll settles batch by batch, until nobody is left whom nobody else has in
// hand. report hears of each batch how many things were applied, and what failed.
func (e *Engine) SettleAll(ctx context.Context, report func(done int, failures ...error)) error {
	var passed []loyalty.ID // still due after they were tried: not again in this run
	for ctx.Err() == nil {
		tickets, err := e.settleSome(ctx, passed)
		if err != nil || len(tickets) == 0 {
			return err
		}
		for _, t := range tickets {
			if err := t.result.Err; err != nil {
				report(0, fmt.Errorf("settling %s: %w", t.needs.ID, err))
			} else {
				report(settled(&t.result))
			}
			if at := t.result.Outcome.Customer.DueAt; t.result.Err != nil || (!at.IsZero() && !at.After(e.Now())) {
				passed = append(passed, t.needs.ID)
			}
		}
	}
	return ctx.Err()
}

// settled counts what came due: the events that follow from no other.
func settled(r *loyalty.Result) (n int) {
	for i := range r.Outcome.Events {
		if r.Outcome.Events[i].Parent == (loyalty.ID{}) {
			n++
		}
	}
	return n
}

// settleSome takes customers who are due, under their locks, and settles them in
// the same transaction. Those whose rules need more than is loaded for them, and
// those that could not be written together, are settled as any others are, which
// finds nothing to do where somebody was faster.
func (e *Engine) settleSome(ctx context.Context, passed []loyalty.ID) ([]*Ticket, error) {
	if err := e.trusted(); err != nil {
		return nil, err
	}
	release, err := e.hold()
	if err != nil {
		return nil, err
	}
	defer release()
	limited, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	var tickets []*Ticket
	due := loyalty.Needs{Now: e.Now(), Due: MaxBatch, DueExcept: passed}
	err = e.store.Within(limited, due, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		tickets = make([]*Ticket, len(l.Due))
		for i, id := range l.Due {
			tickets[i] = e.settlement(id)
		}
		b := e.newBatch(l, needs(tickets, due.Now))
		if err := b.runAll(tickets); err != nil {
			return nil, err
		}
		return b.result(), nil
	})
	switch {
	case err == nil:
		return tickets, nil
	case len(tickets) > 0 && repeatable(err):
		if err := e.process(ctx, tickets); err != nil && !repeatable(err) {
			return nil, err
		}
		return tickets, nil // each has its result
	}
	return nil, err
}

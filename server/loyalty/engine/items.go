package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ErrItemDone is the result of a ticket whose item was done before.
var ErrItemDone = errors.New("the item is done already")

// WorkItems commits the tickets of a bulk operation. A refusal ends its item as
// well as a success does; so does a fault of ours, which is told besides. It fails
// where the database is away: then nobody knows yet what became of the rest.
func (e *Engine) WorkItems(ctx context.Context, tickets []*Ticket) (done int, faults []error, err error) {
	release, err := e.hold()
	if err != nil {
		return 0, nil, err
	}
	defer release()
	ctx = context.WithoutCancel(ctx) // a chunk is short, and half of one helps nobody
	if err := e.process(ctx, tickets); err != nil && !repeatable(err) {
		return 0, nil, err
	}
	var broken []loyalty.BulkMark
	for _, t := range tickets {
		switch fault := loyalty.AsError(t.result.Err); {
		case t.result.Err == nil:
			done++
		case errors.Is(t.result.Err, ErrItemDone):
		case fault.Kind == loyalty.Unavailable:
			err = fault
		case fault.Kind == loyalty.Internal:
			broken = append(broken, t.mark(e, fault))
			faults = append(faults, fmt.Errorf("item %d: %w", t.item.Seq, fault))
		default:
			done++
		}
	}
	if len(broken) > 0 {
		err = errors.Join(err, e.markAlone(ctx, broken))
	}
	return done, faults, err
}

// markAlone ends items that left nothing else behind.
func (e *Engine) markAlone(ctx context.Context, marks []loyalty.BulkMark) error {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	n := loyalty.Needs{Now: e.Now()}
	for _, m := range marks {
		n.Items = append(n.Items, m.BulkKey)
	}
	return e.store.Within(ctx, n, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		var w loyalty.Writes
		for _, m := range marks {
			if l.Items[m.BulkKey] {
				w.Items = append(w.Items, m)
			}
		}
		return &w, nil
	})
}

// mark is the end of a ticket's item.
func (t *Ticket) mark(e *Engine, err error) loyalty.BulkMark {
	m := loyalty.BulkMark{BulkKey: t.item, At: e.Now()}
	if err != nil {
		m.Error = loyalty.StoredError(err)
	}
	return m
}

// tick ends a ticket's item together with what the ticket did. Faults end it on
// their own, once it is certain that they stay.
func (b *batch) tick(t *Ticket) {
	if t.item == (loyalty.BulkKey{}) || t.preview || t.result.Err != nil && !loyalty.Final(t.result.Err) {
		return
	}
	b.loaded.Items[t.item] = false
	b.writes.Items = append(b.writes.Items, t.mark(b.engine, t.result.Err))
}

// Item makes a ticket about an item of a bulk operation, that ends with it.
func (t *Ticket) Item(i loyalty.BulkItem) { t.needs.Ref, t.item = i.Ref, i.BulkKey }

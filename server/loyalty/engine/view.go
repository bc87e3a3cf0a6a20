package engine

import (
	"context"
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// View shows a customer as a run sees one, with everything that is due by now
// applied, and records nothing: the rules themselves tell what the customer has and
// may do. n says who it is (Ref or ID) and what to load; what look comes upon
// besides is loaded then, so look may be called more than once and must return the
// run's errors as they are. A merged customer is shown as the one they became part
// of. It fails with ErrCustomerNotFound, and with what look fails with.
func (e *Engine) View(ctx context.Context, n loyalty.CustomerNeeds, look func(*Run) error) error {
	release, err := e.hold()
	if err != nil {
		return err
	}
	defer release()
	t := &Ticket{programme: e.programmes.Programme(), needs: n, preview: true}
	for tries := 1; ; tries++ {
		seen, err := e.look(ctx, t, look)
		switch {
		case err != nil:
			return loyalty.OutcomeError(err)
		case errors.Is(seen, loyalty.ErrBatchConflict) && tries < attempts, t.wants(seen):
			continue
		case errors.Is(seen, loyalty.ErrBatchConflict):
			return loyalty.OutcomeError(seen)
		}
		return seen
	}
}

// look loads once; seen is what the run and the caller's function ended with.
func (e *Engine) look(ctx context.Context, t *Ticket, look func(*Run) error) (seen, err error) {
	n := needs([]*Ticket{t}, e.Now())
	n.Reading = true
	err = e.store.Within(ctx, n, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		seen = e.newBatch(l, n).show(t, look)
		return &loyalty.Writes{}, nil
	})
	return seen, err
}

func (b *batch) show(t *Ticket, look func(*Run) error) error {
	account, err := b.find(t)
	if err != nil {
		return err
	}
	r := b.openRun(t.programme, account, &work{seed: &t.seed})
	if err := r.settleDue(); err != nil {
		return err
	}
	r.settle()
	return look(r)
}

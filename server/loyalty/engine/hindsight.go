package engine

import (
	"context"
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// maxPastRounds is how often the rows of one chunk are loaded: what conditions see
// of a customer is never further away.
const maxPastRounds = 8

// Hindsight shows customers as they are known now, for events of the past.
type Hindsight struct {
	*batch
	programme *programme.Programme
	missing   []loyalty.CustomerNeeds
	err       error
}

// LookBack loads what is needed of customers and has look read it. Nothing is settled or
// recorded. What look comes upon besides is loaded then, so look may be called more than
// once and begins anew each time.
func (e *Engine) LookBack(ctx context.Context, customers []loyalty.CustomerNeeds, look func(*Hindsight)) error {
	release, err := e.hold()
	if err != nil {
		return err
	}
	defer release()
	p := e.programmes.Programme()
	t := &Ticket{programme: p, preview: true, needs: customers[0], more: customers[1:]}
	for range maxPastRounds {
		n := needs([]*Ticket{t}, e.Now())
		n.Reading = true
		var missing []loyalty.CustomerNeeds
		err = e.store.Within(ctx, n, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			h := &Hindsight{batch: e.newBatch(l, n), programme: p}
			look(h)
			missing = h.missing
			return &loyalty.Writes{}, h.err
		})
		if err != nil || len(missing) == 0 {
			return err
		}
		t.more = append(t.more, missing...)
	}
	return errors.New("a condition on the past asks for more and more")
}

// Customer opens a customer, or the one whom they became part of; nil: there is none, or
// more must be loaded first.
func (h *Hindsight) Customer(n loyalty.CustomerNeeds) *Run {
	original, known := h.accounts[n.ID]
	if !known {
		return nil
	}
	a, err := h.survivor(original, n)
	if h.Lacks(err) {
		return nil
	}
	return h.openRun(h.programme, a, &work{})
}

// Lacks notes what must be loaded, and says whether there was an error. One that is
// none of the store's is of what the past left behind: the condition does not hold.
func (h *Hindsight) Lacks(err error) bool {
	var w *NeedMoreError
	switch {
	case errors.As(err, &w):
		h.missing = append(append(h.missing, w.needs), w.more...)
	case errors.Is(err, loyalty.ErrBatchConflict):
		h.err = err
	}
	return err != nil
}

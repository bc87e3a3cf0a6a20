package engine

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// submitTime limits how long a caller waits, including for earlier batches: a database that does not answer must not
// hold callers for ever.
const submitTime = 10 * time.Second

// waiting is a ticket in a queue. Either a worker takes it or its caller leaves first, never both: a caller that was
// told that nothing was done may be sending the event again.
type waiting struct {
	*Ticket
	ctx     context.Context
	claimed *atomic.Bool
}

// join adds the ticket to a batch, unless its caller has left.
func (w waiting) join(tickets []*Ticket) []*Ticket {
	if w.ctx.Err() != nil || !w.claimed.CompareAndSwap(false, true) {
		return tickets
	}
	return append(tickets, w.Ticket)
}

// enqueue passes a ticket to the worker of its customer and waits for the result.
func (e *Engine) enqueue(ctx context.Context, t *Ticket) (loyalty.Outcome, error) {
	var late <-chan time.Time // a context with its own deadline would cost more than the rest of this function
	if _, bounded := ctx.Deadline(); !bounded {
		timer := submitTimers.Get().(*time.Timer)
		timer.Reset(submitTime)
		defer func() {
			timer.Stop()
			submitTimers.Put(timer)
		}()
		late = timer.C
	}

	e.follow(ctx, t)
	t.done = make(chan struct{})
	w := waiting{t, ctx, &t.claimed}
	if err := e.send(ctx, w, late); err != nil {
		return loyalty.Outcome{}, err
	}

	ended := context.DeadlineExceeded
	select {
	case <-t.done:
		if t.caller != nil {
			e.tracer.Decided(t.caller, &t.result.Outcome)
		}
		return t.result.Outcome, t.result.Err
	case <-late:
	case <-ctx.Done():
		ended = ctx.Err()
	}

	if w.claimed.CompareAndSwap(false, true) {
		return loyalty.Outcome{}, loyalty.ErrUnavailable.Because(ended)
	}

	return loyalty.Outcome{}, loyalty.ErrUnconfirmed.Because(ended)
}

// submitTimers are stopped timers, to be used again.
var submitTimers = sync.Pool{New: func() any {
	timer := time.NewTimer(submitTime)
	timer.Stop()
	return timer
}}

// send puts a ticket into the queue of its customer, chosen by the submitted name: events of one customer meet in one
// batch, in order, instead of conflicting in several. It waits until ctx ends or late fires; late may be nil.
func (e *Engine) send(ctx context.Context, w waiting, late <-chan time.Time) error {
	release, err := e.hold()
	if err != nil {
		return err
	}
	defer release()

	queue := e.heavy
	if !w.sub.Heavy() {
		queue = e.lanes[maphash.String(e.seed, w.needs.Ref.Value)%uint64(len(e.lanes))].queue
	}

	select {
	case queue <- w:
		return nil
	case <-late:
		return loyalty.ErrUnavailable.Because(context.DeadlineExceeded)
	case <-ctx.Done():
		return loyalty.ErrUnavailable.Because(ctx.Err())
	}
}

// maxHeavy is how many heavy submissions may wait.
const maxHeavy = 64

// work decides the batches of a lane one after the other, beside the lane's other workers.
func (e *Engine) work(l *lane) {
	for f := l.take(); f != nil; f = l.take() {
		light, split := l.queue != e.heavy, false
		for _, t := range f.tickets {
			t.movable = light
		}

		began := time.Now()
		tickets := e.serve(f.tickets, &split)
		e.ended(tickets)
		ended := time.Now()
		took := ended.Sub(began)
		others := l.land(f, tickets, split, took)
		if light {
			e.load.note(len(tickets), others, ended.Add(-took/time.Duration(l.overlap)), ended)
		}

		for _, t := range tickets {
			close(t.done)
		}
	}
}

// serve decides tickets and returns those that now have their result. Tickets that turn out to be large move to the
// worker of the heavy queue. If a load exceeds what other callers should wait for (ErrMuch), the error does not tell
// which submission had the many rows, so the two halves are tried separately, and split is set.
func (e *Engine) serve(tickets []*Ticket, split *bool) []*Ticket {
	err := e.process(context.Background(), tickets)
	switch much := errors.Is(err, loyalty.ErrMuch); {
	case much && len(tickets) > 1:
		*split = true
		half := len(tickets) / 2
		return append(e.serve(tickets[:half:half], split), e.serve(tickets[half:], split)...)
	case much:
		tickets[0].large, tickets[0].movable = true, false
	case !errors.Is(err, errLarge):
		return tickets
	}

	tickets = e.move(tickets)
	_ = e.process(context.Background(), tickets)
	return tickets
}

// nextRoom is how many submissions the next batch takes after one of a given size. After a split it is half: if every
// customer has many rows to load, the next batch would have to be split, too, and what was loaded for it would be
// wasted. Then it grows again step by step.
func nextRoom(room, size, most int, split bool) int {
	if split {
		return max(1, size/2)
	}
	if size < room {
		return room
	}
	return min(most, room+room/8+1)
}

// ended reports the results of tickets to the observer.
func (e *Engine) ended(tickets []*Ticket) {
	for _, t := range tickets {
		if !errors.Is(t.result.Err, errItemDone) { // counted when the item was done
			e.observer.Ended(t.sub.Action, &t.result)
		}
	}
}

// Waiting returns how many submissions wait for a worker, light and heavy.
func (e *Engine) Waiting() (light, heavy int) {
	for _, l := range e.lanes {
		light += l.waiting()
	}
	return light, len(e.heavy)
}

// largePurchase is the number of lines from which a purchase counts as a heavy submission: a request of a few words can
// accept, change or take back thousands of lines.
const largePurchase = 250

// errLarge ends the first attempt of a batch in a lane before it decides, because some of its submissions belong to the
// worker of the heavy ones.
var errLarge = errors.New("a submission touches a large purchase")

// findLarge marks the movable tickets whose customers have a large purchase among their loaded rows, because the ticket
// names it or because it is due. A ticket can be moved once.
func findLarge(tickets []*Ticket, l *loyalty.Loaded) (found bool) {
	for _, t := range tickets {
		if !t.movable {
			continue
		}

		t.movable = false
		id := t.needs.ID
		if id == (loyalty.ID{}) {
			id = l.Names[t.needs.Ref]
		}

		if c := l.Customers[id]; c != nil {
			for _, p := range c.Transactions {
				t.large = t.large || len(p.Detail.Items) >= largePurchase
			}
		}

		found = found || t.large
	}

	return found
}

// move passes the large tickets to the worker of the heavy submissions and returns the others. If that worker's queue
// is full, or the engine is closing, they stay. Their callers can no longer leave, because deciding them has begun.
func (e *Engine) move(tickets []*Ticket) (stay []*Ticket) {
	release, err := e.hold()
	if err == nil {
		defer release()
	}

	for _, t := range tickets {
		if err == nil && t.large {
			select {
			case e.heavy <- waiting{t, context.Background(), new(atomic.Bool)}:
				continue
			default:
			}
		}
		stay = append(stay, t)
	}

	return stay
}

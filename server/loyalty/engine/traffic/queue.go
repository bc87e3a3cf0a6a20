package traffic

import (
	"context"
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

// Submit passes a ticket to the worker of its customer and waits for the result. If ctx ends first, or there is no
// result after submitTime, it fails with ErrUnavailable if nothing was done and nothing will be, and with
// ErrUnconfirmed if the event may still be committed.
func (d *Dispatcher) Submit(ctx context.Context, t *Ticket) (loyalty.Outcome, error) {
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

	d.Follow(ctx, t)
	t.done = make(chan struct{})
	w := waiting{t, ctx, &t.claimed}
	if err := d.send(ctx, w, late); err != nil {
		return loyalty.Outcome{}, err
	}

	ended := context.DeadlineExceeded
	select {
	case <-t.done:
		if t.caller != nil {
			d.tracer.Decided(t.caller, &t.Result.Outcome)
		}
		return t.Result.Outcome, t.Result.Err
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
func (d *Dispatcher) send(ctx context.Context, w waiting, late <-chan time.Time) error {
	release, err := d.Hold()
	if err != nil {
		return err
	}
	defer release()

	queue := d.heavy
	if !w.Heavy {
		queue = d.lanes[maphash.String(d.seed, w.Needs.Ref.Value)%uint64(len(d.lanes))].queue
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
func (d *Dispatcher) work(l *lane) {
	for f := l.take(); f != nil; f = l.take() {
		light := l.queue != d.heavy
		for _, t := range f.tickets {
			t.movable = light
		}

		began := time.Now()
		_ = d.commit(context.Background(), f, f.tickets) // the tickets have it
		tickets := f.decided()
		d.rules.Ended(tickets)
		ended := time.Now()
		took := ended.Sub(began)
		others := l.land(f, took)
		if light {
			d.load.note(len(tickets), others, ended.Add(-took/time.Duration(l.overlap)), ended)
		}

		for _, t := range tickets {
			close(t.done)
		}
	}
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

// Waiting returns how many submissions wait for a worker, light and heavy.
func (d *Dispatcher) Waiting() (light, heavy int) {
	for _, l := range d.lanes {
		light += l.waiting()
	}
	return light, len(d.heavy)
}

// largePurchase is the number of lines from which a purchase counts as a heavy submission: a request of a few words can
// accept, change or take back thousands of lines.
const largePurchase = 250

// findLarge marks the movable tickets whose customers have a large purchase among their loaded rows, because the ticket
// names it or because it is due. A ticket can be moved once.
func findLarge(tickets []*Ticket, l *loyalty.Loaded) (found bool) {
	for _, t := range tickets {
		if !t.movable {
			continue
		}

		t.movable = false
		id := t.Needs.ID
		if id == (loyalty.ID{}) {
			id = l.Names[t.Needs.Ref]
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

// stay keeps tickets with the worker that they have.
func stay(tickets []*Ticket) {
	for _, t := range tickets {
		t.movable = false
	}
}

// move passes the large tickets to the worker of the heavy submissions and returns the others. A single ticket whose
// rows are too many counts as large. If that worker's queue is full, or the engine is closing, they stay. Their callers
// can no longer leave, because deciding them has begun.
func (d *Dispatcher) move(f *flight, tickets []*Ticket) (rest []*Ticket) {
	if len(tickets) == 1 {
		tickets[0].large, tickets[0].movable = true, false
	}

	release, err := d.Hold()
	if err == nil {
		defer release()
	}

	for _, t := range tickets {
		if err == nil && t.large {
			select {
			case d.heavy <- waiting{t, context.Background(), new(atomic.Bool)}:
				f.moved = append(f.moved, t)
				continue
			default:
			}
		}
		rest = append(rest, t)
	}

	return rest
}

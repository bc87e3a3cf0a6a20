package loyalty

import (
	"context"
	"hash/maphash"
	"sync/atomic"
	"time"
)

// submitTime bounds how long a caller waits, also for the batches before its own:
// a database that says nothing must not hold on to callers.
const submitTime = 10 * time.Second

// waiting is a ticket in a queue. Either a worker takes it, or its caller leaves first:
// who was told that nothing came of it may be asking again.
type waiting struct {
	*ticket
	ctx     context.Context
	claimed *atomic.Bool
}

// join adds the ticket to a batch, unless its caller has left.
func (w waiting) join(tickets []*ticket) []*ticket {
	if w.ctx.Err() != nil || !w.claimed.CompareAndSwap(false, true) {
		return tickets
	}
	return append(tickets, w.ticket)
}

// enqueue hands a ticket to the worker of its customer and waits.
func (e *Engine) enqueue(ctx context.Context, t *ticket) (Outcome, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, submitTime)
		defer cancel()
	}
	t.done = make(chan struct{})
	w := waiting{t, ctx, new(atomic.Bool)}
	if err := e.send(ctx, w); err != nil {
		return Outcome{}, err
	}
	select {
	case <-t.done:
		return t.result.Outcome, t.result.Err
	case <-ctx.Done():
	}
	if w.claimed.CompareAndSwap(false, true) {
		return Outcome{}, ErrUnavailable.Because(ctx.Err())
	}
	return Outcome{}, ErrUnconfirmed.Because(ctx.Err())
}

func (e *Engine) send(ctx context.Context, w waiting) error {
	release, err := e.hold()
	if err != nil {
		return err
	}
	defer release()
	queue := e.queues[maphash.String(e.seed, w.needs.Ref.Value)%uint64(len(e.queues))]
	if w.sub.heavy() {
		queue = e.heavy
	}
	select {
	case queue <- w:
		return nil
	case <-ctx.Done():
		return ErrUnavailable.Because(ctx.Err())
	}
}

// maxHeavy is how many heavy submissions may wait.
const maxHeavy = 64

// heavyData is the size of the data, in bytes, from which a submission is decided on
// a worker of its own: those of other callers, which take a millisecond, do not wait
// for the thousands of lines of one purchase.
const heavyData = 32 << 10

func (s *Submission) heavy() bool { return len(s.Data) >= heavyData }

// work takes what waits, up to a batch, again and again.
func (e *Engine) work(queue chan waiting, most int) {
	for first := range queue {
		tickets := first.join(make([]*ticket, 0, most))
	more:
		for len(tickets) < most {
			select {
			case next, ok := <-queue:
				if !ok {
					break more
				}
				tickets = next.join(tickets)
			default:
				break more
			}
		}
		if len(tickets) > 0 {
			_ = e.process(context.Background(), tickets) // each ticket has its result
		}
		for _, t := range tickets {
			close(t.done)
		}
	}
}

package engine

import (
	"sync/atomic"
	"time"
)

// crowd estimates how many callers a worker serves. Callers who each send one submission after the other drift into two
// halves, one of which waits while the other is committed: twice as many commits as are needed, each of which costs as
// much as ten events. So a worker that has just answered some callers waits a moment for them to come back, but never
// longer than half of what a commit takes. If they do not come back, it gives up waiting for longer and longer.
type crowd struct {
	callers int           // answered last, and waiting then
	takes   time.Duration // a batch, lately
	skip    int           // batches for which there is no waiting
	useless int           // times in a row that waiting brought too little
	timer   *time.Timer   // nil: there was no waiting yet
}

const (
	worthwhile  = 4                // callers at least, who are waited for
	enough      = 24               // submissions for which the cost of a commit does not matter any more
	longestWait = time.Millisecond // for the callers of one batch
	mostUseless = 8                // after 2⁸ batches it is tried again
)

// answered notes a finished batch: its size, how many waited at its end, and how long it took.
func (c *crowd) answered(size, waiting int, took time.Duration) {
	c.callers = size + waiting
	c.takes += (took - c.takes) / 8
}

// gather adds to a batch what waits in the queue, and the callers who are worth waiting for. join adds one to the batch
// and returns the batch's new size.
func gather[W any](c *crowd, queue <-chan W, size, most int, join func(W) int) {
	size = takeWaiting(queue, size, most, join)
	wanted := min(c.callers, enough, most)
	if size >= wanted || c.callers < worthwhile {
		return
	}
	if c.skip > 0 {
		c.skip--
		return
	}
	came := await(c, queue, size, wanted, join)
	if 2*(came-size) >= wanted-size {
		c.useless = 0
	} else {
		c.useless = min(c.useless+1, mostUseless)
		c.skip = 1 << c.useless
	}
	takeWaiting(queue, came, most, join)
}

// await adds what arrives until the batch has the wanted size or the time is over.
func await[W any](c *crowd, queue <-chan W, size, wanted int, join func(W) int) int {
	if c.timer == nil {
		c.timer = time.NewTimer(longestWait)
	}
	c.timer.Reset(min(longestWait, c.takes/2))
	defer c.timer.Stop()
	for size < wanted {
		select {
		case next, ok := <-queue:
			if !ok {
				return size
			}
			size = join(next)
		case <-c.timer.C:
			return size
		}
	}
	return size
}

// takeWaiting adds what waits now, without waiting for more.
func takeWaiting[W any](queue <-chan W, size, most int, join func(W) int) int {
	for size < most {
		select {
		case next, ok := <-queue:
			if !ok {
				return size
			}
			size = join(next)
		default:
			return size
		}
	}
	return size
}

// seen is how many callers the last batch had, answered and waiting, for whoever lets them
// go first.
type seen struct{ callers, at atomic.Int64 }

// latelyIs is for how long a batch tells anything about the callers that there are.
const latelyIs = 250 * time.Millisecond

func (s *seen) note(callers int) {
	s.callers.Store(int64(callers))
	s.at.Store(time.Now().UnixNano())
}

// Callers is how many callers have submissions in work: those of the last batch, unless it
// was some time ago, or those who wait for the next one, whichever are more. Heavy
// submissions do not count.
func (e *Engine) Callers() int {
	waiting, _ := e.Waiting()
	if time.Since(time.Unix(0, e.seen.at.Load())) > latelyIs {
		return waiting
	}
	return max(waiting, int(e.seen.callers.Load()))
}

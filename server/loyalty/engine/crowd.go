package engine

import (
	"sync"
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

// seen is what the batches of the last while tell of the callers that there are, for
// whoever lets them go first.
type seen struct {
	mu        sync.Mutex
	last      time.Time // when the last batch ended
	callers   int       // of it, answered and waiting
	since     time.Time // when the count of these began
	batches   int
	present   int // callers, of all these batches
	events    int
	busy      time.Duration
	unresting bool // in the count before
}

// A crowd is so many callers in a batch, or a worker that is busy for most of the time, either with so
// many submissions a second (where a commit takes no time, batches are small) or with several callers
// at a time (where the processors are what everybody waits for, callers come to few batches together).
const (
	crowdCallers = 12
	crowdSeveral = 4
	crowdRate    = 1000
	crowdShare   = 0.7
	crowdWhile   = 250 * time.Millisecond
)

// note hears of a batch of some size, with so many waiting when it ended.
func (s *seen) note(size, waiting int, began, ended time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ended.Sub(s.last) > crowdWhile {
		s.since, s.batches, s.present, s.events, s.busy, s.unresting = began, 0, 0, 0, 0, false
	}
	s.last, s.callers = ended, size+waiting
	s.batches++
	s.present += s.callers
	s.events += size
	s.busy += ended.Sub(began)
	if past := ended.Sub(s.since); past >= crowdWhile {
		many := float64(s.events) >= crowdRate*past.Seconds() || s.present >= crowdSeveral*s.batches
		s.unresting = many && s.busy.Seconds() >= crowdShare*past.Seconds()
		s.since, s.batches, s.present, s.events, s.busy = ended, 0, 0, 0, 0
	}
}

// crowd says whether there is one at some time.
func (s *seen) crowd(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.last) <= crowdWhile && (s.callers >= crowdCallers || s.unresting)
}

// Crowded says whether callers come as fast as they can be served, or as many at a time as
// make a crowd. Heavy submissions do not count.
func (e *Engine) Crowded() bool {
	waiting, _ := e.Waiting()
	return waiting >= crowdCallers || e.seen.crowd(time.Now())
}

package engine

import (
	"sync"
	"time"
)

// crowd estimates how many callers a worker serves. Callers that each send one submission after the other drift into
// two halves, of which one waits while the other is committed: twice as many commits as needed, and a commit costs as
// much as ten events. So a worker that has just answered some callers waits a moment for them to come back, but never
// longer than half of what a commit takes. If they do not come back, it skips the waiting for more and more batches.
type crowd struct {
	callers int           // answered by the last batch, and waiting at its end
	takes   time.Duration // average of recent batches
	skip    int           // batches without waiting
	useless int           // times in a row that waiting brought too few callers
	timer   *time.Timer   // nil: it has not waited yet
}

const (
	worthwhile  = 4                // callers at least, or waiting does not pay
	enough      = 24               // submissions among which the cost of a commit no longer matters
	longestWait = time.Millisecond // for the callers of one batch
	mostUseless = 8                // waiting is tried again after 2⁸ batches
)

// gather fills a batch from the queue, and waits for the callers that are worth waiting for. join adds one submission
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

// takeWaiting adds what is in the queue now, without waiting for more.
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

// callerLoad measures how busy recent batches were. Background work asks it to let callers go first.
type callerLoad struct {
	mu        sync.Mutex
	last      time.Time // when the last batch ended
	callers   int       // answered by that batch or waiting at its end
	since     time.Time // when the current count began
	batches   int
	present   int // callers, summed over these batches
	events    int
	busy      time.Duration
	unresting bool // in the previous count
}

// When there is a crowd. Either a batch had crowdCallers callers, or the worker has been busy for crowdShare of the
// time with one of two loads: crowdRate submissions a second (where commits are fast, batches stay small), or
// crowdSeveral callers at a time (where the processors are the bottleneck, callers spread over several batches).
const (
	crowdCallers = 12
	crowdSeveral = 4
	crowdRate    = 1000
	crowdShare   = 0.7
	crowdWhile   = 250 * time.Millisecond
)

// note records a batch of a size, and how many submissions waited when it ended.
func (s *callerLoad) note(size, waiting int, began, ended time.Time) {
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

// crowd reports whether there is a crowd at an instant.
func (s *callerLoad) crowd(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.last) <= crowdWhile && (s.callers >= crowdCallers || s.unresting)
}

// Crowded reports whether callers come as fast as they can be served, or so many at a time that they are a crowd. Heavy
// submissions do not count.
func (e *Engine) Crowded() bool {
	waiting, _ := e.Waiting()
	return waiting >= crowdCallers || e.load.crowd(time.Now())
}

package traffic

import "time"

// callerWait decides for how long a worker waits for callers. Callers that each send one submission after the other
// drift into two halves, of which one waits while the other is committed: twice as many commits as needed, and a commit
// costs as much as ten events. So a worker that has just answered some callers waits a moment for them to come back,
// but never longer than half of what a commit takes. If they do not come back, it skips the waiting for more and more
// batches.
type callerWait struct {
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
func gather[W any](c *callerWait, queue <-chan W, size, most int, join func(W) int) {
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
func await[W any](c *callerWait, queue <-chan W, size, wanted int, join func(W) int) int {
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

package webhook

import (
	"context"
	"sync"
	"time"
)

// For how many times as long as it took a transaction of the deliverer leaves the database to
// a crowd of callers, and for how long at most; for how long one waits for its turn at most, so
// that something is sent whatever goes on, and long before the leases of what was sent are over.
const (
	restFor     = 49
	longestRest = time.Second
	longestWait = 10 * time.Second
	askAgain    = 10 * time.Millisecond
)

// yielding lets callers go before what is told of their events: a crowd of them fills
// processors and database, and what ten addresses are told of an event costs more than the
// event did. Then the transactions of all webhooks of this node come one after the other, with
// a rest behind each. Events that are told later for it are in the feed all the same.
type yielding struct {
	crowded func() bool // nil: nobody is asked

	mu    sync.Mutex
	busy  bool
	until time.Time // of the rest
}

// turn runs a transaction, when its turn has come.
func (y *yielding) turn(ctx context.Context, sleep func(context.Context, time.Duration), work func() error) error {
	for began := time.Now(); y.crowd() && ctx.Err() == nil; {
		if y.begin() {
			took := time.Now()
			defer func() { y.end(time.Since(took)) }()
			break
		}
		if time.Since(began) > longestWait {
			break
		}
		sleep(ctx, askAgain)
	}
	return work()
}

// crowd says whether callers go first.
func (y *yielding) crowd() bool { return y.crowded != nil && y.crowded() }

// begin takes the turn, if it is nobody's.
func (y *yielding) begin() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.busy || time.Now().Before(y.until) {
		return false
	}
	y.busy = true
	return true
}

// end gives it back.
func (y *yielding) end(took time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.busy, y.until = false, time.Now().Add(min(restFor*took, longestRest))
}

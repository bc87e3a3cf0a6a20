package webhook

import (
	"context"
	"sync"
	"time"
)

// Limits of the deliverer while a crowd of callers is served. After a transaction it rests restFor times the duration
// of the transaction, at most longestRest. A transaction waits for its turn at most longestWait, so that something is
// always sent, and long before the leases of sent messages end.
const (
	restFor     = 49
	longestRest = time.Second
	longestWait = 10 * time.Second
	askAgain    = 10 * time.Millisecond
)

// yielding lets callers go before webhooks. A crowd of callers fills processors and database, and ten deliveries of an
// event cost more than the event did. While there is a crowd, the transactions of all webhooks of this node therefore
// run one after the other, with a rest after each. Delayed events stay in the feed.
type yielding struct {
	crowded func() bool // nil: callers are not considered

	mu    sync.Mutex
	busy  bool
	until time.Time // the end of the rest
}

// turn runs a transaction when its turn has come.
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

// crowd reports whether callers go first.
func (y *yielding) crowd() bool { return y.crowded != nil && y.crowded() }

// begin takes the turn if it is free and the rest is over.
func (y *yielding) begin() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.busy || time.Now().Before(y.until) {
		return false
	}
	y.busy = true
	return true
}

// end gives the turn back and begins the rest.
func (y *yielding) end(took time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.busy, y.until = false, time.Now().Add(min(restFor*took, longestRest))
}

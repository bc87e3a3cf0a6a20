package server

import (
	"context"
	"runtime"
	"sync"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// bulkPath is the operation that records many events.
const bulkPath = "/events/bulk"

// How many requests that may take long are in work at once, and how many more wait
// for their turn. What one of them takes, in memory and time, is bounded; together
// they are bounded here.
const (
	previewsWaiting             = 64
	lightWaiting                = 512 // of previews up to lightBody
	bulksAtOnce, bulksWaiting   = 4, 32
	totalsAtOnce, totalsWaiting = 2, 64
	largeWaiting                = 64    // of more than largeBody, of other operations
	partsAtOnce, partsWaiting   = 1, 63 // of files: each is a write of up to a megabyte, which on SQLite all writes wait for
)

// previewsAtOnce leaves half of the processors to others.
func previewsAtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// lightAtOnce is the size of the gate for what a till or a cart sends: such a request waits for the
// database most of its time, and would wait for its neighbours as well.
func lightAtOnce() int { return 4 * runtime.GOMAXPROCS(0) }

// largeAtOnce is more: a large body that is recorded waits for the database most of its time.
func largeAtOnce() int { return max(2, runtime.GOMAXPROCS(0)) }

// largeBody is how many bytes can be read and checked while others wait; lightBody is more
// than what a till sends of a purchase of some dozens of lines.
const (
	largeBody = 64 << 10
	lightBody = 8 << 10
)

// gate lets a few requests of a kind work at once. One access key has half of its
// places at most, those who wait included, so that others come in.
type gate struct {
	slots chan struct{}
	most  int // of one key

	mu     sync.Mutex
	inside map[string]int // by key, at work or waiting
	count  int
	room   int
}

func newGate(slots, waiting int) *gate {
	return &gate{slots: make(chan struct{}, slots), most: (slots + waiting) / 2, inside: map[string]int{}, room: slots + waiting}
}

// enter waits for a slot. It fails with errBusy where too many wait already, and with
// ErrUnavailable when ctx ends first.
func (g *gate) enter(ctx context.Context, key string) (leave func(), err error) {
	if !g.join(key) {
		return nil, errBusy
	}
	select {
	case g.slots <- struct{}{}:
		return func() { <-g.slots; g.part(key) }, nil
	case <-ctx.Done():
		g.part(key)
		return nil, loyalty.ErrUnavailable.Because(ctx.Err())
	}
}

func (g *gate) join(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.count >= g.room || g.inside[key] >= g.most {
		return false
	}
	g.count++
	g.inside[key]++
	return true
}

func (g *gate) part(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count--
	if g.inside[key]--; g.inside[key] == 0 {
		delete(g.inside, key)
	}
}

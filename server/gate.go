package server

import (
	"context"
	"runtime"
	"sync"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// bulkPath is the operation that records many events.
const bulkPath = "/events/bulk"

// How many long requests run at once, and how many more wait for their turn. The memory and time of each is bounded;
// these numbers bound all of them together.
const (
	previewsWaiting             = 64
	lightWaiting                = 512 // previews up to lightBody
	bulksAtOnce, bulksWaiting   = 4, 32
	totalsAtOnce, totalsWaiting = 2, 64
	largeWaiting                = 64    // requests above largeBody, of other operations
	partsAtOnce, partsWaiting   = 1, 63 // parts of files: large writes, which block all others on SQLite
)

// previewsAtOnce leaves half of the processors to other requests.
func previewsAtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// lightAtOnce is the size of the gate for the requests of a till or a cart. They mostly wait for the database, and
// should not also wait for each other.
func lightAtOnce() int { return 4 * runtime.GOMAXPROCS(0) }

// largeAtOnce is larger than previewsAtOnce: a large body that is recorded mostly waits for the database.
func largeAtOnce() int { return max(2, runtime.GOMAXPROCS(0)) }

// largeBody is how many bytes can be read and checked while others wait; lightBody is more than a till sends for a
// purchase of some dozens of lines.
const (
	largeBody = 64 << 10
	lightBody = 8 << 10
)

// gate lets a few requests of a kind run at once. One access key may have at most half of its places, including waiting
// requests, so that others come in.
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

// enter waits for a slot. It fails with errBusy if too many wait already, and with ErrUnavailable if ctx ends first.
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

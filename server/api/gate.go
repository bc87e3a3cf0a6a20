package api

import (
	"context"
	"runtime"
	"sync"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// BulkPath is the operation that records many events.
const BulkPath = "/events/bulk"

// How many long requests run at once, and how many more wait for their turn. The memory and time of each is bounded;
// these numbers bound all of them together.
const (
	PreviewsWaiting             = 64
	LightWaiting                = 512 // previews up to LightBody
	BulksAtOnce, BulksWaiting   = 4, 32
	TotalsAtOnce, TotalsWaiting = 2, 64
	LargeWaiting                = 64    // requests above LargeBody, of other operations
	PartsAtOnce, PartsWaiting   = 1, 63 // parts of files: large writes, which block all others on SQLite
)

// PreviewsAtOnce leaves half of the processors to other requests.
func PreviewsAtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// LightAtOnce is the size of the gate for the requests of a till or a cart. They mostly wait for the database, and
// should not also wait for each other.
func LightAtOnce() int { return 4 * runtime.GOMAXPROCS(0) }

// LargeAtOnce is larger than PreviewsAtOnce: a large body that is recorded mostly waits for the database.
func LargeAtOnce() int { return max(2, runtime.GOMAXPROCS(0)) }

// LargeBody is how many bytes can be read and checked while others wait; LightBody is more than a till sends for a
// purchase of some dozens of lines.
const (
	LargeBody = 64 << 10
	LightBody = 8 << 10
)

// Gate lets a few requests of a kind run at once. One access key may have at most half of its places, including waiting
// requests, so that others come in.
type Gate struct {
	slots chan struct{}
	most  int // of one key

	mu     sync.Mutex
	inside map[string]int // by key, at work or waiting
	count  int
	room   int
}

// NewGate makes a gate that lets so many requests work, and so many more wait.
func NewGate(slots, waiting int) *Gate {
	return &Gate{slots: make(chan struct{}, slots), most: (slots + waiting) / 2,
		inside: map[string]int{}, room: slots + waiting}
}

// Enter waits for a slot. It fails with ErrBusy if too many wait already, and with ErrUnavailable if ctx ends first.
func (g *Gate) Enter(ctx context.Context, key string) (leave func(), err error) {
	if !g.join(key) {
		return nil, ErrBusy
	}
	select {
	case g.slots <- struct{}{}:
		return func() { <-g.slots; g.part(key) }, nil
	case <-ctx.Done():
		g.part(key)
		return nil, loyalty.ErrUnavailable.Because(ctx.Err())
	}
}

func (g *Gate) join(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.count >= g.room || g.inside[key] >= g.most {
		return false
	}
	g.count++
	g.inside[key]++
	return true
}

func (g *Gate) part(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count--
	if g.inside[key]--; g.inside[key] == 0 {
		delete(g.inside, key)
	}
}

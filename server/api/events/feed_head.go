package events

import (
	"context"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// How often the database is asked for the head of the feed while a caller waits for it, and how long it may take to
// answer.
const (
	headEvery = 100 * time.Millisecond
	headTime  = 5 * time.Second
)

// nudgeEvery limits how often this node numbers an event at once because a reader waits for it. On a busier node the
// regular numbering comes soon enough.
const nudgeEvery = 250 * time.Millisecond

// feedHead wakes callers at the end of the feed when more events follow. It asks the database once for all of them, and
// never without waiting callers.
type feedHead struct {
	reader loyalty.FeedReader

	mu      sync.Mutex
	head    int64
	moved   chan struct{} // closed when head grows
	waiting int
	asking  bool
	nudged  time.Time // when an event was last numbered for waiting callers; only for ask and rest
}

// NewFeedHead follows the last number of the feed for all readers of this node.
func NewFeedHead(reader loyalty.FeedReader) *feedHead {
	return &feedHead{reader: reader, moved: make(chan struct{})}
}

// wait waits until the head is behind a number, ctx or stopping ends, or the time is over.
func (h *feedHead) wait(ctx context.Context, stopping <-chan struct{}, after int64, most time.Duration) {
	over := time.NewTimer(most)
	defer over.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting++
	defer func() { h.waiting-- }()
	if !h.asking {
		h.asking = true
		go h.ask()
	}

	for h.head <= after {
		moved := h.moved
		h.mu.Unlock()
		ended := false
		select {
		case <-moved:
		case <-ctx.Done():
			ended = true
		case <-stopping:
			ended = true
		case <-over.C:
			ended = true
		}

		h.mu.Lock()
		if ended {
			return
		}
	}
}

// ask polls the head as long as a caller waits. If the database cannot be asked, it tries again; callers find out when
// they read.
func (h *feedHead) ask() {
	for {
		h.mu.Lock()
		if h.waiting == 0 {
			h.asking = false
			h.mu.Unlock()
			return
		}

		h.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), headTime)
		s, err := h.reader.TailState(ctx)
		cancel()
		if err == nil {
			h.mu.Lock()
			if s.Head > h.head {
				h.head = s.Head
				close(h.moved)
				h.moved = make(chan struct{})
			}
			h.mu.Unlock()
		}

		h.rest()
	}
}

// rest waits until the next poll: not at all if this node committed events, which it numbers first. The regular
// numbering finds any failure of that.
func (h *feedHead) rest() {
	over := time.NewTimer(headEvery)
	defer over.Stop()
	committed := h.reader.Committed()
	if time.Since(h.nudged) < nudgeEvery {
		committed = nil
	}

	select {
	case <-over.C:
	case <-committed:
		h.nudged = time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), headTime)
		defer cancel()
		_ = h.reader.NumberOwn(ctx)
	}
}

package user

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bounds of the hashes in work. How long one waits follows from them: a sign-in that would
// wait longer is told to come back.
const (
	roomSize    = 64 << 20 // bytes that all hashes take together, with what they left
	mostWaiting = 32
	longestWait = 10 * time.Second
)

// ErrBusy says that more sign-ins are in work than the server takes at once.
var ErrBusy = errors.New("too many sign-ins at once; wait")

// room bounds the memory of hashes. Argon2 takes its memory from the heap and leaves it to
// the collector, which under GOGC=400 lets many times of it pile up: so the memory of a
// run counts as taken until a collection has found it.
type room struct {
	memory  *semaphore.Weighted
	waiting atomic.Int64
}

func newRoom() *room { return &room{memory: semaphore.NewWeighted(roomSize)} }

// use runs do, which leaves so many bytes, when there is room for them; one that takes
// more than all runs alone. It fails with ErrBusy.
func (r *room) use(ctx context.Context, bytes int64, do func()) error {
	bytes = min(bytes, roomSize)
	if !r.memory.TryAcquire(bytes) {
		if err := r.wait(ctx, bytes); err != nil {
			return err
		}
	}
	defer func() {
		go func() { // the answer does not wait for it; those that come together share a collection
			runtime.GC()
			r.memory.Release(bytes)
		}()
	}()
	do()
	return nil
}

// wait takes memory for one hash, or says that there are too many before it. A flood of sign-ins
// is told at once that it must wait: a line without an end would hold memory of its own.
func (r *room) wait(ctx context.Context, bytes int64) error {
	defer r.waiting.Add(-1)
	if r.waiting.Add(1) > mostWaiting {
		return ErrBusy
	}
	limited, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	err := r.memory.Acquire(limited, bytes)
	if err != nil && ctx.Err() == nil {
		return ErrBusy
	}
	return err
}

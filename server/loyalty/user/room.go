package user

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits of the hashes being computed. They bound the waiting time: a sign-in that would wait longer is refused and may
// be repeated.
const (
	roomSize    = 64 << 20 // bytes that all hashes take together, uncollected garbage included
	mostWaiting = 32
	longestHash = 10 * time.Second
)

// ErrBusy is the failure of a sign-in when more are waiting than the server accepts at once.
var ErrBusy = errors.New("too many sign-ins at once; wait")

// room limits the memory of hashes. Argon2 takes its memory from the heap, and the garbage collector frees it late
// under GOGC=400; so the memory of a run counts as taken until a collection has freed it.
type room struct {
	memory  *semaphore.Weighted
	waiting atomic.Int64
}

func newRoom() *room { return &room{memory: semaphore.NewWeighted(roomSize)} }

// use runs do, which takes the given number of bytes, once there is room for them; a function that needs more than the
// limit runs alone. It fails with ErrBusy.
func (r *room) use(ctx context.Context, bytes int64, do func()) error {
	bytes = min(bytes, roomSize)
	if !r.memory.TryAcquire(bytes) {
		if err := r.wait(ctx, bytes); err != nil {
			return err
		}
	}

	defer func() {
		go func() { // the answer does not wait for it; concurrent ones share a collection
			runtime.GC()
			r.memory.Release(bytes)
		}()
	}()

	do()
	return nil
}

// wait takes memory for one hash, or fails at once if too many are waiting, because an unlimited queue would itself
// take memory.
func (r *room) wait(ctx context.Context, bytes int64) error {
	defer r.waiting.Add(-1)
	if r.waiting.Add(1) > mostWaiting {
		return ErrBusy
	}
	limited, cancel := context.WithTimeout(ctx, longestHash)
	defer cancel()
	err := r.memory.Acquire(limited, bytes)
	if err != nil && ctx.Err() == nil {
		return ErrBusy
	}
	return err
}

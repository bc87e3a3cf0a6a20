package user

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heapNow is what the heap takes of the machine, with what waits to be collected.
func heapNow() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() + sample[1].Value.Uint64() + sample[2].Value.Uint64())
}

// TestHashesShareMemory: however many sign in, the memory stays within the room for all of
// them, and they end or are told to come back.
func TestHashesShareMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program sets it
	h := newHasher(present)
	debug.FreeOSMemory()
	before, most, done := heapNow(), atomic.Int64{}, make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				most.Store(max(most.Load(), heapNow()))
				time.Sleep(time.Millisecond)
			}
		}
	}()

	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			for range 2 {
				ok, _, err := h.matches(t.Context(), "wrong horse", "")
				assert.NoError(t, err)
				assert.False(t, ok)
			}
		})
	}

	wait.Wait()
	close(done)
	t.Logf("%d MiB more than before", (most.Load()-before)>>20)
	require.LessOrEqual(t, most.Load()-before, int64(roomSize+32<<20))
}

// TestRoomIsBounded: beyond those who may wait the next is refused at once, who goes away
// leaves the queue, and all of the room comes back.
func TestRoomIsBounded(t *testing.T) {
	r, inside, leave := newRoom(), make(chan struct{}), make(chan struct{})
	go func() {
		_ = r.use(t.Context(), roomSize*2, func() { close(inside); <-leave })
	}()
	<-inside
	ctx, goAway := context.WithCancel(t.Context())
	failed := make(chan error, mostWaiting)
	for range mostWaiting {
		go func() { failed <- r.use(ctx, 1, func() {}) }()
	}

	require.Eventually(t, func() bool { return r.waiting.Load() == mostWaiting }, time.Minute, time.Millisecond)
	require.ErrorIs(t, r.use(t.Context(), 1, func() {}), ErrBusy)
	goAway()
	for range mostWaiting {
		require.ErrorIs(t, <-failed, context.Canceled)
	}

	close(leave)
	require.NoError(t, r.use(t.Context(), roomSize, runtime.Gosched))
	require.Eventually(t, func() bool { return r.memory.TryAcquire(roomSize) }, time.Minute, time.Millisecond)
}

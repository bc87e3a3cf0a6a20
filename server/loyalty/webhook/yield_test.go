package webhook

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pause waits as a Deliverer does.
func pause(_ context.Context, d time.Duration) { time.Sleep(d) }

// TestCallersGoFirst: while a crowd of callers is served, the transactions of all webhooks
// come one after the other, with a rest behind each that is a multiple of what it took.
func TestCallersGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := yielding{crowded: func() bool { return true }}
		const lanes, takes = 10, 5 * time.Millisecond
		began, atOnce, turns := time.Now(), 0, 0
		var all sync.WaitGroup
		for range lanes {
			all.Go(func() {
				for time.Since(began) < 20*time.Second {
					err := y.turn(t.Context(), pause, func() error {
						atOnce++ // the race detector sees it where they are not one after the other
						turns++
						assert.Equal(t, 1, atOnce, "one after the other")
						time.Sleep(takes)
						atOnce--
						return nil
					})
					assert.NoError(t, err)
				}
			})
		}

		all.Wait()
		share := float64(turns) * takes.Seconds() / 20
		require.Less(t, share, 0.025, "%d turns", turns)
		require.Greater(t, share, 0.012, "%d turns", turns)
	})
}

// TestNobodyWaitsForEver: one that takes its time leaves the others no turn; they go after a
// while, crowd or not, so that what was sent is written before its lease is over. Without a
// crowd nothing waits.
func TestNobodyWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crowd := true
		y := yielding{crowded: func() bool { return crowd }}
		nothing := func() error { return nil }
		require.True(t, y.begin())
		began := time.Now()
		require.NoError(t, y.turn(t.Context(), pause, nothing))
		require.InDelta(t, longestWait, time.Since(began), float64(2*askAgain))
		require.Less(t, 2*longestWait, leaseTime)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began = time.Now()
		require.NoError(t, y.turn(ctx, pause, nothing), "what became of messages is written when the program stops")
		crowd = false
		require.NoError(t, y.turn(t.Context(), pause, nothing))
		require.Zero(t, time.Since(began))

		crowd = true
		y.end(time.Hour)
		began = time.Now()
		require.NoError(t, y.turn(t.Context(), pause, nothing))
		require.InDelta(t, longestRest, time.Since(began), float64(2*askAgain))
	})
}

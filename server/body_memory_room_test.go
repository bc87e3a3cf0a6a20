package server

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRoomIsGivenBack: whatever many requests take at once, never more than there
// is, and all of it comes back.
func TestRoomIsGivenBack(t *testing.T) {
	m := newBodyMemory(1000)
	var wait sync.WaitGroup
	for i := range 64 {
		wait.Go(func() {
			for n := range int64(200) {
				share := m.share(i%2 == 0)
				share.take(n)
				share.work(int(n) / 8)
				require.LessOrEqual(t, share.held, share.room.size)
				share.release()
			}
		})
	}

	wait.Wait()
	require.Zero(t, m.known.used.Load())
	require.Zero(t, m.unknown.used.Load())
	require.EqualValues(t, 750, m.known.size)
	unknown := m.share(false)
	require.False(t, unknown.take(251), "unknown callers have a quarter")
}

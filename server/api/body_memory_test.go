package api

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRoomIsGivenBack: whatever many requests take at once, never more than there
// is, and all of it comes back.
func TestRoomIsGivenBack(t *testing.T) {
	m := NewBodyMemory(1000)
	var wait sync.WaitGroup
	for i := range 64 {
		wait.Go(func() {
			for n := range int64(200) {
				share := m.Share(i%2 == 0)
				share.Take(n)
				share.Work(int(n) / 8)
				require.LessOrEqual(t, share.held, share.room.size)
				share.Release()
			}
		})
	}

	wait.Wait()
	require.Zero(t, m.known.used.Load())
	require.Zero(t, m.unknown.used.Load())
	require.EqualValues(t, 750, m.known.size)
	unknown := m.Share(false)
	require.False(t, unknown.Take(251), "unknown callers have a quarter")
}

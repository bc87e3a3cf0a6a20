package api

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestGate: so many work, so many wait, and the next is told to come back; one key
// has half of the places at most, and who goes away frees theirs.
func TestGate(t *testing.T) {
	ctx := context.Background()
	g := NewGate(2, 2)
	first, err := g.Enter(ctx, "a")
	require.NoError(t, err)
	second, err := g.Enter(ctx, "a")
	require.NoError(t, err)
	_, err = g.Enter(ctx, "a")
	require.ErrorIs(t, err, ErrBusy, "half of four")

	entered := make(chan func())
	wait := func(ctx context.Context, key string) {
		leave, err := g.Enter(ctx, key)
		if err != nil {
			leave = nil
		}
		entered <- leave
	}

	gone, leave := context.WithCancel(ctx)
	go wait(ctx, "b")
	go wait(gone, "c")
	require.Eventually(t, func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.count == 4 }, time.Minute, time.Millisecond)
	_, err = g.Enter(ctx, "d")
	require.ErrorIs(t, err, ErrBusy, "all places are taken")
	leave()
	require.Nil(t, <-entered, "the one who went away")
	first()
	third := <-entered
	require.NotNil(t, third)
	second()
	third()
	require.Empty(t, g.inside)
	require.Zero(t, g.count)
	require.Empty(t, g.slots)
}

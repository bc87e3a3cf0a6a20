package api

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// reading is a read that a test lets go on.
type reading struct {
	began   chan string // by whose key
	proceed chan int
	ended   chan error // of a read whose callers have all left
}

func newReading() *reading {
	return &reading{began: make(chan string), proceed: make(chan int), ended: make(chan error, 1)}
}

func (r *reading) read(ctx context.Context, key string) (int, error) {
	r.began <- key
	select {
	case n := <-r.proceed:
		return n, nil
	case <-ctx.Done():
		r.ended <- ctx.Err()
		return 0, ctx.Err()
	}
}

// TestShared: a hundred who ask while a read is under way get the next one, all the same, and
// not the one that began before they asked.
func TestShared(t *testing.T) {
	r := newReading()
	s := Shared[int]{Read: r.read}
	got := make(chan int, 101)
	ask := func(key string) {
		n, err := s.Get(t.Context(), key)
		require.NoError(t, err)
		got <- n
	}

	go ask("first")
	require.Equal(t, "first", <-r.began)
	var asked sync.WaitGroup
	for range 100 {
		asked.Go(func() { ask("later") })
	}

	require.Eventually(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.next != nil && s.next.waiting == 100 }, time.Minute, time.Millisecond)
	r.proceed <- 1
	require.Equal(t, 1, <-got)
	require.Equal(t, "later", <-r.began)
	r.proceed <- 2
	asked.Wait()
	for range 100 {
		require.Equal(t, 2, <-got)
	}

	require.Eventually(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return !s.active }, time.Minute, time.Millisecond)
	go ask("again")
	require.Equal(t, "again", <-r.began, "a read for each who asks when none is under way")
	r.proceed <- 3
	require.Equal(t, 3, <-got)
}

// TestSharedLeft: a caller who goes away waits no more, a read goes on for the others, and ends when no caller waits.
func TestSharedLeft(t *testing.T) {
	r := newReading()
	s := Shared[int]{Read: r.read}
	left := make(chan error, 2)
	ask := func(ctx context.Context) {
		_, err := s.Get(ctx, "a")
		left <- err
	}

	one, leave := context.WithCancel(t.Context())
	go ask(one)
	<-r.began
	two, leaveToo := context.WithCancel(t.Context())
	go ask(two)
	require.Eventually(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.next != nil }, time.Minute, time.Millisecond)
	leaveToo()
	require.ErrorIs(t, <-left, loyalty.ErrUnavailable)
	leave()
	require.ErrorIs(t, <-left, loyalty.ErrUnavailable)
	require.ErrorIs(t, <-r.ended, context.Canceled)
	go ask(t.Context())
	<-r.began // the one that was left before it began was not read
	r.proceed <- 1
	require.NoError(t, <-left)
}

// TestSharedFault: a fault in a read is a failure of those who wait for it, and the next read is made.
func TestSharedFault(t *testing.T) {
	fault := true
	s := Shared[int]{Read: func(context.Context, string) (int, error) {
		if fault {
			panic("broken")
		}
		return 1, nil
	}}
	_, err := s.Get(t.Context(), "a")
	require.ErrorContains(t, err, "broken")
	fault = false
	n, err := s.Get(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

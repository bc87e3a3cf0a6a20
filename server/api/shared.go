package api

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Shared is an expensive read. One read runs at a time, and callers who arrive meanwhile share the next one: it begins
// after they asked, so that its result includes everything committed before.
type Shared[T any] struct {
	Read func(ctx context.Context, key string) (T, error)

	mu     sync.Mutex
	next   *turn[T] // for callers who arrived after the current one began; nil: none
	active bool
}

// turn is one read that any number of callers wait for.
type turn[T any] struct {
	key     string // of the first caller
	ctx     context.Context
	cancel  context.CancelFunc
	waiting int
	done    chan struct{}
	value   T
	err     error
}

// Get reads for the caller with this key, or shares the read of another. It fails with ErrUnavailable if ctx ends
// first. A read is cancelled when its last caller has left.
func (s *Shared[T]) Get(ctx context.Context, key string) (value T, err error) {
	t := s.join(key)
	defer s.part(t)
	select {
	case <-t.done:
		return t.value, t.err
	case <-ctx.Done():
		return value, loyalty.ErrUnavailable.Because(ctx.Err())
	}
}

func (s *Shared[T]) join(key string) *turn[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		ctx, cancel := context.WithCancel(context.Background())
		s.next = &turn[T]{key: key, ctx: ctx, cancel: cancel, done: make(chan struct{})}
	}
	t := s.next
	t.waiting++
	if !s.active {
		s.active = true
		go s.turns()
	}
	return t
}

func (s *Shared[T]) part(t *turn[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.waiting--; t.waiting > 0 {
		return
	}
	t.cancel()
	if s.next == t {
		s.next = nil
	}
}

// turns reads as long as a caller waits.
func (s *Shared[T]) turns() {
	for {
		s.mu.Lock()
		t := s.next
		s.next, s.active = nil, t != nil
		s.mu.Unlock()
		if t == nil {
			return
		}
		s.turn(t)
	}
}

// turn runs one read. A panic in it becomes the fault of its waiting callers, as in a request of their own.
func (s *Shared[T]) turn(t *turn[T]) {
	defer close(t.done)
	defer func() {
		if fault := recover(); fault != nil {
			t.err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	if t.err = t.ctx.Err(); t.err == nil {
		t.value, t.err = s.Read(t.ctx, t.key)
	}
}

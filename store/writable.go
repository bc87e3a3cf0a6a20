package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Why writes cannot work while reads do.
var (
	ErrReadOnly = errors.New("the database is read-only")
	ErrFull     = errors.New("the database's disk is full")
)

// probeEvery is how long a write that worked is believed.
const probeEvery = 5 * time.Second

// probe is what is known of writing.
type probe struct {
	lock sync.Mutex
	good time.Time
	// full: a batch found no space. A database that goes on changing rows in place may
	// have none for new ones, so then more is tried than that.
	full atomic.Bool
}

// Writable says why writes cannot work now, by trying one: ErrReadOnly, ErrFull,
// loyalty.ErrDamaged, or whatever else is wrong.
func (s *Store) Writable(ctx context.Context) error {
	s.probe.lock.Lock()
	defer s.probe.lock.Unlock()
	full := s.probe.full.Load()
	if !full && time.Since(s.probe.good) < probeEvery && !s.broken() {
		return nil
	}
	if err := s.tryWrite(ctx, full); err != nil {
		return err
	}
	s.probe.good = time.Now()
	s.probe.full.Store(false)
	return nil
}

func (s *Store) tryWrite(ctx context.Context, full bool) error {
	if s.broken() {
		return loyalty.ErrDamaged
	}
	err := s.write.WithContext(ctx).Exec(`UPDATE master_check SET sealed = sealed WHERE id = 1`).Error
	if err == nil && full {
		err = s.room(ctx)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", s.whyNot(err), s.classify(err))
}

// whyNot names the reason of a failed write.
func (s *Store) whyNot(err error) error {
	switch {
	case errors.Is(err, ErrFull), s.outOfSpace(err):
		return ErrFull
	case s.readOnly(err):
		return ErrReadOnly
	}
	return errors.New("a write does not work")
}

// noteSpace remembers that a write found no space, until one is tried that does.
func (s *Store) noteSpace(err error) error {
	if err != nil && s.outOfSpace(err) {
		s.probe.full.Store(true)
	}
	return err
}

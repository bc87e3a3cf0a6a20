package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Reasons why writes fail while reads work.
var (
	ErrReadOnly = errors.New("the database is read-only")
	ErrFull     = errors.New("the database's disk is full")
)

// probeEvery is how long a successful write counts as proof.
const probeEvery = 5 * time.Second

// Writable returns why writes cannot work now, by trying one: ErrReadOnly, ErrFull, loyalty.ErrDamaged, or any other
// error; nil if they can.
func (s upkeep) Writable(ctx context.Context) error {
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

func (s upkeep) tryWrite(ctx context.Context, full bool) error {
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
func (s upkeep) whyNot(err error) error {
	switch {
	case errors.Is(err, ErrFull), s.outOfSpace(err):
		return ErrFull
	case s.readOnly(err):
		return ErrReadOnly
	}
	return errors.New("a write does not work")
}

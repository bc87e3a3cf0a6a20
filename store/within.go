package store

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// work is the part of a batch that needs no database.
type work = func(*loyalty.Loaded) (*loyalty.Writes, error)

// batchStore runs the one transaction of the engine.
type batchStore struct{ *database }

// Within is one attempt at a batch: it loads, calls work once, and writes and commits what work returns. An error of
// work rolls back and is returned unchanged. Other errors wrap loyalty.ErrBatchConflict, loyalty.ErrDatabaseAway or
// loyalty.ErrOutcomeUnknown, are ctx's, or are faults; unless it is ErrOutcomeUnknown, nothing was written. Every
// writer to a damaged database gets loyalty.ErrDamaged.
//
// Once the write has begun, ctx does not end it, so that a caller that goes away never leaves the outcome in doubt.
func (s batchStore) Within(ctx context.Context, needs loyalty.Needs, work func(*loyalty.Loaded) (*loyalty.Writes, error)) error {
	if s.broken() && !needs.Reading {
		return loyalty.ErrDamaged
	}
	var written *loyalty.Writes
	err := s.noteSpace(s.within(ctx, needs, s.observed(func(l *loyalty.Loaded) (_ *loyalty.Writes, err error) {
		written, err = work(l)
		return written, err
	})))
	if err == nil && !needs.Reading {
		s.own.note(written)
		s.passes(BatchCommitted)
	}
	return err
}

// observed wraps work so that the observer of crash points is told once work has decided to write something.
func (s batchStore) observed(work work) work {
	if s.at == nil {
		return work
	}
	return func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		w, err := work(l)
		if err == nil && (len(w.Events) > 0 || len(w.Answers) > 0 || len(w.Items) > 0) {
			s.passes(BatchDecided)
		}
		return w, err
	}
}

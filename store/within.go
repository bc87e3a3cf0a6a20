package store

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// work is the part of a batch that needs no database.
type work = func(*loyalty.Loaded) (*loyalty.Writes, error)

// Within is one attempt of a batch: it loads, calls work once, and writes and
// commits what work answers. An error of work rolls back and is returned as it
// is. Other errors wrap loyalty.ErrBatchConflict,
// loyalty.ErrDatabaseAway or loyalty.ErrOutcomeUnknown, are ctx's, or are faults;
// except for ErrOutcomeUnknown nothing was written. A damaged database is
// loyalty.ErrDamaged to whoever writes.
//
// Once the write has begun, ctx no longer ends it: the answer is never in doubt
// because a caller went away.
func (s *Store) Within(ctx context.Context, needs loyalty.Needs, work func(*loyalty.Loaded) (*loyalty.Writes, error)) error {
	if s.broken() && !needs.Reading {
		return loyalty.ErrDamaged
	}
	err := s.noteSpace(s.within(ctx, s, needs, s.observed(work)))
	if err == nil && !needs.Reading {
		s.passes(BatchCommitted)
	}
	return err
}

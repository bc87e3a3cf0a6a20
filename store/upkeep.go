package store

import (
	"context"
	"time"
)

// upkeep maintains the database itself: its schema, its file, the months of its journal, and whether it can be
// written.
type upkeep struct{ *database }

// DatabaseTime is the time by the database's clock, which all nodes share.
func (s upkeep) DatabaseTime(ctx context.Context) (time.Time, error) {
	t, err := s.time(ctx)
	return t, s.classify(err)
}

// Warnings describes, in sentences, the settings of the database that can lose acknowledged writes.
func (s upkeep) Warnings(ctx context.Context) ([]string, error) { return s.warnings(ctx) }

// Ready reports whether the store can work: the database answers and has exactly this program's schema. It fails with
// ErrMigrationsPending, ErrNewerSchema, or loyalty.ErrDatabaseAway.
func (s upkeep) Ready(ctx context.Context) error { return s.current(ctx) }

// ExtendJournal ensures that the journal has a partition for this month and the twelve after it. A job calls it
// daily, and Migrate on an empty database; no other start waits for it. On SQLite it does nothing.
func (s upkeep) ExtendJournal(ctx context.Context) error { return s.extendJournal(ctx, s.now()) }

package store

import (
	"context"
	"errors"

	"github.com/pressly/goose/v3"

	"github.com/loyalty-platform/loyalty/store/citus"
)

// Distribute spreads an empty PostgreSQL database with the extension Citus over its workers, in the given number of
// shards. It creates a missing schema first. It may be called again. Its errors say in one line why the database
// cannot be spread.
func (s upkeep) Distribute(ctx context.Context, shards int) error {
	if s.dialect() != goose.DialectPostgres {
		return errors.New("only a PostgreSQL database with the extension Citus can be spread over machines")
	}

	c, err := s.migrator().Conn(ctx)
	if err != nil {
		return s.classify(err)
	}

	err = citus.Check(ctx, c, shards)
	if closed := c.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return s.classify(err)
	}
	if err := s.beginSchema(ctx); err != nil {
		return err
	}
	if c, err = s.migrator().Conn(ctx); err != nil {
		return s.classify(err)
	}

	return s.classify(errors.Join(citus.Distribute(ctx, c, shards), c.Close()))
}

// beginSchema gives a database without a schema the newest one, without sealed values, so that it can be restored
// into. It fails for an older schema, which Migrate updates.
func (s upkeep) beginSchema(ctx context.Context) error {
	version, err := s.schemaVersion(ctx)
	if err != nil {
		return s.classify(err)
	}
	if version > 0 {
		return s.current(ctx)
	}
	if err := s.up(ctx); err != nil {
		return s.classify(err)
	}
	return s.ExtendJournal(ctx)
}

package store

import (
	"context"
	"errors"

	"github.com/pressly/goose/v3"

	"github.com/loyalty-platform/loyalty/store/citus"
)

// Distribute spreads an empty PostgreSQL database with the extension Citus over its
// workers, in so many shards. One without a schema gets it first. It may be called again, and
// says in one line why it cannot be done.
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

// beginSchema gives a database without a schema the newest one, and nothing that is sealed:
// it can be restored into. One with an older schema is left to Migrate.
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

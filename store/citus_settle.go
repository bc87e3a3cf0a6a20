package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/loyalty-platform/loyalty/store/citus"
)

// upAndSettle applies the pending migrations. On a spread database it puts new tables in their places afterwards.
func (s upkeep) upAndSettle(ctx context.Context) error {
	_, spread := s.engine.(spreadEngine)
	if err := s.up(ctx); err != nil || !spread {
		return err
	}
	return s.onMigrator(ctx, citus.Settle)
}

// spreadEngine is the engine of a database whose tables are spread over machines.
type spreadEngine interface {
	// misplaced lists the tables that are not in their place.
	misplaced(ctx context.Context) ([]string, error)
}

// onMigrator runs do on one connection without time limits.
func (s upkeep) onMigrator(ctx context.Context, do func(context.Context, *sql.Conn) error) error {
	c, err := s.migrator().Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, c), c.Close())
}

// placed fails if tables of a spread database are not in their place. Reads of such a table would fail on the
// machines that lack it, so the database is not served until Migrate has placed it.
func (s *database) placed(ctx context.Context) error {
	e, spread := s.engine.(spreadEngine)
	if !spread {
		return nil
	}
	switch list, err := e.misplaced(ctx); {
	case err != nil:
		return s.classify(err)
	case len(list) > 0:
		return fmt.Errorf("%w (not in their place on the machines: %s)", ErrMigrationsPending, strings.Join(list, ", "))
	}
	return nil
}

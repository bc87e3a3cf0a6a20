package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/loyalty-platform/loyalty/store/citus"
)

// emailsMended is the migration from which on a spread database is known to have its e-mails as they are looked for.
const emailsMended = 57

// upAndSettle applies the pending migrations. Codes of coupons claim their names in one form before them, as far as the version is of
// before that was so. A spread database has its e-mails filled anew before them, where its version is of
// before that was right, so that a run which is interrupted does it again; and its new tables put in their places behind them.
func (s upkeep) upAndSettle(ctx context.Context, version int64) error {
	_, spread := s.engine.(spreadEngine)
	if spread && version < emailsMended {
		if err := s.onMigrator(ctx, citus.Repair); err != nil {
			return err
		}
	}
	if version >= couponsMade && version < codesFolded {
		if err := s.foldCodes(ctx); err != nil {
			return err
		}
	}
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

// onMigrator does something on one connection that no limit ends.
func (s upkeep) onMigrator(ctx context.Context, do func(context.Context, *sql.Conn) error) error {
	c, err := s.migrator().Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, c), c.Close())
}

// placed says which tables of a spread database are not in their place. Reads of one would fail on the machines that do not have
// it, so the database is not served before Migrate has placed it.
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

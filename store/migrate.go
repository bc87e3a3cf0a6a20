package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/loyalty-platform/loyalty/store/schema"
)

// ErrNewerSchema says that a newer program has migrated the database.
var ErrNewerSchema = errors.New("the database was migrated by a newer program; use that one, or restore an older copy")

// ErrMigrationsPending says that the database needs Migrate.
var ErrMigrationsPending = errors.New("the database is not migrated; run: loyalty migrate up")

// ErrUnreleased says that the database is none of a released program: it has a migration below the baseline, or tables
// and no migration at all.
var ErrUnreleased = errors.New(
	"the database was made by an unreleased program of before 1.0, or by another program; start with an empty database")

// Migration is one step of the schema and when it was applied (zero: pending).
type Migration struct {
	Version   int64
	Name      string
	AppliedAt time.Time
}

// Migrate brings the schema up to date, and on an empty database creates the months of the journal. On a database
// that is spread over machines it also puts each table in its place. It does nothing on a current database, may run
// on several nodes at once, and fails with ErrMasterKey if the database was sealed with another key.
func (s upkeep) Migrate(ctx context.Context) error {
	version, err := s.SchemaVersion(ctx)
	if err != nil {
		return err
	}

	if err := s.current(ctx); errors.Is(err, ErrMigrationsPending) {
		if err := s.upAndSettle(ctx); err != nil {
			return fmt.Errorf("migrate: %w", s.classify(err))
		}
	} else if err != nil {
		return err
	}

	if version == 0 {
		if err := s.ExtendJournal(ctx); err != nil {
			return err
		}
	}

	return s.CheckMasterKey(ctx)
}

// up applies the pending migrations. SQLite has no lock that spans migrations, so another process may apply one
// first; up continues while the version grows.
func (s upkeep) up(ctx context.Context) error {
	p, err := s.migrations()
	if err != nil {
		return err
	}

	for {
		before, err := s.schemaVersion(ctx)
		if err != nil {
			return err
		}
		_, failed := p.Up(ctx)
		if failed == nil {
			return nil
		}
		after, err := s.schemaVersion(ctx)
		if err != nil || after == before {
			return failed
		}
	}
}

// Migrations lists every step that this program knows, in order.
func (s upkeep) Migrations(ctx context.Context) ([]Migration, error) {
	p, err := s.migrations()
	if err != nil {
		return nil, err
	}
	status, err := p.Status(ctx)
	if err != nil {
		return nil, s.classify(err)
	}
	list := make([]Migration, len(status))
	for i, m := range status {
		list[i] = Migration{Version: m.Source.Version, Name: m.Source.Path, AppliedAt: m.AppliedAt}
	}
	return list, nil
}

// NewestSchema is the newest migration that this program knows.
func NewestSchema() (newest int64, err error) {
	files, err := fs.Glob(schema.Files, "sqlite/*.sql")
	for _, f := range files {
		newest = max(newest, schema.Version(f))
	}
	return newest, err
}

// SchemaVersion is the newest migration of the database; 0: it has no schema yet.
func (s upkeep) SchemaVersion(ctx context.Context) (int64, error) {
	version, err := s.schemaVersion(ctx)
	return version, s.classify(err)
}

// current compares the schema with the program's.
func (s *database) current(ctx context.Context) error {
	p, err := s.migrations()
	if err != nil {
		return err
	}

	version, err := s.schemaVersion(ctx)
	switch {
	case err != nil:
		return s.classify(err)
	case version > newest(p):
		return ErrNewerSchema
	case version == 0:
		return s.unmigrated(ctx)
	case version < schema.Baseline:
		return ErrUnreleased
	case version < newest(p):
		return ErrMigrationsPending
	}

	return s.placed(ctx)
}

// unmigrated tells an empty database from one with tables of another program. Another node may be making the tables:
// then they come together with their version, which is read again.
func (s *database) unmigrated(ctx context.Context) error {
	var rows int64
	if err := s.still(ctx, func(l look) (err error) { rows, err = l.size(madeFirst); return err }); err != nil {
		return s.classify(err)
	}
	if rows < 0 {
		return ErrMigrationsPending
	}

	switch version, err := s.schemaVersion(ctx); {
	case err != nil:
		return s.classify(err)
	case version == 0:
		return ErrUnreleased
	}

	return s.current(ctx)
}

// madeFirst is a table that every schema of the program has.
const madeFirst = "customers"

func newest(p *goose.Provider) int64 {
	list := p.ListSources()
	return list[len(list)-1].Version
}

func (s *database) migrations() (*goose.Provider, error) {
	dialect := s.dialect()
	folder := string(dialect)
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger())}
	if dialect == goose.DialectPostgres {
		// Probed every second for five minutes, to wait for a long migration of another node.
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return nil, err
		}
		options = append(options, goose.WithSessionLocker(locker))
	} else {
		folder = "sqlite"
	}

	files, err := fs.Sub(schema.Files, folder)
	if err != nil {
		return nil, err
	}

	return goose.NewProvider(dialect, s.migrator(), files, options...)
}

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/migrations"
)

// ErrNewerSchema says that a newer program has migrated the database.
var ErrNewerSchema = errors.New("the database was migrated by a newer program; use that one, or restore an older copy")

// ErrMigrationsPending says that the database needs Migrate.
var ErrMigrationsPending = errors.New("the database is not migrated; run: loyalty migrate up")

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
		if err := s.upAndSettle(ctx, version); err != nil {
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
	files, err := fs.Glob(migrations.Files, "sqlite/*.sql")
	for _, f := range files {
		version, err := goose.NumericComponent(path.Base(f))
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
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
	case version < newest(p):
		return ErrMigrationsPending
	}

	return s.placed(ctx)
}

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

	files, err := fs.Sub(migrations.Files, folder)
	if err != nil {
		return nil, err
	}

	return goose.NewProvider(dialect, s.migrator(), files, options...)
}

// couponsMade is the migration that creates coupons, codesFolded the one that ensures that their codes have claimed
// loyalty.CodeName.
const (
	couponsMade = 3
	codesFolded = 58
)

// foldedAtOnce is how many names one transaction processes.
const foldedAtOnce = 500

// foldCodes makes the codes of coupons claim the name by which they are looked up. The program does it, because the
// databases lower-case letters differently from Go and from each other. It goes from the oldest coupon to the newest:
// of several codes that differ only in case, the oldest gets the name, unless one of them is written in that form.
// The others keep their exact code as a name, by which they are still found. An interrupted run leaves names of both
// kinds; the next run checks all of them again.
func (s upkeep) foldCodes(ctx context.Context) error {
	var last loyalty.ID
	for more := true; more; {
		err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
			if err := s.unhurried(db); err != nil {
				return err
			}

			// the second condition is that of the index names_owner
			next := db.Where("kind = ? AND kind <> 2", loyalty.NameCoupon).Order("owner").Limit(foldedAtOnce)
			if last != (loyalty.ID{}) {
				next = next.Where("owner > ?", UUID(last))
			}

			names, err := nameTable.find(next)
			if more = len(names) == foldedAtOnce; err != nil || len(names) == 0 {
				return err
			}

			last = names[len(names)-1].Owner
			return foldNames(db, names)
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// foldNames replaces names of coupons by those that their codes claim now, if these are free.
func foldNames(db *gorm.DB, names []loyalty.Claim) error {
	var folded []loyalty.Claim
	var keys []string
	was := map[loyalty.Claim]string{}
	for _, n := range names {
		if key := loyalty.CodeName(n.Value); key != n.Name {
			c := loyalty.Claim{Name: key, Owner: n.Owner}
			folded, keys, was[c] = append(folded, c), append(keys, key.Value), n.Value
		}
	}

	if len(folded) == 0 {
		return nil
	}

	if _, err := nameTable.create(db, folded, " ON CONFLICT DO NOTHING"); err != nil {
		return err
	}

	owned, err := nameTable.find(db.Where("kind = ? AND value IN ?", loyalty.NameCoupon, keys))
	if err != nil {
		return err
	}

	var gone []string
	for _, c := range owned {
		if old, mine := was[c]; mine {
			gone = append(gone, old)
		}
	}

	if len(gone) == 0 {
		return nil
	}

	return db.Exec("DELETE FROM names WHERE kind = ? AND value IN ?", loyalty.NameCoupon, gone).Error
}

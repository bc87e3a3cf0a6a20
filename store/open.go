package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Options say where the data are and how they are kept.
type Options struct {
	// URL is LOYALTY_DATABASE_URL: postgres://…, sqlite:path, or empty for
	// loyalty.db in DataDir.
	URL string
	// DataDir is LOYALTY_DATA; it is made (mode 0700) when an SQLite database
	// is to live in it.
	DataDir string
	// MasterKey seals customer keys, signing secrets and stored answers.
	MasterKey [32]byte
	// BatchConnections and ReadConnections bound the two pools: batches; reads,
	// administration and jobs. Zero: what the URL says (pool_max_conns), else 16. On
	// SQLite one connection writes, and ReadConnections read.
	BatchConnections, ReadConnections int
	// Now is the clock for the months of the journal. Nil: time.Now.
	Now func() time.Time
	// At is called at every point of every write. Nil: nothing is.
	At func(Point)
}

// Store keeps the programme in one database. It is safe for concurrent use.
type Store struct {
	engine
	sealer sealer
	now    func() time.Time
	probe  probe
	at     func(Point)

	// read answers questions; on SQLite its connections cannot write.
	read *gorm.DB
	// write runs administrative transactions; on SQLite it has one connection,
	// which batches use too.
	write *gorm.DB
}

var _ loyalty.Store = (*Store)(nil)

// engine is what the two databases do differently.
type engine interface {
	// within is one attempt of a batch; see Store.Within.
	within(ctx context.Context, s *Store, needs loyalty.Needs, work work) error
	// dialect names the folder of migrations and goose's dialect.
	dialect() goose.Dialect
	// schemaVersion is the newest migration of the database, 0 for an empty one.
	schemaVersion(ctx context.Context) (int64, error)
	// extendJournal makes the months of the journal that now needs.
	extendJournal(ctx context.Context, now time.Time) error
	// classify wraps an error in what it means to the caller.
	classify(err error) error
	// refused says that a commit which failed with err was refused: nothing of it was
	// written.
	refused(err error) bool
	// warnings tells what the database is set to that can lose acknowledged writes.
	warnings(ctx context.Context) ([]string, error)
	// time is the database's clock.
	time(ctx context.Context) (time.Time, error)
	// outOfSpace and readOnly say why a write failed.
	outOfSpace(err error) bool
	readOnly(err error) bool
	// room tries whether there is space for new rows.
	room(ctx context.Context) error
	// rest says that something was written, and perhaps nothing more for a while.
	rest()
	// broken says that the database is damaged and must not be written.
	broken() bool
	// unhurried lifts the limits of a transaction that reads the whole ledger.
	unhurried(db *gorm.DB) error
	// migrator is the connection of migrations, which no limit ends.
	migrator(s *Store) *sql.DB
	close() error
}

// ErrNewerSchema says that a newer program has migrated the database.
var ErrNewerSchema = errors.New("the database was migrated by a newer program; use that one, or restore an older copy")

// ErrMigrationsPending says that the database needs Migrate.
var ErrMigrationsPending = errors.New("the database is not migrated; run: loyalty migrate up")

// Open connects and checks the database. An empty or older database opens too:
// Migrate brings it up to date, and until then Ready fails. A newer one fails
// with ErrNewerSchema. Every error names LOYALTY_DATABASE_URL or LOYALTY_DATA.
func Open(ctx context.Context, o Options) (*Store, error) {
	sealer, err := newSealer(o.MasterKey)
	if err != nil {
		return nil, err
	}
	s := &Store{sealer: sealer, now: o.Now, at: o.At}
	if s.now == nil {
		s.now = time.Now
	}
	scheme, _, found := strings.Cut(o.URL, ":")
	switch {
	case scheme == "postgres" || scheme == "postgresql":
		err = openPostgres(ctx, s, o)
	case o.URL == "" || found && scheme == "sqlite":
		err = openSQLite(ctx, s, o)
	default:
		err = errors.New("LOYALTY_DATABASE_URL: neither postgres://… nor sqlite:path")
	}
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("LOYALTY_DATABASE_URL: %w", err), s.Close())
	}
	return s, nil
}

// start refuses a newer schema.
func (s *Store) start(ctx context.Context) error {
	if err := s.current(ctx); !errors.Is(err, ErrMigrationsPending) {
		return err
	}
	return nil
}

// Close gives back all connections.
func (s *Store) Close() error { return s.close() }

// DatabaseTime is the time by the database's clock, which all nodes share.
func (s *Store) DatabaseTime(ctx context.Context) (time.Time, error) {
	t, err := s.time(ctx)
	return t, s.classify(err)
}

// Warnings tells, in sentences, what the database is set to that can lose writes that
// were acknowledged.
func (s *Store) Warnings(ctx context.Context) ([]string, error) { return s.warnings(ctx) }

// Ready says whether the store can work: the database answers and has exactly
// this program's schema. It fails with ErrMigrationsPending, ErrNewerSchema, or
// loyalty.ErrDatabaseAway.
func (s *Store) Ready(ctx context.Context) error { return s.current(ctx) }

// ExtendJournal makes sure that the journal has a partition for this month and
// the twelve after it. A job calls it daily, and Migrate on an empty database; no
// other start waits for it. On SQLite there is nothing to make.
func (s *Store) ExtendJournal(ctx context.Context) error { return s.extendJournal(ctx, s.now()) }

// Due lists customers whose DueAt has come, the oldest first.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]loyalty.ID, error) {
	return s.ids(s.read.WithContext(ctx).Model(&balanceRow{}).Where("due_at <= ?", Millis(now)).Order("due_at").Limit(limit), "customer_id")
}

// gormConfig is common to both databases: no statement cache (pgx has its own),
// no transaction around single statements, nothing logged.
func gormConfig() *gorm.Config {
	return &gorm.Config{SkipDefaultTransaction: true, TranslateError: true, Logger: logger.Discard}
}

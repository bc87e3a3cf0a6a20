package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// database is the common base of the store's parts: the connections, the engine, and the master key.
type database struct {
	engine
	sealer sealer
	now    func() time.Time
	probe  probe
	at     func(Point)
	joined joined
	told   func(ctx context.Context, kind string, began time.Time) // reports what was run; nil: nothing is reported
	own    own

	// read runs queries; on SQLite its connections cannot write.
	read *gorm.DB
	// write runs administrative transactions; on SQLite it has one connection, which batches use too.
	write *gorm.DB
}

// engine is what the databases do differently.
type engine interface {
	carrier
	// within is one attempt of a batch; see batchStore.Within.
	within(ctx context.Context, needs loyalty.Needs, work work) error
	// asked runs queries on one snapshot, and then those that follow from them; see database.ask.
	asked(ctx context.Context, first []question, then func() ([]question, error)) error
	// numbering is one transaction whose steps each see what others committed before.
	numbering(ctx context.Context, body func(step) error) error
	// dialect names the folder of migrations and goose's dialect.
	dialect() goose.Dialect
	// schemaVersion is the newest migration of the database, 0 for an empty one.
	schemaVersion(ctx context.Context) (int64, error)
	// extendJournal creates the months of the journal that are needed at now.
	extendJournal(ctx context.Context, now time.Time) error
	// classify wraps an error in its meaning to the caller.
	classify(err error) error
	// refused reports whether a commit that failed with err was refused, so that nothing of it was written.
	refused(err error) bool
	// warnings returns the settings of the database that can lose acknowledged writes.
	warnings(ctx context.Context) ([]string, error)
	// time is the database's clock.
	time(ctx context.Context) (time.Time, error)
	// outOfSpace and readOnly say why a write failed.
	outOfSpace(err error) bool
	readOnly(err error) bool
	// room tests whether there is space for new rows.
	room(ctx context.Context) error
	// rest is called after a write that may be the last one for a while.
	rest()
	// pools returns how the connections are used.
	pools() []Pool
	// broken reports whether the database is damaged and must not be written.
	broken() bool
	// unhurried lifts the time limits of a transaction that reads the whole ledger.
	unhurried(db *gorm.DB) error
	// patience lifts the time limit of statements before queries with long answers.
	patience() []question
	// migrator is the connection of migrations, which has no time limit.
	migrator() *sql.DB
	close() error
}

// step runs statements in a transaction that is under way.
type step = func([]calls) error

// fault turns an error of the database into one that callers know: an unreachable database is loyalty.ErrUnavailable,
// which is worth retrying.
func (s *database) fault(err error) error {
	if errors.Is(err, loyalty.ErrOutcomeUnknown) {
		return loyalty.ErrUnconfirmed.Because(err)
	}
	if err = s.classify(err); err == nil {
		return nil
	}
	for _, again := range []error{loyalty.ErrDatabaseAway, loyalty.ErrBatchConflict, context.DeadlineExceeded} {
		if errors.Is(err, again) {
			return loyalty.ErrUnavailable.Because(err)
		}
	}
	return err
}

// consistent runs reads on one snapshot of the database.
func (s *database) consistent(ctx context.Context, read func(*gorm.DB) error) error {
	options := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	return s.fault(s.read.WithContext(ctx).Transaction(read, options))
}

// ids reads a column of ids.
func (s *database) ids(db *gorm.DB, column string) ([]loyalty.ID, error) {
	var rows []UUID
	if err := db.Pluck(column, &rows).Error; err != nil {
		return nil, s.classify(err)
	}
	ids := make([]loyalty.ID, len(rows))
	for i, id := range rows {
		ids[i] = loyalty.ID(id)
	}
	return ids, nil
}

// probe is what is known about writing.
type probe struct {
	lock sync.Mutex
	good time.Time
	// full says that a batch found no space. A database that can still change rows in place may lack space for new
	// rows, so the probe then tests that too.
	full atomic.Bool
}

// noteSpace remembers that a write found no space, until a later test finds some.
func (s *database) noteSpace(err error) error {
	if err != nil && s.outOfSpace(err) {
		s.probe.full.Store(true)
	}
	return err
}

// gormConfig is common to both databases: no statement cache (pgx has its own), no transaction around single
// statements, no logging.
func gormConfig() *gorm.Config {
	return &gorm.Config{SkipDefaultTransaction: true, TranslateError: true, Logger: logger.Discard}
}

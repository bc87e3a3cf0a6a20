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

// database is what every part of the store works with: the connections, what the
// two databases do differently, and the master key.
type database struct {
	engine
	sealer sealer
	now    func() time.Time
	probe  probe
	at     func(Point)
	joined joined
	told   func(ctx context.Context, kind string, began time.Time) // what was asked; nil: it is not told
	own    own

	// read answers questions; on SQLite its connections cannot write.
	read *gorm.DB
	// write runs administrative transactions; on SQLite it has one connection,
	// which batches use too.
	write *gorm.DB
}

// engine is what the two databases do differently.
type engine interface {
	carrier
	// within is one attempt of a batch; see batchStore.Within.
	within(ctx context.Context, needs loyalty.Needs, work work) error
	// asked puts questions to one snapshot, and then those that follow; see database.ask.
	asked(ctx context.Context, first []question, then func() ([]question, error)) error
	// numbering is one transaction whose steps each see what others committed before.
	numbering(ctx context.Context, body func(step) error) error
	// dialect names the folder of migrations and goose's dialect.
	dialect() goose.Dialect
	// schemaVersion is the newest migration of the database, 0 for an empty one.
	schemaVersion(ctx context.Context) (int64, error)
	// extendJournal makes the months of the journal that now needs.
	extendJournal(ctx context.Context, now time.Time) error
	// classify wraps an error in what it means to the caller.
	classify(err error) error
	// refused reports whether a commit that failed with err was refused, so that nothing of it was
	// written.
	refused(err error) bool
	// warnings returns the settings of the database that can lose acknowledged writes.
	warnings(ctx context.Context) ([]string, error)
	// time is the database's clock.
	time(ctx context.Context) (time.Time, error)
	// outOfSpace and readOnly say why a write failed.
	outOfSpace(err error) bool
	readOnly(err error) bool
	// room tries whether there is space for new rows.
	room(ctx context.Context) error
	// rest is called when something was written, and perhaps nothing more will be for a while.
	rest()
	// pools returns how the connections are used.
	pools() []Pool
	// broken reports whether the database is damaged and must not be written.
	broken() bool
	// unhurried lifts the limits of a transaction that reads the whole ledger.
	unhurried(db *gorm.DB) error
	// patience lifts the limit of statements, before questions whose answers are long.
	patience() []question
	// migrator is the connection of migrations, which no limit ends.
	migrator() *sql.DB
	close() error
}

// step runs statements in a transaction that is under way.
type step = func([]calls) error

// fault turns an error of the database into what callers know: an absent
// database is loyalty.ErrUnavailable, which is worth trying again.
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

// consistent runs reads that see one instant of the database.
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

// probe is what is known of writing.
type probe struct {
	lock sync.Mutex
	good time.Time
	// full says that a batch found no space. A database that can still change rows in place may
	// have none for new rows, so more is tried then.
	full atomic.Bool
}

// noteSpace remembers that a write found no space, until one is tried that does.
func (s *database) noteSpace(err error) error {
	if err != nil && s.outOfSpace(err) {
		s.probe.full.Store(true)
	}
	return err
}

// gormConfig is common to both databases: no statement cache (pgx has its own),
// no transaction around single statements, nothing logged.
func gormConfig() *gorm.Config {
	return &gorm.Config{SkipDefaultTransaction: true, TranslateError: true, Logger: logger.Discard}
}

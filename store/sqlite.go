package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteEngine has one connection that writes and several that only read. WAL lets them work at the same time.
type sqliteEngine struct {
	writer, readers *sql.DB
	// Only the holder of the writer's connection uses these:
	conn     *sqliteConn
	owed     bool        // a checkpoint after destroyed keys is still due
	hindered time.Time   // when a reader last prevented it
	idle     *time.Timer // empties the log

	folder *folder // folds the log beside the writer
	turn   *turn   // shared by the processes that write

	sealer  sealer
	path    string
	unclean bool // the file was not closed properly
	damaged atomic.Bool
}

// busyTimeout is how long a write waits for another process, in milliseconds.
const busyTimeout = 5000

// busyPause is the pause between two tries of an operation for which SQLite itself does not wait.
const busyPause = 10 * time.Millisecond

// pragmas are set on each connection and read back once: SQLite silently ignores a misspelt or unsupported one.
var pragmas = []struct{ name, value, want string }{
	{"journal_mode", "WAL", "wal"},
	{"synchronous", "FULL", "2"}, // NORMAL may lose the last commits in a power failure
	{"busy_timeout", strconv.Itoa(busyTimeout), strconv.Itoa(busyTimeout)},
	{"foreign_keys", "1", "1"},
	{"secure_delete", "1", "1"},      // data that opt_out deletes are overwritten
	{"recursive_triggers", "1", "1"}, // REPLACE fires the journal's triggers
	{"journal_size_limit", strconv.Itoa(logKept), strconv.Itoa(logKept)},
}

func openSQLite(ctx context.Context, s *database, o Options) error {
	path, setting, err := sqliteFile(o)
	if err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}

	e := &sqliteEngine{sealer: s.sealer, path: path, unclean: uncleanStop(path)}
	if o.Copy {
		return e.openCopy(s)
	}
	if e.writer, err = sql.Open("sqlite", sqliteDSN(path, false)); err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}

	e.writer.SetMaxOpenConns(1)
	e.idle = time.AfterFunc(logIdle, e.empty)
	if e.folder, err = newFolder(path, e.fold); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", setting, err), e.writer.Close())
	}
	if e.readers, err = openReaders(sqliteDSN(path, true)); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", setting, err), e.folder.close(), e.writer.Close())
	}

	readers := cmp.Or(max(o.ReadConnections, 0), defaultConnections)
	e.readers.SetMaxOpenConns(readers)
	e.readers.SetMaxIdleConns(readers)
	e.turn = newTurn(path)
	s.engine = e
	if err := e.connect(ctx, s); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", setting, err), e.close())
	}

	return nil
}

// openCopy opens a file read-only, for both kinds of connection.
func (e *sqliteEngine) openCopy(s *database) (err error) {
	dsn := (&url.URL{Scheme: "file", Path: e.path, RawQuery: url.Values{"mode": {"ro"}, "immutable": {"1"}, "_pragma": {"query_only(1)"}}.Encode()}).String()
	if e.writer, err = sql.Open("sqlite", dsn); err != nil {
		return err
	}

	e.idle, e.turn = time.AfterFunc(logIdle, func() {}), &turn{} // there is no log and no writer
	if e.readers, err = openReaders(dsn); err != nil {
		return errors.Join(err, e.writer.Close())
	}

	s.engine = e
	if s.read, err = gorm.Open(sqliteDialector(e.readers), gormConfig()); err != nil {
		return errors.Join(err, e.close())
	}

	s.write = s.read
	return nil
}

// connect checks both kinds of connection and sets up GORM over them.
func (e *sqliteEngine) connect(ctx context.Context, s *database) error {
	for _, db := range []*sql.DB{e.writer, e.readers} {
		if err := whileBusy(ctx, func() error { return checkPragmas(ctx, db) }); err != nil {
			return err
		}
	}
	var err error
	if s.write, err = gorm.Open(sqliteDialector(writerPool{e.writer, e.turn}), gormConfig()); err != nil {
		return err
	}
	s.read, err = gorm.Open(sqliteDialector(e.readers), gormConfig())
	return err
}

// whileBusy retries for as long as a write would wait for another process. While another process switches a file to
// WAL, or closes it as its last user, opening the file fails with SQLITE_BUSY at once: SQLite does not apply
// busy_timeout there.
func whileBusy(ctx context.Context, try func() error) error {
	late := time.Now().Add(busyTimeout * time.Millisecond)
	for {
		err := try()
		if sqliteCode(err) != sqlite3.SQLITE_BUSY || time.Now().After(late) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyPause):
		}
	}
}

// sqliteFile finds or creates the file, readable by its owner only.
func sqliteFile(o Options) (path, setting string, err error) {
	path, setting = strings.TrimPrefix(strings.TrimPrefix(o.URL, "sqlite:"), "//"), "LOYALTY_DATABASE_URL"
	if o.URL == "" {
		path, setting = filepath.Join(o.DataDir, "loyalty.db"), "LOYALTY_DATA"
		if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
			return "", setting, err
		}
	}

	if path == "" || strings.ContainsRune(path, '?') {
		return "", setting, errors.New("sqlite: needs the path of a file, without parameters")
	}

	how := os.O_RDWR | os.O_CREATE
	if o.Copy {
		how = os.O_RDONLY
	}

	f, err := os.OpenFile(path, how, 0o600)
	if err != nil {
		return "", setting, err
	}
	if err := f.Close(); err != nil {
		return "", setting, err
	}

	path, err = filepath.Abs(path)
	return path, setting, err
}

func sqliteDSN(path string, readOnly bool) string {
	q := url.Values{"_txlock": {"immediate"}}
	for _, p := range pragmas {
		q.Add("_pragma", p.name+"("+p.value+")")
	}
	if readOnly {
		q.Add("_pragma", "query_only(1)")
		q.Set("_txlock", "deferred")
	} else { // a larger cache, because rows of many customers are far apart; the log is folded separately
		q.Add("_pragma", "cache_size(-32768)")
		q.Add("_pragma", "wal_autocheckpoint("+strconv.Itoa(foldLast)+")")
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

func checkPragmas(ctx context.Context, db *sql.DB) error {
	for _, p := range pragmas {
		var got string
		if err := db.QueryRowContext(ctx, "PRAGMA "+p.name).Scan(&got); err != nil {
			return fmt.Errorf("pragma %s: %w", p.name, err)
		}
		if got != p.want {
			return fmt.Errorf("pragma %s is %s and cannot be set to %s: is the file on a disk that can lock and share memory?", p.name, got, p.want)
		}
	}
	return nil
}

// sqliteGorm is GORM's dialector over the driver without cgo, whose errors GORM does not know.
type sqliteGorm struct{ *sqlite.Dialector }

func sqliteDialector(db gorm.ConnPool) gorm.Dialector {
	return sqliteGorm{sqlite.New(sqlite.Config{DriverName: "sqlite", Conn: db}).(*sqlite.Dialector)}
}

// Translate turns violated keys into GORM's errors.
func (d sqliteGorm) Translate(err error) error {
	var e *sqlitedriver.Error
	if errors.As(err, &e) {
		switch e.Code() {
		case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
			return gorm.ErrDuplicatedKey
		case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
			return gorm.ErrForeignKeyViolated
		}
	}
	return err
}

func (e *sqliteEngine) dialect() goose.Dialect { return goose.DialectSQLite3 }

// close finalizes the batch's statements first: SQLite keeps a connection with open statements alive, and with it the
// lock on the file.
func (e *sqliteEngine) close() error {
	folded := e.folder.close()
	if c, err := e.writer.Conn(whole); err == nil {
		e.idle.Stop()
		_ = c.Raw(func(driverConn any) error {
			if e.conn != nil && e.conn.driver == driverConn { // otherwise database/sql closed it, with its statements
				e.conn.forget()
			}
			return nil
		})
		_ = c.Close()
	}
	return errors.Join(folded, e.readers.Close(), e.writer.Close(), e.turn.close())
}

func (e *sqliteEngine) schemaVersion(ctx context.Context) (version int64, err error) {
	var tables int
	const known = `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'goose_db_version'`
	if err := e.readers.QueryRowContext(ctx, known).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	err = e.readers.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&version)
	return version, err
}

// extendJournal has nothing to do: the journal is one table.
func (e *sqliteEngine) extendJournal(context.Context, time.Time) error { return nil }

// warnings is empty, because the pragmas fix every such setting.
func (e *sqliteEngine) warnings(context.Context) ([]string, error) { return nil, nil }

func (e *sqliteEngine) unhurried(*gorm.DB) error { return nil }

func (e *sqliteEngine) migrator() *sql.DB { return e.writer }

// time is the machine's clock, because the file has none.
func (e *sqliteEngine) time(context.Context) (time.Time, error) { return time.Now(), nil }

func (e *sqliteEngine) pools() []Pool {
	of := func(name string, db *sql.DB) Pool {
		s := db.Stats()
		return Pool{Name: name, Used: s.InUse, Idle: s.Idle, Most: s.MaxOpenConnections, Waits: s.WaitCount, Waited: s.WaitDuration}
	}
	return []Pool{of("batches", e.writer), of("reads", e.readers)}
}

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// guardState is the SQLSTATE that the migration's loyalty_expect raises.
const guardState = "LY001"

// classify turns an error of PostgreSQL into its meaning to the caller. An error that is neither a conflict nor an
// absence stays as it is: a fault.
func (*postgresEngine) classify(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}

	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return awayIfNetwork(err)
	}

	switch e.Code {
	case guardState, "23505", "40001", "40P01":
		return fmt.Errorf("%w: %w", loyalty.ErrBatchConflict, err)
	case "57P01", "57P02", "57P03", "57014", "55P03", "25006", "25P03":
		return fmt.Errorf("%w: %w", loyalty.ErrDatabaseAway, err)
	}

	for _, class := range []string{"08", "53", "58"} { // connection, resources, system
		if strings.HasPrefix(e.Code, class) {
			return fmt.Errorf("%w: %w", loyalty.ErrDatabaseAway, err)
		}
	}

	return err
}

// refused reports whether the server itself refused a commit.
func (*postgresEngine) refused(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.SeverityUnlocalized == "ERROR"
}

// refused is always true: a commit that fails in this process wrote nothing.
func (*sqliteEngine) refused(error) bool { return true }

// awayIfNetwork recognises a connection that cannot be made or broke.
func awayIfNetwork(err error) error {
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &connect), errors.As(err, &network), pgconn.Timeout(err), pgconn.SafeToRetry(err),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", loyalty.ErrDatabaseAway, err)
	}
	return err
}

// classify turns an error of SQLite into its meaning to the caller.
func (engine *sqliteEngine) classify(err error) error {
	var e *sqlitedriver.Error
	if !errors.As(err, &e) {
		return err
	}

	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%w: %w", loyalty.ErrBatchConflict, err)
	}

	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		engine.damage()
		return loyalty.ErrDamaged.Because(err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", loyalty.ErrBatchConflict, err)
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL:
		return fmt.Errorf("%w: %w", loyalty.ErrDatabaseAway, err)
	}

	return err
}

func (*postgresEngine) outOfSpace(err error) bool { return sqlState(err, "53100") }
func (*postgresEngine) readOnly(err error) bool   { return sqlState(err, "25006") }

func (*sqliteEngine) outOfSpace(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_FULL }
func (*sqliteEngine) readOnly(err error) bool   { return sqliteCode(err) == sqlite3.SQLITE_READONLY }

// sqliteCode is the primary code of an error of SQLite, 0 for another error.
func sqliteCode(err error) int {
	var e *sqlitedriver.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// sqlState reports whether an error of PostgreSQL has one of some states.
func sqlState(err error, states ...string) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	for _, s := range states {
		if e.Code == s {
			return true
		}
	}
	return false
}

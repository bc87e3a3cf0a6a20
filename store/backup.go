package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// backupStore copies the database in its own format.
type backupStore struct{ *database }

// Facts describe the contents of a copy, to compare with what it should hold. Instants are milliseconds since 1970;
// 0: none.
type Facts struct {
	Schema     int64 `json:"schema"` // the newest migration
	Head       int64 `json:"head"`   // the last number of the tail
	Customers  int64 `json:"customers"`
	Events     int64 `json:"events"`
	LastEvent  int64 `json:"last_event,omitempty"` // when it was recorded
	OptOuts    int64 `json:"opt_outs"`
	LastOptOut int64 `json:"last_opt_out,omitempty"` // customers who opted out later are still known in the copy
}

func factsOf(l look, schema int64) (Facts, error) {
	f := Facts{Schema: schema}
	for _, q := range []struct {
		text string
		into []*int64
	}{
		{`SELECT head FROM tail_state`, []*int64{&f.Head}},
		{`SELECT count(*) FROM customers`, []*int64{&f.Customers}},
		{`SELECT count(*), max(recorded_at) FROM events`, []*int64{&f.Events, &f.LastEvent}},
		{`SELECT count(*), max(recorded_at) FROM events WHERE action = 'opt_out'`, []*int64{&f.OptOuts, &f.LastOptOut}},
	} {
		err := l.rows(q.text, make([]Column, len(q.into)), func(row []any) error {
			for i, v := range row {
				*q.into[i], _ = v.(int64)
			}
			return nil
		})
		if err != nil {
			return f, err
		}
	}

	return f, nil
}

// Facts are the facts of the live database as of now.
func (s backupStore) Facts(ctx context.Context) (f Facts, err error) {
	schema, err := s.schemaVersion(ctx)
	if err != nil {
		return f, s.classify(err)
	}
	err = s.still(ctx, func(l look) error {
		f, err = factsOf(l, schema)
		return err
	})
	return f, s.classify(err)
}

// Embedded reports whether the database is an SQLite file.
func (s backupStore) Embedded() bool {
	_, embedded := s.engine.(*sqliteEngine)
	return embedded
}

// CopyFile writes an SQLite database, as of one instant, into an empty file. It holds no lock that a writer waits
// for.
func (s backupStore) CopyFile(ctx context.Context, path string) error {
	e, embedded := s.engine.(*sqliteEngine)
	if !embedded {
		return errors.New("only the embedded database is a file")
	}
	return e.classify(e.copyFile(ctx, path))
}

// copyFile opens a connection of its own: the writer's would block writers, and the read-only ones may not write even
// to another file. The caller syncs the copy.
func (e *sqliteEngine) copyFile(ctx context.Context, path string) error {
	q := url.Values{"_pragma": {"busy_timeout(" + strconv.Itoa(busyTimeout) + ")", "synchronous(0)"}, "_txlock": {"deferred"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: e.path, RawQuery: q.Encode()}).String())
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", path)
	return errors.Join(err, db.Close())
}

// server is the PostgreSQL server that holds the whole database.
func (s backupStore) server() (*postgresEngine, error) {
	switch e := s.engine.(type) {
	case *postgresEngine:
		return e, nil
	case *citusEngine:
		return nil, errors.New("a copy of the coordinator is none of the other machines: use loyalty dump, or back up each machine")
	}
	return nil, errors.New("the embedded database has no server")
}

// Exported holds a PostgreSQL database at one instant. Other sessions can read it by the name of the snapshot while
// use runs.
func (s backupStore) Exported(ctx context.Context, use func(snapshot string, f Facts) error) error {
	e, err := s.server()
	if err != nil {
		return err
	}

	schema, err := s.schemaVersion(ctx)
	if err != nil {
		return s.classify(err)
	}

	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return s.classify(pgx.BeginTxFunc(ctx, e.reads, options, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
			return err
		}
		var snapshot string
		if err := tx.QueryRow(ctx, "SELECT pg_export_snapshot()").Scan(&snapshot); err != nil {
			return err
		}
		f, err := factsOf(&portablePostgres{ctx, tx}, schema)
		if err != nil {
			return err
		}
		return use(snapshot, f)
	}))
}

// PostgresVersion is the major version of the server, such as 15.
func (s backupStore) PostgresVersion(ctx context.Context) (major int, err error) {
	e, err := s.server()
	if err != nil {
		return 0, err
	}
	err = e.reads.QueryRow(ctx, `SELECT current_setting('server_version_num')::int / 10000`).Scan(&major)
	return major, e.classify(err)
}

// ErrNoScratch says that the role may not create databases.
var ErrNoScratch = errors.New("the role may not make a database to check the copy in (CREATEDB)")

// scratchPrefix begins the names of databases that Scratch creates. scratchMark begins the comments that identify
// them, followed by the instant of creation. Left-overs of a killed check are dropped when they are scratchLeft old,
// because a running check has moments without a session.
const (
	scratchPrefix = "loyalty_check_"
	scratchMark   = "a copy of a loyalty programme that is being checked, and dropped afterwards; made at "
	scratchLeft   = time.Hour
)

// sweepScratch drops the left-overs of killed checks: databases of this role that Scratch created and that no session
// uses. It skips those that cannot be dropped.
func (e *postgresEngine) sweepScratch(ctx context.Context, now time.Time) error {
	left := map[string]string{} // time of creation by name
	rows, err := e.schema.QueryContext(ctx, `SELECT d.datname, substr(shobj_description(d.oid, 'pg_database'), length($2) + 1) FROM pg_database d
WHERE starts_with(d.datname, $1) AND starts_with(shobj_description(d.oid, 'pg_database'), $2) AND pg_has_role(d.datdba, 'USAGE')
AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datid = d.oid)`, scratchPrefix, scratchMark)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	for rows.Next() {
		var name, made string
		if err := rows.Scan(&name, &made); err != nil {
			return err
		}
		left[name] = made
	}

	if err := rows.Err(); err != nil {
		return err
	}

	for name, made := range left {
		if at, err := time.Parse(time.RFC3339, made); err != nil || now.Sub(at) < scratchLeft {
			continue
		}
		// without FORCE: a database with a new session stays
		if _, err := e.schema.ExecContext(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()); err != nil && ctx.Err() != nil {
			return err
		}
	}

	return nil
}

// Scratch creates an empty database beside a PostgreSQL one, and drops it after use. It first drops the left-overs of
// killed checks. It fails with ErrNoScratch.
func (s backupStore) Scratch(ctx context.Context, name string, use func(name string) error) error {
	e, err := s.server()
	if err != nil {
		return err
	}
	if err := e.sweepScratch(ctx, s.now()); err != nil {
		return e.classify(fmt.Errorf("what is left of earlier checks: %w", err))
	}

	name = scratchPrefix + name
	quoted := pgx.Identifier{name}.Sanitize()
	_, err = e.schema.ExecContext(ctx, "CREATE DATABASE "+quoted+" TEMPLATE template0")
	if sqlState(err, "42501") {
		return ErrNoScratch
	}
	if err != nil {
		return e.classify(fmt.Errorf("a database to check the copy in: %w", err))
	}

	_, err = e.schema.ExecContext(ctx, "COMMENT ON DATABASE "+quoted+" IS '"+scratchMark+s.now().UTC().Format(time.RFC3339)+"'")
	if err == nil {
		err = use(name)
	}

	ctx = context.WithoutCancel(ctx)
	_, dropped := e.schema.ExecContext(ctx, "DROP DATABASE "+quoted)
	return errors.Join(err, e.classify(dropped))
}

package store

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// field is one column of the rows that a statement takes. get returns a value of values.go, preferably a pointer into
// the row, which needs no allocation.
type field[T any] struct {
	name, pg string // the column and its PostgreSQL type
	get      func(*T) any
}

// statement is one SQL text for both databases, over a table v of rows:
//
//	PostgreSQL  WITH v(a, b) AS (SELECT unnest($1::uuid[]), unnest($2::bigint[])) …
//	SQLite      WITH v(a, b) AS (VALUES (?, ?)) …
//
// On PostgreSQL all rows travel as arrays in one execution. SQLite, where an execution is a function call, runs the
// text once for each row, and joins in the order of the text (asWritten). Either way the text never changes, so it is
// prepared once for each connection. On SQLite inserts have a second text, for manyRows at a time.
type statement[T any] struct {
	fields           []field[T]
	postgres, sqlite string
	many             string // for several rows at a time on SQLite; empty: there is none
	several          string // the beginning of many
	guarded          bool
	body             string         // over v; other texts are made from it
	job              string         // for rows of a job, in a form that Citus can plan too; empty: use postgres
	spread           *spreadText[T] // for Citus
}

// selects makes a statement that reads; body uses v.
func selects[T any](body string, fields ...field[T]) *statement[T] {
	return &statement[T]{
		fields: fields, postgres: withRows(fields) + body, sqlite: withValues(fields) + asWritten(body), body: body, job: withArrays(fields) + body, spread: &spreadText[T]{},
	}
}

// inserts makes a statement that must write every row or fail.
func inserts[T any](body string, fields ...field[T]) *statement[T] { return selects(body, fields...) }

// insertsInto inserts the fields unchanged. On SQLite each execution has one row: with several, SQLite would copy
// every page that it changes, to undo the first rows if a later one fails. Where many rows do go together, OR FAIL
// omits that copy, because a failed write ends its transaction anyway.
func insertsInto[T any](table string, fields ...field[T]) *statement[T] {
	into := "INTO " + table + " (" + fieldNames(fields) + ") "
	row := "(" + strings.Repeat("?, ", len(fields)-1) + "?)"
	s := inserts("INSERT "+into+"SELECT * FROM v", fields...)
	s.sqlite = "INSERT " + into + "VALUES " + row
	s.several = "INSERT OR FAIL " + into + "VALUES "
	s.many = s.several + strings.Repeat(row+", ", manyRows-1) + row
	return s
}

// sharing is many for rows that share some values, which are bound once: the lines of a purchase differ in three of
// twelve columns.
func (s *statement[T]) sharing(common []bool) string {
	first := "(" + strings.Repeat("?, ", len(common)-1) + "?)"
	other := "("
	for i, is := range common {
		if i > 0 {
			other += ", "
		}
		if other += "?"; is {
			other += strconv.Itoa(i + 1)
		}
	}
	return s.several + first + strings.Repeat(", "+other+")", manyRows-1)
}

// manyRows is the number of rows in an execution of statement.many.
const manyRows = 16

// guards makes a statement that must find a row for each row of v: any other count means that another batch was
// faster. PostgreSQL counts inside the database, so that the next statements and COMMIT need not wait for the answer.
func guards[T any](body string, fields ...field[T]) *statement[T] {
	counting := ", u AS (" + body + " RETURNING 1) SELECT loyalty_expect((SELECT count(*) FROM u), $" + strconv.Itoa(len(fields)+1) + "::bigint)"
	return &statement[T]{
		fields: fields, sqlite: withValues(fields) + body, guarded: true, body: body, spread: &spreadText[T]{},
		postgres: strings.TrimSuffix(withRows(fields), " ") + counting, job: strings.TrimSuffix(withArrays(fields), " ") + counting,
	}
}

// onSQLite sets another body for SQLite, where the databases need different texts.
func (s *statement[T]) onSQLite(body string) *statement[T] {
	s.sqlite = withValues(s.fields) + asWritten(body)
	return s
}

// asWritten makes SQLite join tables in the order of the text. Its planner has no row counts, and may otherwise scan
// an index with few entries: all waiting purchases, to find those of one customer.
func asWritten(body string) string {
	return strings.NewReplacer("LEFT JOIN", "LEFT JOIN", "CROSS JOIN", "CROSS JOIN", "JOIN", "CROSS JOIN").Replace(body)
}

// withRows opens each array separately while it is read. As a table function, PostgreSQL would first store each array
// in a table of its own, which costs time however few the rows.
func withRows[T any](fields []field[T]) string {
	var rows strings.Builder
	for i, f := range fields {
		if i > 0 {
			rows.WriteString(", ")
		}
		rows.WriteString("unnest($" + strconv.Itoa(i+1) + "::" + f.pg + "[])")
	}
	return "WITH v(" + fieldNames(fields) + ") AS (SELECT " + rows.String() + ") "
}

// withArrays is withRows as a table function, which Citus can plan too.
func withArrays[T any](fields []field[T]) string {
	var args strings.Builder
	for i, f := range fields {
		if i > 0 {
			args.WriteString(", ")
		}
		args.WriteString("$" + strconv.Itoa(i+1) + "::" + f.pg + "[]")
	}
	return "WITH v(" + fieldNames(fields) + ") AS (SELECT * FROM unnest(" + args.String() + ")) "
}

func withValues[T any](fields []field[T]) string {
	return "WITH v(" + fieldNames(fields) + ") AS (VALUES (" + strings.Repeat("?, ", len(fields)-1) + "?)) "
}

func fieldNames[T any](fields []field[T]) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.name
	}
	return strings.Join(list, ", ")
}

// array is one field of all rows, in the form that pgx sends as an array.
type array[T any] struct {
	rows []T
	get  func(*T) any
}

func (a *array[T]) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(a.rows)), LowerBound: 1}}
}
func (a *array[T]) Index(i int) any { return a.get(&a.rows[i]) }
func (a *array[T]) IndexType() any  { return a.get(new(T)) }

// call is a statement with its rows, and what to do with the rows of its answer.
type call[T any] struct {
	*statement[T]
	rows []T
	into []any        // the destinations of each row of the answer; nil for writes
	each func() error // called for each row of the answer

	values []driver.Value // of all rows, prepared in advance for SQLite
	common []bool         // which of them are the same in all rows, if there are many
}

// calls are what both databases execute.
type calls interface {
	queue(b *pgx.Batch)
	spreadOut(b *pgx.Batch)
	run(c *sqliteConn) error
	ready() error // makes the values that run binds, so that run need not
	in(db *gorm.DB) error
}

// write adds a call without an answer, or nothing if there are no rows.
func write[T any](list []calls, s *statement[T], rows []T) []calls {
	if len(rows) == 0 {
		return list
	}
	return append(list, &call[T]{statement: s, rows: rows})
}

// read adds a call with an answer; the rows must not be empty.
func read[T any](list []calls, s *statement[T], rows []T, into []any, each func() error) []calls {
	return append(list, &call[T]{statement: s, rows: rows, into: into, each: each})
}

// in executes the statement in a transaction of GORM.
func (s *statement[T]) in(db *gorm.DB, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	return (&call[T]{statement: s, rows: rows}).in(db)
}

// stepIn runs statements in a transaction of GORM.
func stepIn(db *gorm.DB) step {
	return func(list []calls) error {
		for _, call := range list {
			if err := call.in(db); err != nil {
				return err
			}
		}
		return nil
	}
}

// in executes the call in a transaction of GORM. On SQLite its text is prepared once for all rows.
func (c *call[T]) in(db *gorm.DB) error {
	ctx, pool := db.Statement.Context, db.Statement.ConnPool
	if db.Name() != "sqlite" {
		args := arraysOf(c.fields, c.rows)
		if c.guarded {
			args = append(args, number(len(c.rows)))
		}
		text := cmp.Or(c.job, c.postgres)
		if c.each != nil {
			return c.told(pool.QueryContext(ctx, text, args...))
		}
		_, err := pool.ExecContext(ctx, text, args...)
		return err
	}

	s, err := pool.PrepareContext(ctx, c.sqlite)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // the statement reports errors

	args := make([]any, len(c.fields))
	for i := range c.rows {
		for k, f := range c.fields {
			args[k] = f.get(&c.rows[i])
		}
		if c.each != nil {
			err = c.told(s.QueryContext(ctx, args...))
		} else {
			err = c.met(s.ExecContext(ctx, args...))
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// told reads the rows of an answer.
func (c *call[T]) told(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	for rows.Next() {
		if err := rows.Scan(c.into...); err != nil {
			return err
		}
		if err := c.each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// met checks that a guarded statement met exactly one row.
func (c *call[T]) met(result sql.Result, err error) error {
	if err != nil || !c.guarded {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%w: a guarded write met %d of 1 rows", loyalty.ErrBatchConflict, n)
	}
	return nil
}

// arraysOf returns the fields of all rows as arrays, with capacity for one more argument.
func arraysOf[T any](fields []field[T], rows []T) []any {
	arrays := make([]array[T], len(fields))
	args := make([]any, len(fields), len(fields)+1)
	for i, f := range fields {
		arrays[i] = array[T]{rows, f.get}
		args[i] = &arrays[i]
	}
	return args
}

// queue adds the call to a PostgreSQL batch.
func (c *call[T]) queue(b *pgx.Batch) {
	args := arraysOf(c.fields, c.rows)
	if c.guarded {
		args = append(args, number(len(c.rows)))
	}
	c.answered(b.Queue(c.postgres, args...))
}

// answered registers how the rows of the answer are read.
func (c *call[T]) answered(q *pgx.QueuedQuery) {
	if c.each == nil {
		return
	}

	q.Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(c.into...); err != nil {
				return err
			}
			if err := c.each(); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

package store

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// sqliteConn is the writing connection below database/sql, with its prepared statements: a batch runs dozens of short
// ones, and the layers above would cost more than the statements.
type sqliteConn struct {
	driver   driver.Conn
	prepared map[string]driver.Stmt
	args     []driver.NamedValue
	row      []driver.Value
	room     *int // what a load may still read, as weigh counts; nil: no limit
}

// loadRoom is how much a load may read while it holds the one writer: some milliseconds of work, for which all other
// writers wait.
const loadRoom = 4000

// weigh counts a row against the limit, and fails if that is used up. A long text counts as several rows, by its
// bytes.
func (c *sqliteConn) weigh() error {
	if c.room == nil {
		return nil
	}
	*c.room--
	for _, v := range c.row {
		if text, ok := v.(string); ok {
			*c.room -= len(text) / 128
		}
	}
	if *c.room < 0 {
		return loyalty.ErrMuch
	}
	return nil
}

// whole is the context of single statements, so that a batch is not interrupted halfway.
var whole = context.Background()

func (c *sqliteConn) statement(text string) (driver.Stmt, error) {
	if s, ok := c.prepared[text]; ok {
		return s, nil
	}
	s, err := c.driver.(driver.ConnPrepareContext).PrepareContext(whole, text)
	if err == nil {
		c.prepared[text] = s
	}
	return s, err
}

// forget finalizes the prepared statements.
func (c *sqliteConn) forget() {
	for text, s := range c.prepared {
		_ = s.Close()
		delete(c.prepared, text)
	}
}

// exec runs a text without arguments.
func (c *sqliteConn) exec(text string) error {
	s, err := c.statement(text)
	if err == nil {
		_, err = s.(driver.StmtExecContext).ExecContext(whole, nil)
	}
	return err
}

// run executes the call once for each row, or for several rows where it can.
func (c *call[T]) run(conn *sqliteConn) error {
	done := 0
	if c.many != "" && len(c.rows) >= manyRows {
		done = len(c.rows) / manyRows * manyRows
		if err := c.runMany(conn, done); err != nil {
			return err
		}
	}
	return c.execute(conn, c.sqlite, done, len(c.rows), 1)
}

// runMany runs the text for many rows, up to an index.
func (c *call[T]) runMany(conn *sqliteConn, to int) error {
	if c.values == nil {
		return c.execute(conn, c.many, 0, to, manyRows)
	}
	if len(conn.prepared) > manyPrepared { // the shared values depend on callers, so texts vary
		conn.forget()
	}

	n, common := len(c.fields), c.common
	s, err := conn.statement(c.sharing(common))
	for i := 0; err == nil && i < to; i += manyRows {
		conn.take(c.values[i*n : (i+1)*n])
		for k, v := range c.values[(i+1)*n : (i+manyRows)*n] {
			if !common[k%n] {
				conn.args = append(conn.args, driver.NamedValue{Ordinal: len(conn.args) + 1, Value: v})
			}
		}
		err = conn.change(s, c.guarded)
	}

	return err
}

// manyPrepared is how many statements stay prepared on a connection.
const manyPrepared = 500

// inCommon returns which values are the same in all rows.
func (c *call[T]) inCommon() []bool {
	n := len(c.fields)
	common := slices.Repeat([]bool{true}, n)
	for k := n; k < len(c.values); k++ {
		common[k%n] = common[k%n] && sameValue(c.values[k-n], c.values[k])
	}
	return common
}

func sameValue(a, b driver.Value) bool {
	if x, ok := a.([]byte); ok {
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	}
	_, ok := b.([]byte)
	return !ok && a == b
}

// execute runs a text for the rows from one index to another, in groups of each.
func (c *call[T]) execute(conn *sqliteConn, text string, from, to, each int) error {
	if from == to {
		return nil
	}

	s, err := conn.statement(text)
	if err != nil {
		return err
	}

	n := len(c.fields)
	for i := from; i < to; i += each {
		if c.values != nil {
			conn.take(c.values[i*n : (i+each)*n])
		} else if err := conn.bind(each*n, func(k int) any { return c.fields[k%n].get(&c.rows[i+k/n]) }); err != nil {
			return err
		}
		if c.each != nil {
			err = conn.query(s, c.into, c.each)
		} else {
			err = conn.change(s, c.guarded)
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// ready makes the values of all rows.
func (c *call[T]) ready() error {
	c.values = make([]driver.Value, 0, len(c.rows)*len(c.fields))
	for i := range c.rows {
		for k := range c.fields {
			v, err := c.fields[k].get(&c.rows[i]).(driver.Valuer).Value()
			if err != nil {
				return err
			}
			c.values = append(c.values, v)
		}
	}

	if c.many != "" && len(c.rows) >= manyRows {
		c.common = c.inCommon()
	}

	return nil
}

// take binds values that ready made.
func (c *sqliteConn) take(values []driver.Value) {
	c.args = c.args[:0]
	for k, v := range values {
		c.args = append(c.args, driver.NamedValue{Ordinal: k + 1, Value: v})
	}
}

func (c *sqliteConn) bind(n int, get func(int) any) error {
	c.args = c.args[:0]
	for k := range n {
		v, err := get(k).(driver.Valuer).Value()
		if err != nil {
			return err
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: k + 1, Value: v})
	}
	return nil
}

func (c *sqliteConn) change(s driver.Stmt, guarded bool) error {
	result, err := s.(driver.StmtExecContext).ExecContext(whole, c.args)
	if err != nil || !guarded {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%w: a guarded write met %d of 1 rows", loyalty.ErrBatchConflict, n)
	}
	return nil
}

func (c *sqliteConn) query(s driver.Stmt, into []any, each func() error) (err error) {
	rows, err := s.(driver.StmtQueryContext).QueryContext(whole, c.args)
	if err != nil {
		return err
	}

	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()

	for {
		c.row = append(c.row[:0], make([]driver.Value, len(into))...)
		if err := rows.Next(c.row); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}

		if err := c.weigh(); err != nil {
			return err
		}

		for i, v := range c.row {
			if err := assign(into[i], v); err != nil {
				return err
			}
		}

		if err := each(); err != nil {
			return err
		}
	}
}

// assign stores a column in its destination.
func assign(dest any, v driver.Value) error {
	switch d := dest.(type) {
	case *blob: // the driver allocated it for this row
		if b, ok := v.([]byte); ok || v == nil {
			*d = b
			return nil
		}

	case sql.Scanner:
		return d.Scan(v)
	case *string:
		if s, ok := v.(string); ok {
			*d = s
			return nil
		}

	case *[]byte:
		if b, ok := v.([]byte); ok || v == nil {
			*d = b
			return nil
		}
	}

	return fmt.Errorf("cannot read a %T into a %T", v, dest)
}

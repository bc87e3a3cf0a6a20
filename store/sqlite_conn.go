package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// sqliteConn is the writing connection below database/sql, with the statements
// that were prepared on it: the batch runs dozens of short ones, and the layers
// above would cost more than they do.
type sqliteConn struct {
	driver   driver.Conn
	prepared map[string]driver.Stmt
	args     []driver.NamedValue
	row      []driver.Value
}

// whole is the context of single statements: a batch is not interrupted halfway.
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

// forget finalizes what was prepared.
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

// run executes the call once for each row, or for several of them where it can.
func (c *call[T]) run(conn *sqliteConn) error {
	done := 0
	if c.many != "" && len(c.rows) >= manyRows {
		done = len(c.rows) / manyRows * manyRows
		if err := c.execute(conn, c.many, 0, done, manyRows); err != nil {
			return err
		}
	}
	return c.execute(conn, c.sqlite, done, len(c.rows), 1)
}

// execute runs a text for the rows from one to another, so many at a time.
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
	return nil
}

// take binds values that were made before.
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
	case *blob: // the driver made it for this row
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

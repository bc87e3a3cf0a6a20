package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	sqlitedriver "modernc.org/sqlite"
)

// readerKept is how many statements a reading connection keeps: more than there are frequent reads. Filters of lists
// make an unlimited number of texts.
const readerKept = 64

// openReaders opens connections that keep their statements: SQLite takes longer to parse and plan most reads than to
// run them.
func openReaders(dsn string) (*sql.DB, error) {
	c, err := sqlitedriver.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(readers{c}), nil
}

type readers struct{ driver.Connector }

func (r readers) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	d, ok := c.(readingDriver)
	if !ok {
		return nil, fmt.Errorf("a connection of SQLite cannot do what reading needs: %T", c)
	}
	return &readerConn{readingDriver: d, below: sqliteConn{driver: d, prepared: map[string]driver.Stmt{}}, open: map[string]bool{}}, nil
}

// readingDriver is what database/sql needs of the driver's connections.
type readingDriver interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// readerConn is a connection that reads.
type readerConn struct {
	readingDriver
	below sqliteConn
	open  map[string]bool // statements whose rows are being read
}

// Close finalizes the statements first: SQLite keeps a connection with statements alive, and with it the lock on the
// file.
func (c *readerConn) Close() error {
	c.below.forget()
	return c.readingDriver.Close()
}

// QueryContext reads with a kept statement, or keeps a new one. While the rows of a statement are being read, another
// read of its text is prepared separately, because a statement has one answer at a time.
func (c *readerConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if c.open[text] {
		return c.readingDriver.QueryContext(ctx, text, args)
	}

	c.bound()
	s, err := c.below.statement(text)
	if err != nil {
		return nil, err
	}

	rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}

	c.open[text] = true
	return &readerRows{describedRows: rows.(describedRows), done: func() { delete(c.open, text) }}, nil
}

// bound forgets all statements when there are too many, unless rows are being read.
func (c *readerConn) bound() {
	if len(c.below.prepared) >= readerKept && len(c.open) == 0 {
		c.below.forget()
	}
}

// describedRows are rows that describe the types of their columns.
type describedRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// readerRows call done when they were read.
type readerRows struct {
	describedRows
	done func()
}

func (r *readerRows) Close() error {
	r.done()
	return r.describedRows.Close()
}

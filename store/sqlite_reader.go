package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	sqlitedriver "modernc.org/sqlite"
)

// readerKept is how many statements a connection that reads keeps: more than the reads have that are asked often. Filters of
// lists make texts without end.
const readerKept = 64

// openReaders opens connections that keep the statements they read with: for most reads SQLite takes longer to parse and to
// plan than to read.
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

// readingDriver is what the driver's connections do for database/sql.
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
	open  map[string]bool // the statements whose rows are being read
}

// Close finalizes the statements first: SQLite keeps a connection with statements alive, and with it the lock on the file.
func (c *readerConn) Close() error {
	c.below.forget()
	return c.readingDriver.Close()
}

// QueryContext reads with the statement that was kept, or keeps it. One whose rows are being read still is prepared once
// more: a statement has one answer at a time.
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

// describedRows are rows that tell the types of their columns.
type describedRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// readerRows tell when they were read.
type readerRows struct {
	describedRows
	done func()
}

func (r *readerRows) Close() error {
	r.done()
	return r.describedRows.Close()
}

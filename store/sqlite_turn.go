package store

import (
	"context"
	"database/sql"
	"os"
	"time"
)

// turn orders the processes that write one file. SQLite has no order: it asks for the lock again after pauses of up
// to 100 ms, while a process that writes continuously can take it again each time, for seconds. A process that wants
// the lock holds the turn until it has the lock, so that the previous holder waits behind it.
//
// It is a courtesy, not a safeguard: without it, or when it is late, SQLite's own lock keeps the writers apart.
type turn struct{ file *os.File }

// turnPatience is how long a process waits for the turn. Its holder waits for one transaction; a process that froze
// as the holder must not stop the others.
const turnPatience = 250 * time.Millisecond

// newTurn opens the file beside the database that represents the turn; without such a file there is no order.
func newTurn(path string) *turn {
	f, err := os.OpenFile(path+"-turn", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return &turn{}
	}
	return &turn{f}
}

// take waits for the turn and returns a function that passes it on.
func (t *turn) take(ctx context.Context) func() {
	if t.file == nil {
		return func() {}
	}
	for late := time.Now().Add(turnPatience); !lockFile(t.file); {
		if ctx.Err() != nil || time.Now().After(late) {
			return func() {}
		}
		time.Sleep(time.Millisecond)
	}
	return t.give
}

func (t *turn) give() { unlockFile(t.file) }

func (t *turn) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// writerPool is the writer for writes through GORM: each statement or transaction begins in its turn.
type writerPool struct {
	*sql.DB
	turn *turn
}

// GetDBConn returns the connections themselves, for GORM.
func (p writerPool) GetDBConn() (*sql.DB, error) { return p.DB, nil }

// ExecContext runs a statement in its turn.
func (p writerPool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	defer p.turn.take(ctx)()
	return p.DB.ExecContext(ctx, query, args...)
}

// QueryContext runs a statement with an answer in its turn, because some of them write.
func (p writerPool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	defer p.turn.take(ctx)()
	return p.DB.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // its caller closes them
}

// BeginTx begins a transaction in its turn; it is immediate, so it holds the lock from then on.
func (p writerPool) BeginTx(ctx context.Context, o *sql.TxOptions) (*sql.Tx, error) {
	defer p.turn.take(ctx)()
	return p.DB.BeginTx(ctx, o)
}

package store

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"
)

// Folding copies the log into the file. A commit that did it would keep all other writers waiting for the pages of
// all earlier commits. So a separate connection copies committed pages, again and again, until few are left. Those
// are folded while it holds the writer, because only a completely folded log starts afresh. All limits are in pages.
//
// While a backup or another long reader holds the log, folding is in vain: a commit that tried would wait for
// nothing, and the first one after the reader would fold everything at once. So writers wait only where it helps:
// when the log grows faster than it is folded.
const (
	foldFull   = 4000                   // in the log: it should start afresh
	foldLeft   = 100                    // so few are folded in a moment
	foldBound  = logKept / 4096         // in the log: writers wait until it is folded
	foldLast   = 16 * foldBound         // in the log: a commit folds it itself, because nothing else does
	foldRounds = 4                      // of copying the pages that arrived during the previous round
	foldLook   = 50 * time.Millisecond  // delay of a check after a commit; it covers later commits too
	foldHeld   = 500 * time.Millisecond // the same while a reader holds the log
)

// folder folds the log.
type folder struct {
	db      *sql.DB // its own connection
	look    *time.Timer
	looking atomic.Bool
	held    atomic.Bool // a reader held the log at the last folding

	work   sync.Mutex // held while it folds beside the writer
	closed bool
}

// logState is SQLite's report on the log: its pages, and how many of them are in the file as well.
type logState struct{ pages, folded int }

func (l logState) open() int { return l.pages - l.folded }

// newFolder returns the folder of a database; a copy has none, because it has no log.
func newFolder(path string, fold func()) (*folder, error) {
	db, err := sql.Open("sqlite", sqliteDSN(path, false))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	// An hour, so that it cannot fire before Stop on a busy machine.
	f := &folder{db: db, look: time.AfterFunc(time.Hour, fold)}
	f.look.Stop()
	return f, nil
}

// soon schedules a check of the log.
func (f *folder) soon() {
	if f == nil || !f.looking.CompareAndSwap(false, true) {
		return
	}
	if f.held.Load() {
		f.look.Reset(foldHeld)
	} else {
		f.look.Reset(foldLook)
	}
}

func (f *folder) close() error {
	if f == nil {
		return nil
	}
	f.look.Stop()
	f.work.Lock()
	f.closed = true
	f.work.Unlock()
	return f.db.Close()
}

// fold folds the log if that is worth it.
func (e *sqliteEngine) fold() {
	defer e.folder.looking.Store(false)
	l := e.foldBeside()
	if l.pages < foldFull || l.open() > foldLeft && (e.folder.held.Load() || l.pages < foldBound) {
		return
	}
	if c, err := e.writer.Conn(whole); err == nil { // an error means that it is closed
		_, _ = foldLog(whole, c, "PASSIVE")
		_ = c.Close() // back to the pool
	}
}

// foldBeside copies pages without blocking the writer.
func (e *sqliteEngine) foldBeside() (l logState) {
	e.folder.work.Lock()
	defer e.folder.work.Unlock()
	if e.folder.closed {
		return l
	}

	c, err := e.folder.db.Conn(whole)
	if err != nil {
		return l
	}
	defer func() { _ = c.Close() }() // back to the pool

	e.folder.held.Store(false)
	if l, err = foldLog(whole, c, "NOOP"); err != nil || l.pages < foldFull {
		return logState{}
	}

	for range foldRounds {
		before := l.folded
		if l, err = foldLog(whole, c, "PASSIVE"); err != nil {
			_ = e.classify(err) // a full disk ends folding; damage is noted
			return logState{}
		}
		if l.open() <= foldLeft {
			break
		}
		if l.folded == before {
			e.folder.held.Store(true)
			break
		}
	}

	return l
}

func foldLog(ctx context.Context, c *sql.Conn, how string) (l logState, err error) {
	var busy int
	err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+how+")").Scan(&busy, &l.pages, &l.folded)
	return l, err
}

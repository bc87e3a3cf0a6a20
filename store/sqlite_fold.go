package store

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"
)

// The log is folded into the file beside the writer: a commit that has to do it keeps
// everybody waiting for the pages of all commits before it. A connection of its own copies
// what was committed, again and again, until little is left. That little is folded while it
// has the writer, because only a log that is wholly folded begins anew. All in pages.
//
// While a backup, or another long reader, holds the log up, folding is in vain: a commit that
// tried would wait for nothing, and the first one behind the reader would fold all that came
// meanwhile. So writers are made to wait only where that helps: when more comes than is folded.
const (
	foldFull   = 4000                   // in the log: it is to begin anew
	foldLeft   = 100                    // so few are folded in a moment
	foldBound  = logKept / 4096         // in the log: writers wait until it is folded
	foldLast   = 16 * foldBound         // in the log: a commit folds it by itself, because nothing else does
	foldRounds = 4                      // of copying what came while the last one was copied
	foldLook   = 50 * time.Millisecond  // after a commit; the next ones within it are not looked at
	foldHeld   = 500 * time.Millisecond // the same while a reader holds the log up
)

// folder folds the log.
type folder struct {
	db      *sql.DB // its connection
	look    *time.Timer
	looking atomic.Bool
	held    atomic.Bool // a reader held the log up when it was folded last

	work   sync.Mutex // held while it folds beside the writer
	closed bool
}

// logState is what SQLite reports of the log: how many pages are in it, and how many of them are in
// the file as well.
type logState struct{ pages, folded int }

func (l logState) open() int { return l.pages - l.folded }

// newFolder is nil for a copy, which has no log.
func newFolder(path string, fold func()) (*folder, error) {
	db, err := sql.Open("sqlite", sqliteDSN(path, false))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	f := &folder{db: db, look: time.AfterFunc(time.Hour, fold)} // not sooner: before Stop comes, a busy machine may do much else
	f.look.Stop()
	return f, nil
}

// soon looks at the log in a while.
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

// fold folds the log where that is worth it.
func (e *sqliteEngine) fold() {
	defer e.folder.looking.Store(false)
	l := e.foldBeside()
	if l.pages < foldFull || l.open() > foldLeft && (e.folder.held.Load() || l.pages < foldBound) {
		return
	}
	if c, err := e.writer.Conn(whole); err == nil { // else closed
		_, _ = foldLog(whole, c, "PASSIVE")
		_ = c.Close() // back to the pool
	}
}

// foldBeside copies while others write.
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
			_ = e.classify(err) // a full disk ends here; damage is noted
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

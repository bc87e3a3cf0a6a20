package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The log of an SQLite database: the size that it keeps on disk after it was folded into the file, and when it is
// folded and emptied while nothing is written.
const (
	logKept  = 64 << 20
	logIdle  = 5 * time.Second
	logSmall = 1 << 20 // not worth emptying
)

// rest empties the log when nothing has been written for a while. If a reader holds the log, it is emptied the next
// time.
func (e *sqliteEngine) rest() {
	e.idle.Reset(logIdle)
	e.folder.soon()
}

// owedEvery is how often a checkpoint is retried that a reader prevented: a try blocks writers for a tenth of a
// second, and a backup reads for a long time.
const owedEvery = 10 * time.Second

// pay makes the checkpoint that destroyed keys require, so that no file contains them any longer.
func (e *sqliteEngine) pay(c *sqliteConn) {
	if e.owed = !c.checkpoint(); e.owed {
		e.hindered = time.Now()
	}
}

func (e *sqliteEngine) empty() {
	c, err := e.writer.Conn(whole)
	if err != nil {
		return // closed
	}
	defer func() { _ = c.Close() }() // back to the pool

	_ = c.Raw(func(driverConn any) error {
		if !e.owed && e.logBytes() <= logSmall {
			return nil
		}
		if conn := e.below(driverConn.(driver.Conn)); conn.checkpoint() {
			e.owed = false
		} else {
			e.hindered = time.Now()
			e.rest()
		}
		return nil
	})
}

// logBytes is the size of the log.
func (e *sqliteEngine) logBytes() int64 {
	info, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// LogBytes is the size of an SQLite database's log; false if there is none.
func (s upkeep) LogBytes() (int64, bool) {
	e, ok := s.engine.(*sqliteEngine)
	if !ok {
		return 0, false
	}
	return e.logBytes(), true
}

// roomWanted is how much space must be free beside a database that ran out of space before it counts as writable
// again, in bytes.
const roomWanted = 1 << 20

// room tests the space with a file beside the database. The log would not show the lack, because it overwrites itself
// for a while.
func (e *sqliteEngine) room(context.Context) error {
	f, err := os.CreateTemp(filepath.Dir(e.path), "loyalty-room-*")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	_, err = f.Write(make([]byte, roomWanted))
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return nil
}

package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// within runs the whole batch in one immediate transaction on the only writing connection: nothing else is written
// meanwhile, so the first attempt is as safe as a locked one. A batch that takes long to decide, or turned out to
// read much, is decided before it takes the writer.
func (e *sqliteEngine) within(ctx context.Context, needs loyalty.Needs, work work) error {
	switch {
	case needs.Reading:
		return e.reading(ctx, needs, work)
	case needs.Apart:
		return e.apart(ctx, needs, work)
	}
	err := e.writing(ctx, func(conn *sqliteConn) error { return e.batch(ctx, conn, needs, work) })
	if errors.Is(err, loyalty.ErrMuch) && !needs.Light {
		return e.apart(ctx, needs, work)
	}
	return err
}

// apart decides on a snapshot and takes the writer only for the writes. The statements compare with the rows as they
// were loaded, as on PostgreSQL, and are prepared in advance, so that waiting writers wait only for the database.
func (e *sqliteEngine) apart(ctx context.Context, needs loyalty.Needs, work work) error {
	var w *loyalty.Writes
	err := e.reading(ctx, needs, func(l *loyalty.Loaded) (_ *loyalty.Writes, err error) {
		w, err = work(l)
		return w, err
	})
	if err != nil {
		return err
	}

	list, err := writeCalls(w, e.sealer)
	if err != nil {
		return err
	}

	for _, call := range list {
		if err := call.ready(); err != nil {
			return err
		}
	}

	return e.writing(ctx, func(conn *sqliteConn) error { return e.commit(ctx, conn, w, list) })
}

// writing runs one immediate transaction; an error rolls it back.
func (e *sqliteEngine) writing(ctx context.Context, body func(*sqliteConn) error) error {
	c, err := e.writer.Conn(ctx)
	if err != nil {
		return e.classify(err)
	}
	defer func() { _ = c.Close() }() // back to the pool

	return c.Raw(func(driverConn any) error {
		conn := e.below(driverConn.(driver.Conn))
		give := e.turn.take(ctx)
		err := conn.exec("BEGIN IMMEDIATE")
		give()
		if err != nil {
			return e.classify(err)
		}

		done := false
		defer func() {
			if !done {
				conn.rollback()
			}
		}()

		err = body(conn)
		done = err == nil
		return err
	})
}

func (e *sqliteEngine) numbering(ctx context.Context, body func(step) error) error {
	return e.writing(ctx, func(conn *sqliteConn) error {
		err := body(conn.runAll)
		if err == nil {
			err = conn.exec("COMMIT")
		}
		if err == nil {
			e.rest()
		}
		return e.classify(err)
	})
}

// below returns the connection with its prepared statements; database/sql opens another connection when it considers
// the old one broken.
func (e *sqliteEngine) below(c driver.Conn) *sqliteConn {
	if e.conn == nil || e.conn.driver != c {
		e.conn = &sqliteConn{driver: c, prepared: map[string]driver.Stmt{}}
	}
	return e.conn
}

// reading loads on a connection that cannot write, from one snapshot, so that reads neither wait for the writer nor
// block it.
func (e *sqliteEngine) reading(ctx context.Context, needs loyalty.Needs, work work) error {
	c, err := e.readers.Conn(ctx)
	if err != nil {
		return e.classify(err)
	}
	defer func() { _ = c.Close() }() // back to the pool

	return c.Raw(func(driverConn any) error {
		reader := driverConn.(*readerConn)
		reader.bound()
		conn := &reader.below
		if err := conn.exec("BEGIN"); err != nil {
			return e.classify(err)
		}
		defer conn.rollback()
		l := newLoader(needs, e.sealer)
		if err := e.load(conn, l); err != nil {
			return err
		}
		_, err := work(l.out)
		return err
	})
}

func (e *sqliteEngine) load(conn *sqliteConn, l *loader) error {
	if err := conn.runAll(l.take()); err != nil {
		return e.classify(err)
	}
	l.taken()
	if err := conn.runAll(l.calls()); err != nil {
		return e.classify(err)
	}
	l.share()
	if err := conn.runAll(l.due()); err != nil {
		return e.classify(err)
	}
	return nil
}

func (e *sqliteEngine) batch(ctx context.Context, conn *sqliteConn, needs loyalty.Needs, work work) error {
	l := newLoader(needs, e.sealer)
	if !needs.Locked { // a batch that lost before reads without limit: here it cannot lose again
		room := loadRoom
		conn.room = &room
	}

	err := e.load(conn, l)
	conn.room = nil
	if err != nil {
		return err
	}

	w, err := work(l.out)
	if err != nil {
		return err
	}

	return e.write(ctx, conn, w)
}

func (e *sqliteEngine) write(ctx context.Context, conn *sqliteConn, w *loyalty.Writes) error {
	list, err := writeCalls(w, e.sealer)
	if err != nil {
		return e.classify(err)
	}
	return e.commit(ctx, conn, w, list)
}

// commit runs the statements of a write.
func (e *sqliteEngine) commit(ctx context.Context, conn *sqliteConn, w *loyalty.Writes, list []calls) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := conn.runAll(list); err != nil {
		return e.classify(err)
	}
	if err := conn.exec("COMMIT"); err != nil {
		return e.classify(err)
	}
	if e.owed = e.owed || w != nil && len(w.DestroyKeys) > 0; e.owed && time.Since(e.hindered) > owedEvery {
		e.pay(conn)
	}

	e.rest()
	return nil
}

func (c *sqliteConn) runAll(list []calls) error {
	for _, call := range list {
		if err := call.run(c); err != nil {
			return err
		}
	}
	return nil
}

// rollback ends the transaction. After some faults, such as a full disk, SQLite has already ended it and refuses;
// that error is ignored.
func (c *sqliteConn) rollback() { _ = c.exec("ROLLBACK") }

// checkpoint moves the log into the file and empties it, so that destroyed keys are in neither. A reader can prevent
// it; then it is retried (owedEvery).
func (c *sqliteConn) checkpoint() bool {
	busy := number(1)
	var ignored number
	err := errors.Join(
		c.exec("PRAGMA busy_timeout = 100"), // other batches are waiting
		c.one("PRAGMA wal_checkpoint(TRUNCATE)", []any{&busy, &ignored, &ignored}),
		c.exec(fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout)))
	return err == nil && busy == 0
}

// one runs a statement without arguments and reads its one row.
func (c *sqliteConn) one(text string, into []any) error {
	s, err := c.statement(text)
	if err != nil {
		return err
	}
	c.args = c.args[:0]
	return c.query(s, into, func() error { return nil })
}

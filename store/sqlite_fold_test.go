package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// thick writes so many MiB as one batch.
func thick(t *testing.T, s *Store, size int) {
	t.Helper()
	w := loyalty.Writes{Events: make([]loyalty.Event, size)}
	var last loyalty.ID
	for i := range w.Events {
		w.Events[i] = visit(make([]byte, 1<<20))
		last = loyalty.NewID(w.Events[i].At, last)
		w.Events[i].ID = last
	}
	require.NoError(t, put(s, w))
}

func logOf(t *testing.T, e *sqliteEngine) logState {
	t.Helper()
	c, err := e.readers.Conn(context.Background())
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	l, err := foldLog(context.Background(), c, "NOOP")
	require.NoError(t, err)
	return l
}

// A commit that makes the log long does not fold it: that is done beside it, and then the
// log begins anew.
func TestLogIsFoldedBesideTheWriter(t *testing.T) {
	s, e := openTestFile(t)
	e.folder.work.Lock()
	thick(t, s, 18)
	require.Greater(t, logOf(t, e).open(), foldFull, "the commit leaves it to others")
	e.folder.work.Unlock()
	require.Eventually(t, func() bool { return logOf(t, e).open() == 0 }, 30*time.Second, 10*time.Millisecond)
	require.NoError(t, put(s, loyalty.Writes{Events: []loyalty.Event{visit(nil)}}))
	require.Less(t, logOf(t, e).pages, foldLeft, "it begins anew")
}

// A reader that stays keeps the log, no writer waits for it, and it is folded afterwards.
func TestReaderHoldsTheLogUp(t *testing.T) {
	s, e := openTestFile(t)
	require.NoError(t, put(s, loyalty.Writes{Events: []loyalty.Event{visit(nil)}}))
	reader, err := e.readers.BeginTx(context.Background(), nil)
	require.NoError(t, err)
	var n int
	require.NoError(t, reader.QueryRow(`SELECT count(*) FROM events`).Scan(&n))
	thick(t, s, 18)
	require.Eventually(t, func() bool { return !e.folder.looking.Load() }, 30*time.Second, time.Millisecond)
	require.Greater(t, logOf(t, e).open(), foldFull)
	require.True(t, e.folder.held.Load())
	thick(t, s, 60) // beyond the bound
	require.Eventually(t, func() bool { return !e.folder.looking.Load() }, 30*time.Second, time.Millisecond)
	require.Greater(t, logOf(t, e).open(), foldBound, "no writer folds it")
	require.NoError(t, reader.Rollback())
	require.NoError(t, put(s, loyalty.Writes{Events: []loyalty.Event{visit(nil)}}))

	require.Eventually(t, func() bool { return logOf(t, e).open() == 0 }, 30*time.Second, 10*time.Millisecond)
}

// A long log that no reader holds is folded even while it grows: writers wait for that. If nothing else folds it, a
// commit does.
func TestLogIsBounded(t *testing.T) {
	s, e := openTestFile(t)
	thick(t, s, 70)
	require.Eventually(t, func() bool { return logOf(t, e).open() == 0 }, 30*time.Second, 10*time.Millisecond)
	var pages int
	require.NoError(t, e.writer.QueryRow(`PRAGMA wal_autocheckpoint`).Scan(&pages))
	require.Equal(t, 16*logKept, pages*4096)
}

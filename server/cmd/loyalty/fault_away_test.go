//go:build unix

package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestFaultPostgresKilled kills the database server under load (R2): requests
// are answered 503 until it is back, and nothing acknowledged is lost.
func TestFaultPostgresKilled(t *testing.T) {
	t.Parallel()
	c, url := durableCluster(t)
	l := newLoad(t, newGround(t, url))
	s := l.g.start(t)
	l.open(s.address)
	l.run(s.address)
	n := rounds(t, 2)
	for range n {
		l.progress(100)
		require.NoError(t, c.Kill())
		l.becomes(s, "/readyz", http.StatusServiceUnavailable)
		before := l.book.aways()
		require.Eventually(t, func() bool { return l.book.aways() > before }, patience, time.Millisecond, "nobody is told")
		l.becomes(s, "/livez", http.StatusOK)
		require.NoError(t, c.Start())
		l.becomes(s, "/readyz", http.StatusOK)
		l.progress(100)
	}

	l.finish(s)
	t.Logf("figures: R2: %d kills of the postmaster; %s", n, l.book)
}

// TestFaultPostgresFrozen stops every process of the database server without
// closing a connection, as a lost network or a full host would.
func TestFaultPostgresFrozen(t *testing.T) {
	t.Parallel()
	_, url := durableCluster(t)
	l := newLoad(t, newGround(t, url))
	s := l.g.start(t)
	l.open(s.address)
	l.run(s.address)
	l.progress(100)
	require.NoError(t, <-freeze(t, url, 2))
	l.progress(100)
	require.Empty(t, l.book.strange)

	thawed := freeze(t, url, 18) // longer than any caller may be kept waiting
	l.becomes(s, "/livez", http.StatusOK)
	l.becomes(s, "/readyz", http.StatusServiceUnavailable)
	t.Run("reads", func(t *testing.T) {
		a := newCaller(t, l.g.key).get(s.address + "/customers/ada")
		require.NoError(t, a.err, "a read hangs")
		require.Equal(t, http.StatusServiceUnavailable, a.status)
	})

	require.NoError(t, <-thawed)
	l.becomes(s, "/readyz", http.StatusOK)
	l.progress(100)
	l.finish(s)
	require.Positive(t, l.book.away, "the long silence is told")
	t.Logf("2 freezes; %s", l.book)
}

// TestFaultSQLiteLocked lets another program hold the embedded database's write lock for longer than any caller may be
// kept waiting.
func TestFaultSQLiteLocked(t *testing.T) {
	t.Parallel()
	url := storetest.EmptySQLite(t)
	l := newLoad(t, newGround(t, url))
	s := l.g.start(t)
	l.open(s.address)
	l.run(s.address)
	l.progress(100)
	other, err := storetest.Raw(t, url).Conn(t.Context())
	require.NoError(t, err)
	defer other.Close()
	_, err = other.ExecContext(t.Context(), `BEGIN IMMEDIATE`)
	require.NoError(t, err)
	began, before := time.Now(), l.book.aways()
	for time.Since(began) < hang+3*time.Second || l.book.aways() <= before && time.Since(began) < patience {
		l.becomes(s, "/livez", http.StatusOK)
		l.becomes(s, "/readyz", http.StatusServiceUnavailable) // nothing can be written
		read := newCaller(t, l.g.key).get(s.address + "/customers/ada")
		require.NoError(t, read.err)
		require.Equal(t, http.StatusOK, read.status, "reads go on: %s", read.body)
		time.Sleep(100 * time.Millisecond)
	}

	require.Greater(t, l.book.aways(), before, "the writes are told: %s", l.book)
	_, err = other.ExecContext(t.Context(), `ROLLBACK`)
	require.NoError(t, err)
	l.becomes(s, "/readyz", http.StatusOK)
	l.progress(100)
	l.finish(s)
	t.Log(l.book)
}

// becomes waits for a probe's answer, which must come without a hang.
func (l *load) becomes(s *serving, path string, status int) {
	l.t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		a := l.callers[0].get(s.address + path)
		require.NoError(l.t, a.err, "%s hangs", path)
		if a.status == status {
			return
		}
		require.True(l.t, time.Now().Before(until), "%s stays %d", path, a.status)
	}
}

// finish ends the load and holds everything it was told against the database.
func (l *load) finish(s *serving) {
	l.t.Helper()
	l.stop()
	l.resume(s.address)
	mustHold(l.t, l.check(s.address, 1))
	require.Zero(l.t, l.book.silent, "the program was there all the time: %v", l.book.strange)
	require.Equal(l.t, 0, s.stop(terminate), s.log())
}

// freezer stops the postmaster, so that no new process is started, then every process that it is told; and lets all go
// on, also when the test has died meanwhile.
const freezer = `kill -STOP "$1"; echo stopped
read -r pids; kill -STOP $pids
sleep "$2"; kill -CONT "$1" $pids`

// freeze stops all processes of a PostgreSQL server for some seconds.
func freeze(t *testing.T, url string, seconds int) (thawed <-chan error) {
	t.Helper()
	db, err := storetest.Raw(t, url).Conn(t.Context())
	require.NoError(t, err)
	defer db.Close()
	var folder, others string
	require.NoError(t, db.QueryRowContext(t.Context(), `SHOW data_directory`).Scan(&folder))
	file, err := os.ReadFile(filepath.Join(folder, "postmaster.pid"))
	require.NoError(t, err)
	postmaster, _, _ := strings.Cut(string(file), "\n")

	cmd := exec.Command("/bin/sh", "-c", freezer, "freezer", postmaster, strconv.Itoa(seconds))
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	done, result := make(chan struct{}), make(chan error, 1)
	t.Cleanup(func() { _ = in.Close(); <-done })
	go func() { result <- cmd.Wait(); close(done) }()
	_, err = io.ReadFull(out, make([]byte, len("stopped\n")))
	require.NoError(t, err)
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT string_agg(pid::text, ' ') FROM pg_stat_activity`).Scan(&others))
	_, err = io.WriteString(in, others+"\n")
	require.NoError(t, err)
	return result
}

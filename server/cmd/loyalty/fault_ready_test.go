//go:build unix

package main

import (
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// becomesUnready waits until a server says why it is not ready.
func becomesUnready(t *testing.T, s *serving, c *caller, reason string) {
	t.Helper()
	var a answer
	require.Eventually(t, func() bool {
		a = c.get(s.address + "/readyz")
		return a.status == http.StatusServiceUnavailable
	}, patience, 50*time.Millisecond)
	require.Contains(t, string(a.body), reason)
}

func becomesReady(t *testing.T, s *serving, c *caller) {
	t.Helper()
	require.Eventually(t, func() bool { return c.get(s.address+"/readyz").status == http.StatusOK }, patience, 50*time.Millisecond, s.log())
}

// TestFaultReadOnly makes PostgreSQL read-only, as a failover to a replica does:
// /readyz says so, and customers are read, those with something due as they stand.
func TestFaultReadOnly(t *testing.T) {
	t.Parallel()
	cluster := storetest.NewCluster(t)
	g := newGround(t, cluster.URL("postgres"))
	s := g.start(t)
	c := newCaller(t, g.key)
	enrol(t, c, s.address, "ada")
	becomesReady(t, s, c)
	raw := storetest.Raw(t, g.url)
	// Something of theirs is due and not applied yet.
	set := func(value string) {
		for _, command := range []string{`ALTER SYSTEM SET default_transaction_read_only = ` + value, `SELECT pg_reload_conf()`} {
			_, err := raw.Exec(command)
			require.NoError(t, err)
		}
	}

	set("on")
	becomesUnready(t, s, c, "the database is read-only")
	_, err := raw.Exec(`BEGIN READ WRITE; UPDATE balances SET due_at = 1; COMMIT`)
	require.NoError(t, err)
	read := c.get(s.address + "/customers/ada")
	require.Equal(t, http.StatusOK, read.status, string(read.body))
	written := c.post(s.address, "/events", `{"customer":"ada","action":"point_add","data":{"points":1}}`, "one")
	require.Equal(t, http.StatusServiceUnavailable, written.status)
	require.Contains(t, string(written.body), "190002")
	require.NotEmpty(t, written.header.Get("Retry-After"))
	set("off")
	becomesReady(t, s, c)
	written = c.post(s.address, "/events", `{"customer":"ada","action":"point_add","data":{"points":1}}`, "one")
	require.Equal(t, http.StatusOK, written.status, string(written.body))
	require.Equal(t, 0, s.stop(terminate), s.log())
}

// TestFaultConfigurationNotFollowed keeps the version of the programme from being
// read: a node that may miss the end of a key says that it is not ready.
func TestFaultConfigurationNotFollowed(t *testing.T) {
	t.Parallel()
	g := newGround(t, anyPostgres(t))
	s := g.start(t)
	c := newCaller(t, g.key)
	becomesReady(t, s, c)
	busy, err := storetest.Raw(t, g.url).Begin()
	require.NoError(t, err)
	defer func() { _ = busy.Rollback() }()
	_, err = busy.Exec(`LOCK TABLE programme_version IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	becomesUnready(t, s, c, "changes of the configuration have not been read for")
	require.NoError(t, busy.Rollback())
	becomesReady(t, s, c)

	require.Equal(t, 0, s.stop(terminate), s.log())
}

// TestFaultClock: a node whose clock is wrong is not ready, and shows the figure.
func TestFaultClock(t *testing.T) {
	h := &app{store: storetest.Open(t, storetest.Postgres(t))}
	var err error
	h.directory, err = admin.NewDirectory(t.Context(), admin.DirectoryOptions{Registry: action.Registry(), Store: h.store})
	require.NoError(t, err)
	h.keeper = loyalty.NewTimekeeper(loyalty.TimekeeperOptions{Database: h.store})
	require.NoError(t, h.keeper.Check(t.Context()))
	require.NoError(t, h.ready(t.Context()))
	h.keeper = loyalty.NewTimekeeper(loyalty.TimekeeperOptions{Database: h.store, Clock: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	require.Error(t, h.keeper.Check(t.Context()))
	require.ErrorContains(t, h.ready(t.Context()), "the clock differs from the database's by 2h0m0s")
	figures := h.status()
	require.Equal(t, "clock_ahead_ms", figures[0].Name)
	require.InDelta(t, 2*time.Hour.Milliseconds(), figures[0].Value, 60_000)
}

// Two programs that start on an empty folder share a master key, a database and one
// first key.
func TestTwoFirstStarts(t *testing.T) {
	dir := t.TempDir()
	const programs = 3
	all := make([]*serving, programs)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { all[i] = serve(t, dir, nil) })
	}

	wait.Wait()
	if t.Failed() {
		return // one of them did not start, and has said why
	}

	shown := 0
	for _, s := range all {
		becomesReady(t, s, &caller{}) // a start that is interrupted fails
		require.Equal(t, 0, s.stop(terminate), s.log())
		shown += len(shownSecret.FindAllString(s.said(), -1))
	}

	require.Equal(t, 1, shown)
	left, err := filepath.Glob(filepath.Join(dir, "data", "master.key*"))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// A node with another master key ends with one line that says so.
func TestAnotherMasterKey(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, 0, command(t, dir, nil, "migrate", "up").code)
	other := command(t, dir, []string{"LOYALTY_MASTER_KEY=" + "cd00000000000000000000000000000000000000000000000000000000000000"}, "keys", "list")
	require.Equal(t, codeUsage, other.code)
	require.Equal(t, "loyalty: LOYALTY_MASTER_KEY is not the key that this database was sealed with\n", other.errors)
}

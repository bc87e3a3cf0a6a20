package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// A node that freezes inside an administrative transaction loses it: the database
// ends its session, and another node revokes keys meanwhile.
func TestFrozenAdministration(t *testing.T) {
	url := storetest.Postgres(t)
	frozen, other := storetest.Open(t, url), storetest.Open(t, url)
	holds, thaw, ended := make(chan bool), make(chan bool), make(chan error, 1)
	go func() {
		ended <- frozen.Change(context.Background(), func(tx loyalty.AdminTx) error {
			close(holds)
			<-thaw // as a process that was stopped: its session stays, idle in its transaction
			return tx.SaveModule(loyalty.ModuleState{Name: "points"})
		})
	}()

	<-holds
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // a request has no longer
	defer cancel()
	require.NoError(t, other.Change(ctx, func(tx loyalty.AdminTx) error { return tx.SaveModule(loyalty.ModuleState{Name: "tiers"}) }))
	close(thaw)
	require.ErrorIs(t, <-ended, loyalty.ErrUnavailable)
	snapshot, err := other.Snapshot(context.Background(), nil)
	require.NoError(t, err)
	require.Equal(t, []loyalty.ModuleState{{Name: "tiers"}}, snapshot.Modules)
}

// What a session of either pool can keep from others is bounded, and what is
// acknowledged is on disk, whatever the database's defaults are.
func TestSessionsAreBounded(t *testing.T) {
	storetest.PlainOnly(t)
	url := storetest.Postgres(t)
	raw := storetest.Raw(t, url)
	_, err := raw.Exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$`)
	require.NoError(t, err)
	s := storetest.Open(t, url)
	for pool, settings := range s.SessionSettings(t.Context(), "synchronous_commit", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "tcp_keepalives_idle") {
		require.Equal(t, "on", settings["synchronous_commit"], pool)
		for name, value := range settings {
			require.NotEqual(t, "0", value, "%s of %s", name, pool)
		}
	}

	warnings, err := s.Warnings(t.Context())
	require.NoError(t, err)
	for _, name := range []string{"fsync", "full_page_writes"} { // both are off in the tests' own servers
		var setting string
		require.NoError(t, raw.QueryRow(`SELECT setting FROM pg_settings WHERE name = $1`, name).Scan(&setting))
		told := slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, name) })
		require.Equal(t, setting == "off", told, name)
	}
}

// A pool is as large as the options say, else as the address says.
func TestPoolSizes(t *testing.T) {
	url := storetest.Postgres(t)
	seven := url + "?pool_max_conns=7"
	if strings.Contains(url, "?") {
		seven = url + "&pool_max_conns=7"
	}

	for _, c := range []struct {
		url                          string
		batches, reads               int
		wantedBatches, wantedOfReads int32
	}{
		{url, 0, 0, 16, 16},
		{seven, 0, 0, 7, 7},
		{seven, 3, 0, 3, 7},
		{url, 0, 5, 16, 5},
	} {
		s, err := store.Open(t.Context(), store.Options{URL: c.url, MasterKey: storetest.MasterKey, BatchConnections: c.batches, ReadConnections: c.reads})
		require.NoError(t, err)
		batches, reads := s.PoolSizes()
		require.Equal(t, []int32{c.wantedBatches, c.wantedOfReads}, []int32{batches, reads})
		require.NoError(t, s.Close())
	}
}

// A commit whose answer is lost may have been done.
func TestLostAdministrativeCommit(t *testing.T) {
	url := storetest.Postgres(t)
	p := storetest.NewProxy(t, url)
	s := storetest.Open(t, p.URL())
	err := s.Change(t.Context(), func(tx loyalty.AdminTx) error {
		if err := tx.SaveModule(loyalty.ModuleState{Name: "points"}); err != nil {
			return err
		}
		p.Plan(func(int64) storetest.Cut { return storetest.Answered }) // the commit is all that is left
		return nil
	})

	require.ErrorIs(t, err, loyalty.ErrUnconfirmed)
	p.Plan(nil)
	snapshot, err := s.Snapshot(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, snapshot.Modules, 1, "it was done")
}

// A pooler's session is not the server's: that the server does not know it says nothing about a commit in progress.
func TestLostCommitBehindAPooler(t *testing.T) {
	storetest.PlainOnly(t)
	url := storetest.Postgres(t)
	p := storetest.NewProxy(t, url)
	p.Pooler.Store(true)
	s := storetest.OpenWith(t, store.Options{URL: p.URL(), BatchConnections: 1, ReadConnections: 1})
	enrol(t, s, "c-", 1)
	require.NoError(t, credit(s, "c-", 1))

	busy, err := storetest.Raw(t, url).Begin()
	require.NoError(t, err)
	defer func() { _ = busy.Rollback() }()
	_, err = busy.Exec(`SELECT 1 FROM balances FOR UPDATE`)
	require.NoError(t, err)
	// A connection that rested for a second is asked first whether it lives: then the second trip was
	// not the write, and nothing was begun. What was, all the same, would be counted below.
	for range 5 {
		p.Plan(func(trip int64) storetest.Cut { return map[int64]storetest.Cut{2: storetest.Severed}[trip] })
		if err = credit(s, "c-", 1); !errors.Is(err, loyalty.ErrDatabaseAway) {
			break
		}
	}

	require.ErrorIs(t, err, loyalty.ErrOutcomeUnknown)
	require.Equal(t, 1, events(t, url))
	require.NoError(t, busy.Rollback())
	require.Eventually(t, func() bool { return events(t, url) == 2 }, time.Minute, 10*time.Millisecond, "it was recorded after all")

	p.Plan(nil)
	require.NoError(t, credit(s, "c-", 1), "on a new connection")
	p.Plan(func(trip int64) storetest.Cut { return map[int64]storetest.Cut{2: storetest.Answered}[trip] })
	require.NoError(t, credit(s, "c-", 1), "what is found was recorded")
	require.Equal(t, 4, events(t, url))
}

// Writable tries a write, also one that needs space where a batch found none.
func TestWritable(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := storetest.Open(t, url)
		require.NoError(t, s.Writable(t.Context()))
		s.NoteFull()
		require.NoError(t, s.Writable(t.Context()), "there is space again")
		require.NotContains(t, storetest.Schema(t, url), "loyalty_room.repeat")
	})
	url := storetest.Postgres(t)
	_, err := storetest.Raw(t, url).Exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
	require.NoError(t, err)
	require.ErrorIs(t, storetest.Open(t, url).Writable(t.Context()), store.ErrReadOnly)
}

package histories_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// rooms give histories their databases. To make one, and to have its statements prepared, takes
// as long as a history, so twenty of them share each, under names of their own. SQLite has its
// files in memory where the system has such a place.
type rooms struct {
	t        *testing.T
	database storetest.Database
	template []byte // SQLite: a migrated file
	file     string
	shared   *store.Store
	entered  int
}

type room struct {
	DB     *store.Store
	prefix string // of every name
	proves bool   // at its end the database is proved, with all histories in it
}

func newRooms(t *testing.T, d storetest.Database) *rooms {
	r := &rooms{t: t, database: d}
	if d.Name == "sqlite" {
		var err error
		r.template, err = os.ReadFile(strings.TrimPrefix(d.Migrated(t), "sqlite:"))
		require.NoError(t, err)
		dir, err := os.MkdirTemp("/dev/shm", "loyalty-")
		if err != nil {
			dir = t.TempDir()
		} else {
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		}
		r.file = filepath.Join(dir, "histories.db")
	}

	t.Cleanup(func() { r.close(t) }) // before its folder goes
	return r
}

// enter gives a history its database.
func (r *rooms) enter(t require.TestingT) *room {
	r.entered++
	if r.entered%20 == 1 {
		r.close(t)
		r.shared = r.opened(t, r.empty(t))
	}
	return &room{DB: r.shared, prefix: fmt.Sprintf("h%d-", r.entered), proves: r.entered%100 == 20}
}

// empty is the URL of an unused database.
func (r *rooms) empty(t require.TestingT) string {
	if r.template == nil {
		return r.database.Migrated(r.t)
	}
	require.NoError(t, os.WriteFile(r.file, r.template, 0o600))
	return "sqlite:" + r.file
}

func (r *rooms) opened(t require.TestingT, url string) *store.Store {
	db, err := store.Open(context.Background(), store.Options{URL: url, MasterKey: storetest.MasterKey, BatchConnections: 2, ReadConnections: 2})
	require.NoError(t, err)
	return db
}

// close lets go of the database that is open, if one is.
func (r *rooms) close(t require.TestingT) {
	if r.shared == nil {
		return
	}
	require.NoError(t, r.shared.Close())
	r.shared = nil
	if r.file == "" {
		return
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(r.file + suffix); !errors.Is(err, os.ErrNotExist) {
			require.NoError(t, err)
		}
	}
}

// prove has the store prove its ledger, and that the journal gives what is stored.
func (r *room) prove(t require.TestingT) {
	loyaltytest.Proven(t, r.DB)
	err := r.DB.VerifyRebuild(context.Background(), func(d rebuild.Difference) {
		require.Fail(t, "the journal does not give what is stored", "%+v", d)
	}, func(store.RebuildProgress) {})
	require.NoError(t, err)
}

// tally counts what became of the events of all histories.
type tally struct {
	sync.Mutex
	about emphasis
	fates map[string]int
}

func newTally(about emphasis) *tally { return &tally{about: about, fates: map[string]int{}} }

func (y *tally) count(action string, err error) {
	y.Lock()
	defer y.Unlock()
	y.fates[fate(action, err)]++
}

// fate words what became of an event.
func fate(action string, err error) string {
	var known *loyalty.Error
	if errors.As(err, &known) {
		return action + " " + known.Name
	}
	return action + " recorded"
}

// report tells how often each action succeeded and was refused. One that never
// succeeds is not tested.
func (y *tally) report(t *testing.T) {
	y.Lock()
	for _, f := range slices.Sorted(maps.Keys(y.fates)) {
		t.Logf("%7d %s", y.fates[f], f)
	}
	y.Unlock()
	if !t.Failed() {
		require.Empty(t, y.missing(), "these were never recorded: the histories are not worth much")
	}
}

// missing lists the actions of which none was ever recorded.
func (y *tally) missing() (actions []string) {
	y.Lock()
	defer y.Unlock()
	for _, a := range slices.Sorted(maps.Keys(y.about.weights)) {
		if y.fates[a+" recorded"] == 0 {
			actions = append(actions, a)
		}
	}
	return actions
}

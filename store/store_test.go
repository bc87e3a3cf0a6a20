package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func TestSuite(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			d.Migrated(t) // skips where there is no server
			storetest.Run(t, d)
		})
	}
}

// TestCloseLeavesNothing: a store that is closed has no goroutine any more.
func TestCloseLeavesNothing(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		before := goleak.IgnoreCurrent()
		s, err := store.Open(t.Context(), store.Options{URL: url, MasterKey: storetest.MasterKey})
		require.NoError(t, err)
		require.NoError(t, s.Ready(t.Context()))
		require.NoError(t, s.Close())
		goleak.VerifyNone(t, before)
	})
}

func TestSchemasAreTwins(t *testing.T) {
	storetest.PlainOnly(t) // a spread database has tables of its own
	require.Equal(t, storetest.Schema(t, storetest.SQLite(t)), storetest.Schema(t, storetest.Postgres(t)))
}

func TestMonthsAreMadeAhead(t *testing.T) {
	url := storetest.EmptyPostgres(t)
	now := time.Date(2027, 11, 30, 23, 59, 59, 0, time.UTC)
	open := func() *store.Store {
		s, err := store.Open(context.Background(), store.Options{URL: url, Now: func() time.Time { return now }})
		require.NoError(t, err)
		return s
	}

	s := open()
	require.NoError(t, s.Migrate(context.Background()))
	var want []string
	for month := range 13 {
		want = append(want, time.Date(2027, time.Month(11+month), 1, 0, 0, 0, 0, time.UTC).Format("events_2006_01"))
	}

	want = append(want, "events_default")
	require.Equal(t, want, storetest.Months(t, url))
	now = now.AddDate(0, 0, 1)
	require.NoError(t, s.ExtendJournal(context.Background()))
	require.NoError(t, s.ExtendJournal(context.Background()))
	require.Equal(t, slices.Insert(want, 13, "events_2028_12"), storetest.Months(t, url))
	require.NoError(t, s.Close())

	// A month that was not created in time stays in the default partition, and those after it are created, far ones
	// without a scan that locks the default partition.
	late := time.Date(2029, 4, 2, 0, 0, 0, 0, time.UTC)
	event := loyalty.Event{ID: loyalty.NewID(late, loyalty.ID{}), Customer: loyalty.ID{1}, Action: "visit", At: late, RecordedAt: late}
	now = late
	s = storetest.Open(t, url)
	require.NoError(t, s.Within(context.Background(), loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
		return &loyalty.Writes{Events: []loyalty.Event{event}}, nil
	}))
	later := open()
	require.NoError(t, later.ExtendJournal(context.Background()))
	require.NoError(t, later.Close())
	require.NotContains(t, storetest.Months(t, url), "events_2029_04")
	for month := range 12 {
		require.Contains(t, storetest.Months(t, url), late.AddDate(0, month+1, 0).Format("events_2006_01"))
	}

	var rest int
	require.NoError(t, storetest.Raw(t, url).QueryRow(`SELECT count(*) FROM pg_constraint WHERE conrelid = 'events_default'::regclass AND contype = 'c'`).Scan(&rest))
	require.Zero(t, rest, "no month is refused to the default partition for longer than it takes")
	may := loyalty.Event{ID: loyalty.NewID(late, loyalty.ID{}), Customer: loyalty.ID{1}, Action: "visit", At: late, RecordedAt: late.AddDate(0, 6, 0)}
	require.NoError(t, s.Within(context.Background(), loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
		return &loyalty.Writes{Events: []loyalty.Event{may}}, nil
	}))
	_, err := storetest.Raw(t, url).Exec(`UPDATE events_2029_10 SET action = 'x'`)
	require.ErrorContains(t, err, "append-only")
	_, err = storetest.Raw(t, url).Exec(`TRUNCATE events_2029_10`)
	require.ErrorContains(t, err, "append-only")
}

// A backup holds a weak lock on every table for as long as it takes. Neither a start
// nor the months to come wait for it in a way that makes purchases wait as well.
func TestMonthsBehindABackup(t *testing.T) {
	url := storetest.Postgres(t)
	s := storetest.Open(t, url)
	enrol(t, s, "c-", 1)
	backup, err := storetest.Raw(t, url).Begin()
	require.NoError(t, err)
	defer func() { _ = backup.Rollback() }()
	_, err = backup.Exec(`LOCK TABLE events, events_default IN ACCESS SHARE MODE`)
	require.NoError(t, err)

	later := storetest.OpenWith(t, store.Options{URL: url, Now: func() time.Time { return time.Now().AddDate(0, 2, 0) }}) // a start makes no months
	require.NoError(t, later.Migrate(context.Background()))
	before := storetest.Months(t, url)
	extended := make(chan error, 1)
	go func() { extended <- later.ExtendJournal(context.Background()) }()
	purchases := 0
	for waiting := true; waiting; purchases++ {
		require.NoError(t, credit(s, "c-", 1), "a purchase goes on")
		select {
		case err := <-extended:
			require.ErrorContains(t, err, "lock timeout")
			waiting = false
		default:
		}
	}

	require.Greater(t, purchases, 1)
	require.Equal(t, before, storetest.Months(t, url), "what was given up left nothing")
	require.NoError(t, backup.Rollback())
	require.NoError(t, later.ExtendJournal(context.Background()))
	require.Len(t, storetest.Months(t, url), len(before)+2)
}

// Nodes that reach a new month together make it together.
func TestMonthsAtOnce(t *testing.T) {
	url := storetest.Postgres(t)
	const nodes, rounds = 12, 3
	stores := make([]*store.Store, nodes)
	now := time.Now()
	for i := range stores {
		s := storetest.OpenWith(t, store.Options{URL: url, BatchConnections: 1, ReadConnections: 2, Now: func() time.Time { return now }})
		require.NoError(t, s.Ready(context.Background()))
		stores[i] = s
	}

	for range rounds {
		now = now.AddDate(0, 3, 0)
		done := make(chan error)
		for _, s := range stores {
			go func() { done <- s.ExtendJournal(context.Background()) }()
		}
		for range stores {
			require.NoError(t, <-done)
		}
	}
}

// Nodes that start together migrate together.
func TestMigrateAtOnce(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			url := d.Empty(t)
			done := make(chan error)
			stores := make([]*store.Store, 12)
			for i := range stores {
				stores[i] = storetest.Open(t, url)
			}

			for _, s := range stores {
				go func() { done <- s.Migrate(context.Background()) }()
			}

			for range stores {
				require.NoError(t, <-done)
			}

			for _, s := range stores {
				require.NoError(t, s.Ready(context.Background()))
			}
		})
	}
}

func TestOpenNamesTheSetting(t *testing.T) {
	for url, want := range map[string]string{
		"mysql://x":                         "neither postgres://",
		"loyalty.db":                        "neither postgres://",
		"sqlite:":                           "needs the path of a file",
		"sqlite:x.db?mode=ro":               "without parameters",
		"sqlite:/nowhere/at/all/loyalty.db": "no such file",
		"postgres://u:secret@127.0.0.1:1/x": "connect",
		"postgres://u:secret@h:port/x":      "port",
	} {
		_, err := store.Open(context.Background(), store.Options{URL: url})
		require.ErrorContains(t, err, "LOYALTY_DATABASE_URL: ", url)
		require.ErrorContains(t, err, want, url)
		require.NotContains(t, err.Error(), "secret", url)
	}

	_, err := store.Open(context.Background(), store.Options{DataDir: "/dev/null/x"})
	require.ErrorContains(t, err, "LOYALTY_DATA: ")
}

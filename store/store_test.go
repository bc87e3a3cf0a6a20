package store_test

import (
	"context"
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
	want := []string{"events_2027_11", "events_2027_12", "events_2028_01", "events_default"}
	require.Equal(t, want, storetest.Months(t, url))
	now = now.AddDate(0, 0, 1)
	require.NoError(t, s.ExtendJournal(context.Background()))
	require.NoError(t, s.ExtendJournal(context.Background()))
	require.Equal(t, []string{"events_2027_11", "events_2027_12", "events_2028_01", "events_2028_02", "events_default"}, storetest.Months(t, url))
	require.NoError(t, s.Close())
	now = now.AddDate(0, 1, 0)
	require.NoError(t, open().Close())
	require.Contains(t, storetest.Months(t, url), "events_2028_03")

	// Nobody made April in time: it stays in the default partition, and May is made.
	late := time.Date(2028, 4, 2, 0, 0, 0, 0, time.UTC)
	event := loyalty.Event{ID: loyalty.NewID(late, loyalty.ID{}), Customer: loyalty.ID{1}, Action: "visit", At: late, RecordedAt: late}
	now = late
	s = storetest.Open(t, url)
	require.NoError(t, s.Within(context.Background(), loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
		return &loyalty.Writes{Events: []loyalty.Event{event}}, nil
	}))
	require.NoError(t, open().Close())
	require.NotContains(t, storetest.Months(t, url), "events_2028_04")
	require.Contains(t, storetest.Months(t, url), "events_2028_05")
}

// Nodes that start together migrate together.
func TestMigrateAtOnce(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			url := d.Empty(t)
			done := make(chan error)
			stores := make([]*store.Store, 4)
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

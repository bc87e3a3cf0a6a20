package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

func openTestFile(t *testing.T) (*Store, *sqliteEngine) {
	t.Helper()
	s, err := Open(context.Background(), Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "loyalty.db")})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(context.Background()))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, s.engine.(*sqliteEngine)
}

func put(s *Store, w loyalty.Writes) error {
	return s.Within(context.Background(), loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) { return &w, nil })
}

func visit(data []byte) loyalty.Event {
	now := time.Now()
	return loyalty.Event{ID: loyalty.NewID(now, loyalty.ID{}), Customer: loyalty.ID{1}, Action: "visit", At: now, RecordedAt: now, Data: data}
}

// The store's own connections refuse REPLACE, and its readers every write.
func TestConnectionsAreSet(t *testing.T) {
	s, e := openTestFile(t)
	require.NoError(t, put(s, loyalty.Writes{Events: []loyalty.Event{visit(nil)}}))
	for range 3 { // several connections of the reading pool at once
		c, err := e.readers.Conn(context.Background())
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Close()) }()
		_, err = c.ExecContext(context.Background(), `INSERT INTO names VALUES (1, 'x', x'00')`)
		require.ErrorContains(t, err, "readonly")
	}
	require.NoError(t, checkPragmas(context.Background(), e.writer))
	require.NoError(t, checkPragmas(context.Background(), e.readers))
	require.ErrorContains(t, s.write.Exec(`REPLACE INTO events SELECT * FROM events`).Error, "append-only")
}

// Programs that open an empty file at the same moment all open it: SQLite does not wait
// by itself for one that switches it to WAL, or closes it as the last.
func TestOpenedAtOnce(t *testing.T) {
	for range 30 {
		url := "sqlite:" + filepath.Join(t.TempDir(), "loyalty.db")
		var all errgroup.Group
		for range 4 {
			all.Go(func() error {
				s, err := Open(context.Background(), Options{URL: url})
				if err != nil {
					return err
				}
				return s.Close()
			})
		}
		require.NoError(t, all.Wait())
	}
}

func TestPragmaThatCannotBeSet(t *testing.T) {
	_, e := openTestFile(t)
	_, err := e.writer.Exec(`PRAGMA synchronous = NORMAL`)
	require.NoError(t, err)
	require.ErrorContains(t, checkPragmas(context.Background(), e.writer), "pragma synchronous is 1")
}

// A full disk refuses writes, not reads, and is over when there is room again.
func TestFullDisk(t *testing.T) {
	s, e := openTestFile(t)
	limit := func(pages string) {
		_, err := e.writer.Exec(`PRAGMA max_page_count = ` + pages)
		require.NoError(t, err)
	}

	limit("1") // what is there stays: the limit is the present size
	written := 0
	var err error
	for ; err == nil && written < 1000; written++ {
		err = put(s, loyalty.Writes{Events: []loyalty.Event{visit(make([]byte, 3000)), visit(nil)}})
	}

	require.ErrorIs(t, err, loyalty.ErrDatabaseAway)
	var events int64
	require.NoError(t, s.read.Table("events").Count(&events).Error)
	require.Equal(t, int64(2*(written-1)), events, "whole batches or nothing")
	limit("100000")
	require.NoError(t, put(s, loyalty.Writes{Events: []loyalty.Event{visit(make([]byte, 3000))}}))
}

// The log is emptied after a key was destroyed, later if a reader holds it up.
func TestCheckpointIsOwed(t *testing.T) {
	s, e := openTestFile(t)
	file := filepath.Join(t.TempDir(), "unused")
	require.NoError(t, s.read.Raw(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file).Error)
	size := func() int64 {
		info, err := os.Stat(file + "-wal")
		require.NoError(t, err)
		return info.Size()
	}

	reader, err := e.readers.BeginTx(context.Background(), nil)
	require.NoError(t, err)
	var n int
	require.NoError(t, reader.QueryRow(`SELECT count(*) FROM events`).Scan(&n))
	require.NoError(t, put(s, loyalty.Writes{DestroyKeys: []loyalty.ID{{1}}, Events: []loyalty.Event{visit(nil)}}))
	require.True(t, e.owed)
	require.Positive(t, size())
	began := time.Now()
	for range 200 { // each that tried would wait for a tenth of a second
		require.NoError(t, put(s, loyalty.Writes{Events: []loyalty.Event{visit(nil)}}))
	}

	require.Less(t, time.Since(began), owedEvery, "a reader is not waited for by every writer")
	require.True(t, e.owed)
	require.NoError(t, reader.Rollback())
	e.hindered = e.hindered.Add(-owedEvery)
	require.NoError(t, put(s, loyalty.Writes{Events: []loyalty.Event{visit(nil)}}))
	require.False(t, e.owed)
	require.Zero(t, size())

	reader, err = e.readers.BeginTx(context.Background(), nil)
	require.NoError(t, err)
	require.NoError(t, reader.QueryRow(`SELECT count(*) FROM events`).Scan(&n))
	require.NoError(t, put(s, loyalty.Writes{DestroyKeys: []loyalty.ID{{1}}, Events: []loyalty.Event{visit(nil)}}))
	require.True(t, e.owed)
	require.NoError(t, reader.Rollback())
	e.empty()
	require.False(t, e.owed, "who comes last does not leave it")
	require.Zero(t, size())
}

// A tree of keys that has the rows as well compares whole rows when it is searched, and reads
// one that is wider than a quarter of a page to its end each time: what callers can make wide
// is in a rowid table, unless it is seldom and its table is not searched by every event.
func TestWideRowsHaveRowids(t *testing.T) {
	_, e := openTestFile(t)
	rows, err := e.readers.Query(`SELECT l.name || '.' || c.name FROM pragma_table_list l, pragma_table_xinfo(l.name) c
 WHERE l.wr AND c.name IN ('data', 'personal', 'effects', 'detail', 'lines', 'body', 'block', 'custom', 'labels', 'external_ids', 'bytes', 'sealed', 'answer', 'notice',
 'burn', 'hold', 'uses', 'stores', 'products')`)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var wide []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		wide = append(wide, name)
	}

	require.NoError(t, rows.Err())
	require.ElementsMatch(t, []string{
		"progress.data",                    // a few figures; what waits for a decision may be as wide as its event
		"claims.burn", "reservations.hold", // an entry for each lot, wide with dozens of them
		"coupons.uses", "coupons.stores", "coupons.products",
		"entities.data",                             // the programme: few, and read as a whole
		"bulk_items.data",                           // a row of a list
		"upload_parts.bytes", "upload_parts.sealed", // read in their order
		"notices.data", "deliveries.notice", // the platform's own words
		"attempts.answer", "campaign_figures.labels", // cut to their beginning, and short
		"customer_keys.sealed", "leavers.sealed", "webhook_secrets.sealed",
	}, wide)
}

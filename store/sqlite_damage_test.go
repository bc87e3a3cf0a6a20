package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// The log is emptied when nothing is written, however long a reader prevented it.
func TestLogIsBounded(t *testing.T) {
	url := storetest.SQLite(t)
	s := storetest.Open(t, url)
	enrol(t, s, "c-", 1)
	reader, err := storetest.Raw(t, url).Begin()
	require.NoError(t, err)
	var n int
	require.NoError(t, reader.QueryRow(`SELECT count(*) FROM events`).Scan(&n))
	log := func() int64 {
		size, embedded := s.LogBytes()
		require.True(t, embedded)
		return size
	}

	for log() < 2<<20 {
		require.NoError(t, credit(s, "c-", 1))
	}

	require.NoError(t, reader.Rollback())
	require.Eventually(t, func() bool { return log() == 0 }, 30*time.Second, 100*time.Millisecond)
	require.NoError(t, credit(s, "c-", 1))
}

// copied is a database as a crash leaves it: the file and an unfolded log.
func copied(t *testing.T, url string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		file, err := os.ReadFile(strings.TrimPrefix(url, "sqlite:") + suffix)
		require.NoError(t, err)
		require.NotEmpty(t, file)
		require.NoError(t, os.WriteFile(path+suffix, file, 0o600))
	}
	return path
}

// A file that was damaged while it was closed is noticed, remains readable, and is not written.
func TestDamagedFile(t *testing.T) {
	url := storetest.SQLite(t)
	s := storetest.Open(t, url)
	enrol(t, s, "c-", 50)
	raw := storetest.Raw(t, url)
	_, err := raw.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	require.NoError(t, err)
	var page int64
	require.NoError(t, raw.QueryRow(`SELECT rootpage FROM sqlite_master WHERE name = 'customers_email'`).Scan(&page))
	require.NoError(t, credit(s, "c-", 1))

	sound := storetest.Open(t, "sqlite:"+copied(t, url))
	require.NoError(t, sound.CheckFile(t.Context()))
	require.NoError(t, credit(sound, "c-", 1))

	path := copied(t, url)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte(strings.Repeat("damage! ", 512)), (page-1)*4096)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	damaged := storetest.Open(t, "sqlite:"+path)
	require.ErrorIs(t, damaged.CheckFile(t.Context()), loyalty.ErrDamaged)
	require.ErrorIs(t, credit(damaged, "c-", 1), loyalty.ErrDamaged)
	require.ErrorIs(t, damaged.Change(t.Context(), func(loyalty.AdminTx) error { return nil }), loyalty.ErrDamaged)
	require.ErrorIs(t, damaged.Writable(t.Context()), loyalty.ErrDamaged)
	require.Eventually(t, func() bool {
		return damaged.KeysUsed(t.Context(), map[string]time.Time{"k": time.Now()}) != nil
	}, 10*time.Second, time.Millisecond, "nothing else writes either")
	c, err := damaged.Customer(context.Background(), "c-7")
	require.NoError(t, err)
	require.Equal(t, "c-7", c.Name)
}

package backup

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// enrolled puts a customer with one event into a database.
func enrolled(t *testing.T, s *store.Store, name string) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	c := storetest.Member(name, now)
	e := loyalty.Event{ID: loyalty.NewID(now, c.ID), Customer: c.ID, Action: "opt_in", At: now, RecordedAt: now}
	c.LastEvent = e.ID
	w := loyalty.Writes{Events: []loyalty.Event{e}}
	storetest.Enrol(&w, c)
	require.NoError(t, storetest.Put(s, now, w))
}

// eachDatabase runs a test over a store on both databases, with its URL and a fresh one's.
func eachDatabase(t *testing.T, test func(t *testing.T, url string, s *store.Store, d storetest.Database)) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			url := d.Migrated(t)
			test(t, url, storetest.Open(t, url), d)
		})
	}
}

// TestBackup: a copy is made and proven, holds what was there and nothing later, is found in
// the list, verified without a change of an octet, and refused once it is damaged.
func TestBackup(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string, s *store.Store, _ storetest.Database) {
		require.NoError(t, s.CheckMasterKey(t.Context()))
		enrolled(t, s, "member-1001")
		folder := t.TempDir()
		o := Options{Store: s, URL: url, Folder: folder}
		b, err := Create(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, Proven, b.Checked)
		require.EqualValues(t, []int64{1, 1}, []int64{b.Customers, b.Events})
		require.NotZero(t, b.LastEvent)
		require.Equal(t, s.MasterKeyFingerprint(), b.MasterKey)
		info, err := os.Stat(b.Path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, entries, 2, "a backup and its manifest, and nothing that is left over")

		enrolled(t, s, "member-1002")
		o.Path = b.Path
		before, err := os.ReadFile(b.Path)
		require.NoError(t, err)
		again, err := Verify(t.Context(), o)
		require.NoError(t, err)
		require.EqualValues(t, 1, again.Customers)
		after, err := os.ReadFile(b.Path)
		require.NoError(t, err)
		require.Equal(t, before, after)
		_, err = Create(t.Context(), o)
		require.ErrorIs(t, err, fs.ErrExist)

		damaged := slices.Clone(before)
		damaged[len(damaged)/2] ^= 1
		require.NoError(t, os.WriteFile(b.Path, damaged, 0o600))
		_, err = Verify(t.Context(), o)
		require.ErrorIs(t, err, ErrDamaged)
		_, err = Open(b.Path)
		require.ErrorIs(t, err, ErrDamaged, "and so it is not restored")
		require.NoError(t, os.WriteFile(b.Path, before[:len(before)-1], 0o600))
		_, err = Verify(t.Context(), o)
		require.ErrorIs(t, err, ErrDamaged)
		require.NoError(t, os.WriteFile(b.Path, before, 0o600))
		manifest := *b
		manifest.Events++
		require.NoError(t, manifest.write(b.Path))
		_, err = Verify(t.Context(), o)
		require.ErrorIs(t, err, ErrDamaged, "it has another number of events")
		require.NoError(t, os.Remove(b.Path+manifestSuffix))
		_, err = Verify(t.Context(), o)
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
}

// TestBrokenLedger: a copy of a database whose ledger does not hold says so, stays, and
// makes no older one go.
func TestBrokenLedger(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string, s *store.Store, _ storetest.Database) {
		enrolled(t, s, "member-1001")
		o := Options{Store: s, URL: url, Folder: t.TempDir(), Keep: 1}
		good, err := Create(t.Context(), o)
		require.NoError(t, err)
		_, err = storetest.Raw(t, url).Exec(`UPDATE balances SET score = 7`)
		require.NoError(t, err)
		var problems []string
		o.Problem = func(what string) { problems = append(problems, what) }
		broken, err := Create(t.Context(), o)
		require.ErrorIs(t, err, ErrBroken)
		require.NotEmpty(t, problems)
		list, err := List(o.Folder)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, []string{broken.Path, Broken, good.Path, Proven}, []string{list[0].Path, list[0].Checked, list[1].Path, list[1].Checked})
		require.Equal(t, good.MadeAt, Newest(o.Folder))
	})
}

// TestKeep: of the backups with generated names the newest stay; others are never deleted.
func TestKeep(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite(t))
	folder := t.TempDir()
	require.True(t, Newest(folder).IsZero())
	mine, err := Create(t.Context(), Options{Store: s, Path: filepath.Join(folder, "before-the-sale")})
	require.NoError(t, err)
	left, young := filepath.Join(folder, namePrefix+"x"+partialSuffix), filepath.Join(folder, namePrefix+"y"+partialSuffix)
	for _, path := range []string{left, young} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}

	require.NoError(t, os.Chtimes(left, time.Time{}, time.Now().Add(-2*leftAfter)))
	var made []string
	for range 4 {
		b, err := Create(t.Context(), Options{Store: s, Folder: folder, Keep: 2})
		require.NoError(t, err)
		made = append(made, b.Path)
	}

	list, err := List(folder)
	require.NoError(t, err)
	var paths []string
	for _, b := range list {
		paths = append(paths, b.Path)
	}

	require.Equal(t, []string{made[3], made[2], mine.Path}, paths)
	require.NoFileExists(t, made[0])
	require.NoFileExists(t, left, "whoever made it was killed")
	require.FileExists(t, young, "somebody may be making it")
	require.NoFileExists(t, made[0]+manifestSuffix)
}

// TestLeftovers: a database in which a check was killed goes with the next check; another
// one's with such a name, one that is used, and one that is being checked now stay.
func TestLeftovers(t *testing.T) {
	url := storetest.Postgres(t)
	s := storetest.Open(t, url)
	raw := storetest.Raw(t, url)
	mark := "a copy of a loyalty programme that is being checked, and dropped afterwards; made at "
	old, now := mark+time.Now().Add(-2*time.Hour).UTC().Format(time.RFC3339), mark+time.Now().UTC().Format(time.RFC3339)
	for name, comment := range map[string]string{"loyalty_check_left": old, "loyalty_check_used": old, "loyalty_check_now": now, "loyalty_check_yours": "mine"} {
		_, err := raw.Exec("CREATE DATABASE " + name + " TEMPLATE template0")
		require.NoError(t, err)
		t.Cleanup(func() { _, _ = raw.Exec("DROP DATABASE IF EXISTS " + name) })
		_, err = raw.Exec("COMMENT ON DATABASE " + name + " IS '" + comment + "'")
		require.NoError(t, err)
	}

	there, err := otherDatabase(url, "loyalty_check_used")
	require.NoError(t, err)
	used, err := sql.Open("pgx", there)
	require.NoError(t, err)
	require.NoError(t, used.Ping())
	b, err := Create(t.Context(), Options{Store: s, URL: url, Folder: t.TempDir()})
	require.NoError(t, err)
	require.Equal(t, Proven, b.Checked)
	require.NoError(t, used.Close())
	rows, err := raw.Query("SELECT datname FROM pg_database WHERE datname LIKE 'loyalty_check_%' ORDER BY datname")
	require.NoError(t, err)
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}

	require.NoError(t, rows.Err())
	require.Equal(t, []string{"loyalty_check_now", "loyalty_check_used", "loyalty_check_yours"}, names)
}

// TestLibpqURL: PostgreSQL's programs get a URL that they understand, and the password where other users cannot see it.
func TestLibpqURL(t *testing.T) {
	name, password, err := libpqURL("postgres://loyalty:s%40cret@db:5433/loyalty?sslmode=require&pool_max_conns=4&default_query_exec_mode=exec")
	require.NoError(t, err)
	require.Equal(t, []string{"postgres://loyalty@db:5433/loyalty?sslmode=require", "s@cret"}, []string{name, password})
	_, password, err = libpqURL("postgres:///loyalty?password=x&host=/run")
	require.NoError(t, err)
	require.Equal(t, "x", password)
	_, _, err = libpqURL("postgres://loyalty:secret@db:port/x")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
	other, err := otherDatabase("postgres://loyalty:p@db/loyalty?sslmode=disable", "check")
	require.NoError(t, err)
	require.Equal(t, "postgres://loyalty:p@db/check?sslmode=disable", other)
}

package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// hard is a text that is easily changed on its way.
const hard = "a \"quoted\" <b>&amp;</b> \\ tab\there\nÁrvíztűrő 名前 \u2028 🎁 é\u0301 \u007f ' ; --"

// fillEach puts a row into every table that has none, past the store.
func fillEach(t *testing.T, url string, s *store.Store) {
	t.Helper()
	raw := storetest.Raw(t, url)
	var tables []store.Table
	require.NoError(t, s.Filled(t.Context(), func(s *store.Still) error { tables = s.Tables; return nil }))
	types := columnTypes(t, raw, url)
	for _, table := range tables {
		var n int
		require.NoError(t, raw.QueryRow("SELECT count(*) FROM "+table.Name).Scan(&n))
		if n > 0 {
			continue
		}

		var names, places []string
		var values []any
		for k, c := range table.Columns {
			names, places = append(names, c.Name), append(places, fmt.Sprintf("$%d", k+1))
			var v any
			switch c.Kind {
			case store.KindNumber:
				v = 1
				if types[table.Name+"."+c.Name] == "boolean" {
					v = true
				}

			case store.KindText:
				v = hard
				if table.Name+"."+c.Name == "progress.data" { // the databases read in it
					document, err := json.Marshal(map[string]string{"tier": hard})
					require.NoError(t, err)
					v = string(document)
				}

			case store.KindBytes:
				id := bytes.Repeat([]byte{0x80, 0xff}, 8) // the same everywhere, so that rows may refer to each other
				v = id
				if types[table.Name+"."+c.Name] == "uuid" {
					v = fmt.Sprintf("%x", id)
				}
			}

			values = append(values, v)
		}

		_, err := raw.Exec("INSERT INTO "+table.Name+" ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(places, ", ")+")", values...)
		require.NoError(t, err, table.Name)
	}
}

// columnTypes are PostgreSQL's, by table.column; nil for SQLite.
func columnTypes(t *testing.T, raw *sql.DB, url string) map[string]string {
	t.Helper()
	types := map[string]string{}
	if strings.HasPrefix(url, "sqlite:") {
		return types
	}

	rows, err := raw.Query("SELECT table_name || '.' || column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var name, kind string
		require.NoError(t, rows.Scan(&name, &kind))
		types[name] = kind
	}

	require.NoError(t, rows.Err())
	return types
}

// dumped gives the octets of a dump.
func dumped(t *testing.T, s *store.Store) (path string, octets []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "programme.dump")
	_, err := Dump(t.Context(), s, path, nil)
	require.NoError(t, err)
	octets, err = os.ReadFile(path)
	require.NoError(t, err)
	return path, octets
}

func opened(t *testing.T, path string) *Archive {
	t.Helper()
	a, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// TestEveryTableTravels: a row of every table, with texts that are easily changed, goes out
// of either database into either, and the file is the same each time.
func TestEveryTableTravels(t *testing.T) {
	for _, from := range storetest.All {
		for _, to := range storetest.All {
			t.Run(from.Name+" to "+to.Name, func(t *testing.T) {
				url := from.Migrated(t)
				source := storetest.Open(t, url)
				fillEach(t, url, source)
				path, octets := dumped(t, source)
				a := opened(t, path)
				require.NoError(t, a.Verify(t.Context(), nil))
				for _, table := range a.Manifest.Tables {
					require.Positive(t, table.Rows, table.Name)
				}

				target := storetest.Open(t, to.Empty(t))
				var told Progress
				differ, err := a.Fill(t.Context(), target, func(p Progress) { told = p })
				require.NoError(t, err)
				require.Empty(t, differ)
				require.Equal(t, told.Of, told.Done)
				_, again := dumped(t, target)
				require.True(t, bytes.Equal(octets, again), "another file")
			})
		}
	}
}

// TestOlderArchive: an archive of an older schema comes into a database of a later program, by way
// of its own, and the migrations bring its rows along.
func TestOlderArchive(t *testing.T) {
	for _, to := range storetest.All {
		t.Run(to.Name, func(t *testing.T) {
			ctx, url := t.Context(), storetest.All[0].Migrated(t)
			source := storetest.Open(t, url)
			fillEach(t, url, source)
			for _, sealed := range []string{"master_check", "names_key", "key_secrets", "customer_keys"} { // they hold nothing that a key opens
				_, err := storetest.Raw(t, url).Exec("DELETE FROM " + sealed)
				require.NoError(t, err)
			}

			path, _ := dumped(t, source)
			storetest.LaterProgram(t)
			a := opened(t, path)
			target := storetest.Open(t, to.Empty(t))
			differ, err := a.Fill(ctx, target, nil)
			require.NoError(t, err)
			require.Empty(t, differ)
			require.ErrorIs(t, target.Ready(ctx), store.ErrMigrationsPending)
			require.NoError(t, target.Migrate(ctx))
			require.NoError(t, target.Ready(ctx))
			names, err := target.OptOuts(ctx, a.Manifest.began())
			require.NoError(t, err, "its rows are read")
			require.Empty(t, names)
			_, octets := dumped(t, target)
			require.NotEmpty(t, octets)
		})
	}
}

// TestOtherVersions: an archive of another version is refused in one line.
func TestOtherVersions(t *testing.T) {
	url := storetest.All[0].Migrated(t)
	path, _ := dumped(t, storetest.Open(t, url))
	for _, version := range []int{0, 2} {
		other := rewritten(t, path, "names", func(m *Manifest, lines []byte) []byte { m.Version = version; return lines })
		_, err := Open(other)
		require.ErrorContains(t, err, fmt.Sprintf("the archive is of version %d, and this program reads version 1", version))
		require.NotContains(t, err.Error(), "\n")
	}
}

// TestDamagedArchive: any octet that is not what was written is found before anything is
// restored.
func TestDamagedArchive(t *testing.T) {
	url := storetest.All[0].Migrated(t)
	source := storetest.Open(t, url)
	fillEach(t, url, source)
	path, octets := dumped(t, source)
	verify := func(octets []byte) error {
		damaged := filepath.Join(t.TempDir(), "damaged")
		require.NoError(t, os.WriteFile(damaged, octets, 0o600))
		a, err := Open(damaged)
		if err != nil {
			return err
		}
		defer func() { _ = a.Close() }()
		return a.Verify(t.Context(), nil)
	}

	require.NoError(t, verify(octets))
	require.ErrorIs(t, verify(octets[:len(octets)-1]), ErrDamaged)
	require.ErrorIs(t, verify(octets[:len(octets)/2]), ErrDamaged)
	require.ErrorIs(t, verify([]byte("SQLite format 3")), ErrDamaged)
	unseen := 0
	for at := 0; at < len(octets); at += 97 {
		changed := bytes.Clone(octets)
		changed[at] ^= 0x10
		if verify(changed) == nil {
			unseen++ // a name or a flag that is twice in a zip file, and read once
		}
	}

	require.Less(t, unseen, len(octets)/97/3)
	_, err := Open(filepath.Join(t.TempDir(), "missing"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Dump(t.Context(), source, path, nil)
	require.ErrorIs(t, err, fs.ErrExist, "a file that is there is left alone")
}

// TestCutAndInflatedArchives: an entry that ends inside a line, that has more or longer lines than the
// manifest says, or a line no table has, is damaged, although the zip itself is sound.
func TestCutAndInflatedArchives(t *testing.T) {
	url := storetest.All[0].Migrated(t)
	source := storetest.Open(t, url)
	fillEach(t, url, source)
	path, _ := dumped(t, source)

	verify := func(change func(m *Manifest, lines []byte) []byte) error {
		a := opened(t, rewritten(t, path, "names", change))
		return a.Verify(t.Context(), nil)
	}

	require.NoError(t, verify(func(_ *Manifest, lines []byte) []byte { return lines }))

	for why, change := range map[string]func(m *Manifest, lines []byte) []byte{
		"ends inside line":  func(_ *Manifest, lines []byte) []byte { return lines[:len(lines)-2] },
		"checksum of table": func(_ *Manifest, lines []byte) []byte { return bytes.Replace(lines, []byte("{"), []byte("["), 1) },
		"has a line of more than": func(_ *Manifest, lines []byte) []byte {
			return append(bytes.Clone(lines), bytes.Repeat([]byte(" "), 1<<20)...)
		},
		"more than the": func(_ *Manifest, lines []byte) []byte { return append(bytes.Clone(lines), '\n') },
		"a line of more than 67108864 octets": func(m *Manifest, lines []byte) []byte {
			at := slices.IndexFunc(m.Tables, func(t Table) bool { return t.Name == "names" })
			m.Tables[at].Longest, m.Tables[at].Bytes = 1<<40, 1<<40
			return append(bytes.Clone(lines), bytes.Repeat([]byte(" "), maxLine+1)...)
		},
	} {
		err := verify(change)
		require.ErrorIs(t, err, ErrDamaged, why)
		require.NotErrorIs(t, err, io.EOF, why)
		require.ErrorContains(t, err, why)
	}
}

// rewritten is an archive with another content of one table, in a zip that is sound.
func rewritten(t *testing.T, path, table string, change func(m *Manifest, lines []byte) []byte) string {
	t.Helper()
	a := opened(t, path)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name string, content []byte) {
		entry, err := z.Create(name)
		require.NoError(t, err)
		_, err = entry.Write(content)
		require.NoError(t, err)
	}

	for _, f := range a.zip.File {
		if f.Name == manifestName {
			continue
		}
		r, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		if f.Name == entryName(table) {
			content = change(&a.Manifest, content)
		}
		add(f.Name, content)
	}

	manifest, err := json.Marshal(a.Manifest)
	require.NoError(t, err)
	add(manifestName, manifest)
	require.NoError(t, z.Close())
	to := filepath.Join(t.TempDir(), "rewritten")
	require.NoError(t, os.WriteFile(to, out.Bytes(), 0o600))
	return to
}

// TestRefusedTargets: what has something in it is left as it is, and a fill that was cut
// off leaves a database that can be filled.
func TestRefusedTargets(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			url := d.Migrated(t)
			source := storetest.Open(t, url)
			fillEach(t, url, source)
			path, octets := dumped(t, source)
			a := opened(t, path)
			_, err := a.Fill(t.Context(), source, nil)
			require.ErrorIs(t, err, store.ErrNotEmpty)

			empty := d.Empty(t)
			stranger, err := store.Open(t.Context(), store.Options{URL: empty, MasterKey: [32]byte{1}})
			require.NoError(t, err)
			_, err = a.Fill(t.Context(), stranger, nil)
			require.ErrorIs(t, err, ErrOtherKey)
			require.NoError(t, stranger.Close())

			target := storetest.Open(t, empty)
			ctx, cancel := context.WithCancel(t.Context())
			require.ErrorIs(t, target.Fill(ctx, a.Manifest.Schema, a.Manifest.began(), func(f *store.Filling) error {
				for i, table := range f.Tables {
					if i == len(f.Tables)/2 {
						cancel()
					}
					if err := a.fillTable(ctx, f, table, &meter{}); err != nil {
						return err
					}
				}
				return nil
			}), context.Canceled)

			differ, err := a.Fill(t.Context(), target, nil)
			require.NoError(t, err)
			require.Empty(t, differ)
			_, again := dumped(t, target)
			require.True(t, bytes.Equal(octets, again))
		})
	}
}

package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/archive"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// demoed is a folder with the embedded database of a small demo, and its master key.
func demoed(t *testing.T) (dir, key string) {
	t.Helper()
	dir = t.TempDir()
	r := command(t, dir, nil, "demo", "--quiet", "--customers", "30", "--events", "400")
	require.Equal(t, 0, r.code, r.errors)
	return dir, filepath.Join(dir, "data", masterKeyFile)
}

// succeeds runs a command that must.
func succeeds(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	r := command(t, dir, env, args...)
	require.Equal(t, 0, r.code, "%v: %s%s", args, r.out, r.errors)
	return r.out
}

// dumped is a dump of a programme, which its command makes a file of.
func dumped(t *testing.T, dir string, env []string, file string) []byte {
	t.Helper()
	out := succeeds(t, dir, env, "dump", file)
	require.Regexp(t, `: \d+ tables of schema \d+ with \d+ events, the last of 20`, out)
	octets, err := os.ReadFile(file)
	require.NoError(t, err)
	return octets
}

// restored fills an empty database, whose ledger has to hold then.
func restored(t *testing.T, dir string, env []string, file string) string {
	t.Helper()
	out := succeeds(t, dir, env, "restore", file)
	require.Contains(t, out, "give exactly what is stored.\n", out)
	require.Regexp(t, `I12 +held`, out)
	return out
}

// TestProgrammeMoves takes a filled programme from the embedded database to PostgreSQL and
// back: the dumps are the same file, and journal and ledger hold at each stop.
func TestProgrammeMoves(t *testing.T) {
	from, key := demoed(t)
	name := []string{"LOYALTY_MASTER_KEY_FILE=" + key}
	files := t.TempDir()
	first := dumped(t, from, nil, filepath.Join(files, "first"))
	at := storetest.EmptyPostgres(t)
	postgres := append(name, "LOYALTY_DATABASE_URL="+at)
	out := restored(t, files, postgres, filepath.Join(files, "first"))
	sent := 0
	require.NoError(t, storetest.Raw(t, at).QueryRow("SELECT count(*) FROM events WHERE sent_by = 'command line'").Scan(&sent))
	require.Positive(t, sent, "who sent the events came along")
	require.Contains(t, out, "There is no list of opt-outs: customers who opted out after 20")
	second := dumped(t, files, postgres, filepath.Join(files, "second"))
	require.True(t, bytes.Equal(first, second), "PostgreSQL's dump is another file")
	back := append(name, "LOYALTY_DATA="+filepath.Join(files, "back"))
	restored(t, files, back, filepath.Join(files, "second"))
	require.True(t, bytes.Equal(first, dumped(t, files, back, filepath.Join(files, "third"))), "SQLite's dump is another file")

	r := command(t, files, back, "restore", filepath.Join(files, "second"))
	require.Equal(t, 2, r.code)
	require.Regexp(t, `^loyalty: LOYALTY_DATA: restore fills an empty database: the database is not empty: table \w+ has \d+ rows\n$`, r.errors)
	require.Equal(t, succeeds(t, from, nil, "keys", "list"), succeeds(t, files, back, "keys", "list"))
	require.Equal(t, succeeds(t, from, nil, "config", "export"), succeeds(t, files, postgres, "config", "export"))
}

// TestProgrammeMovesToMachines takes a programme from PostgreSQL to a database that Citus spreads, and
// back: the dumps are the same file. Spreading twice changes nothing, also when the programme is there.
func TestProgrammeMovesToMachines(t *testing.T) {
	machines := storetest.EmptyMachines(t)
	from, key := demoed(t)
	files := t.TempDir()
	env := func(url string) []string {
		return []string{"LOYALTY_MASTER_KEY_FILE=" + key, "LOYALTY_DATABASE_URL=" + url}
	}
	dumped(t, from, nil, filepath.Join(files, "demo"))
	before, after := env(storetest.EmptyPostgres(t)), env(storetest.EmptyPostgres(t))
	restored(t, files, before, filepath.Join(files, "demo"))
	first := dumped(t, files, before, filepath.Join(files, "first"))

	spread := env(machines)
	parts := func() (text string) {
		require.NoError(t, storetest.Raw(t, machines).QueryRow(
			`SELECT string_agg(format('%s %s %s %s', table_name, shardid, nodename, nodeport), E'\n' ORDER BY table_name::text, shardid, nodeport) FROM citus_shards`).Scan(&text))
		return text
	}

	succeeds(t, files, spread, "migrate", "distribute", "--shards", "4")
	placed := parts()
	require.NotEmpty(t, placed)
	succeeds(t, files, spread, "migrate", "distribute", "--shards", "8")
	require.Equal(t, placed, parts(), "what is in its place stays there, with the shards that it has")
	restored(t, files, spread, filepath.Join(files, "first"))
	succeeds(t, files, spread, "migrate", "distribute")
	require.True(t, bytes.Equal(first, dumped(t, files, spread, filepath.Join(files, "second"))), "Citus' dump is another file")
	restored(t, files, after, filepath.Join(files, "second"))
	require.True(t, bytes.Equal(first, dumped(t, files, after, filepath.Join(files, "third"))), "PostgreSQL's dump is another file")

	r := command(t, files, before, "migrate", "distribute")
	require.Equal(t, codeFailed, r.code)
	require.Contains(t, r.errors, "does not have the extension citus")
}

// TestRestoreForgets: who opted out after the dump was made is forgotten in what is
// restored from it, merged accounts included.
func TestRestoreForgets(t *testing.T) {
	from, key := demoed(t)
	files := t.TempDir()
	succeeds(t, from, nil, "dump", filepath.Join(files, "dump"))
	raw := storetest.Raw(t, "sqlite:"+filepath.Join(from, "data", "loyalty.db"))
	var list strings.Builder
	rows, err := raw.Query(`SELECT lower(hex(id)) FROM customers WHERE status = 'active' AND email <> '' ORDER BY id LIMIT 3`)
	require.NoError(t, err)
	var ids []string
	for rows.Next() {
		var id string
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
		list.WriteString(`{"customer":"` + id + `","at":"2026-11-01T00:00:00Z"}` + "\n")
	}

	require.NoError(t, rows.Err())
	require.Len(t, ids, 3)
	list.WriteString(`{"customer":"00000000-0000-7000-8000-000000000000","at":"2026-11-01T00:00:00Z"}` + "\n" + `{"custo`) // an unknown customer, and a torn line
	require.NoError(t, os.WriteFile(filepath.Join(files, archive.OptOutsFile), []byte(list.String()), 0o600))
	for _, url := range []string{"", storetest.EmptyPostgres(t)} {
		env := []string{"LOYALTY_MASTER_KEY_FILE=" + key, "LOYALTY_DATABASE_URL=" + url, "LOYALTY_DATA=" + filepath.Join(files, "data")}
		out := succeeds(t, files, env, "restore", filepath.Join(files, "dump"))
		require.Contains(t, out, "Of 4 opt-outs in "+filepath.Join(files, archive.OptOutsFile)+", 3 were not in the file and were applied again.\n")
		if url == "" {
			url = "sqlite:" + filepath.Join(files, "data", "loyalty.db")
		}
		for _, id := range ids {
			var known int
			require.NoError(t, storetest.Raw(t, url).QueryRow(
				`SELECT count(*) FROM customers c WHERE replace(lower(`+idText(url)+`), '-', '') = '`+id+`' AND (status <> 'opted_out' OR email LIKE '%@%')`).Scan(&known))
			require.Zero(t, known)
		}
	}
}

// idText is the id of a row as text.
func idText(url string) string {
	if strings.HasPrefix(url, "sqlite:") {
		return "hex(c.id)"
	}
	return "c.id::text"
}

// TestRestoreRefuses: every file and place that cannot be right is refused with one line,
// before anything is written.
func TestRestoreRefuses(t *testing.T) {
	from, key := demoed(t)
	files := t.TempDir()
	good := filepath.Join(files, "good")
	succeeds(t, from, nil, "dump", good)
	octets, err := os.ReadFile(good)
	require.NoError(t, err)
	damaged := filepath.Join(files, "damaged")
	octets[len(octets)/2] ^= 1
	require.NoError(t, os.WriteFile(damaged, octets, 0o600))
	for _, c := range []struct {
		env  []string
		args []string
		code int
		line string
	}{
		{nil, []string{"restore", good}, 2, `LOYALTY_MASTER_KEY: is needed to restore: put the master.key of the archive's programme at `},
		{[]string{"LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32)}, []string{"restore", good}, 2, `LOYALTY_MASTER_KEY is not the archive's master key`},
		{[]string{"LOYALTY_MASTER_KEY_FILE=" + key}, []string{"restore", damaged}, 1, `the archive is damaged`},
		{[]string{"LOYALTY_MASTER_KEY_FILE=" + key}, []string{"restore", filepath.Join(files, "missing")}, 1, `no such file`},
		{[]string{"LOYALTY_MASTER_KEY_FILE=" + key}, []string{"restore", good, "--opt-outs", "missing"}, 2, `--opt-outs: open missing`},
	} {
		place := t.TempDir()
		r := command(t, place, c.env, c.args...)
		require.Equal(t, c.code, r.code, r.errors)
		require.Contains(t, r.errors, c.line)
		require.Equal(t, 1, strings.Count(r.errors, "\n"), r.errors)
	}

	r := command(t, from, nil, "dump", good)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errors, "file already exists")
}

// TestRestoreThatDiffersIsNotServed: a dump whose balances do not follow from its journal is sound as
// a file. What is restored from it is not served until the operator accepts what differs.
func TestRestoreThatDiffersIsNotServed(t *testing.T) {
	from, key := demoed(t)
	files := t.TempDir()
	good, wrong := filepath.Join(files, "good"), filepath.Join(files, "wrong")
	succeeds(t, from, nil, "dump", good)
	withWrongBalance(t, good, wrong)

	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			place := func() (dir string, env []string) {
				dir = t.TempDir()
				env = []string{"LOYALTY_MASTER_KEY_FILE=" + key}
				if database == "postgres" {
					env = append(env, "LOYALTY_DATABASE_URL="+storetest.EmptyPostgres(t))
				}
				return dir, env
			}

			dir, env := place()
			r := command(t, dir, env, "restore", wrong)
			require.Equal(t, codeFailed, r.code, r.errors)
			require.Contains(t, r.errors, "is not served")
			for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"keys", "list"}, {"jobs", "run", "expiry"}, {"dump", filepath.Join(dir, "again")}} {
				r := command(t, dir, env, args...)
				require.Equal(t, codeUsage, r.code, "%v: %s", args, r.errors)
				require.Contains(t, r.errors, "is not served", args)
			}

			r = command(t, dir, env, "doctor")
			require.Equal(t, 2, r.code, r.out)
			require.Contains(t, r.out, "was cut off or found a difference")

			dir, env = place()
			r = command(t, dir, env, "restore", "--accept-differences", wrong)
			require.Equal(t, codeFailed, r.code, "what differs is still an error")
			require.NotContains(t, r.errors, "is not served")
			succeeds(t, dir, env, "keys", "list")

			dir, env = place()
			restored(t, dir, env, good)
			succeeds(t, dir, env, "keys", "list")
		})
	}
}

// withWrongBalance copies a dump with a point more on one balance, and with sums that say so.
func withWrongBalance(t *testing.T, from, to string) {
	t.Helper()
	in, err := zip.OpenReader(from)
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	f, err := os.Create(to)
	require.NoError(t, err)
	out := zip.NewWriter(f)

	var sum string
	var size int
	for _, entry := range in.File { // the manifest is the last one
		r, err := entry.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		switch entry.Name {
		case "tables/balances.jsonl":
			before := len(content)
			content = regexp.MustCompile(`"score":\d+`).ReplaceAllFunc(content, func(found []byte) []byte {
				if size > 0 {
					return found
				}
				size = 1
				return []byte(`"score":` + strings.Repeat("7", len(found)-len(`"score":`)))
			})
			require.Len(t, content, before)
			digest := sha256.Sum256(content)
			sum = hex.EncodeToString(digest[:])

		case "manifest.json":
			var m archive.Manifest
			require.NoError(t, json.Unmarshal(content, &m))
			for i := range m.Tables {
				if m.Tables[i].Name == "balances" {
					m.Tables[i].SHA256 = sum
				}
			}
			content, err = json.Marshal(m)
			require.NoError(t, err)
		}

		w, err := out.Create(entry.Name)
		require.NoError(t, err)
		_, err = w.Write(content)
		require.NoError(t, err)
	}

	require.NotEmpty(t, sum)
	require.NoError(t, errors.Join(out.Close(), f.Close()))
}

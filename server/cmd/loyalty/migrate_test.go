//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/schema"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// isLater is the environment's name for a program of a test that is a later release.
const isLater = "TEST_IS_LATER"

// laterProgram is the program with made-up migrations behind its own.
func laterProgram() int {
	storetest.BecomeLater()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// TestMigratePlan: what is missing is told before it is done, and an embedded database is
// kept as it was.
func TestMigratePlan(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			dir, url := t.TempDir(), d.Empty(t)
			env := []string{"LOYALTY_DATABASE_URL=" + url, "LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32)}
			if d.Name == "postgres" { // the other one is not made by a plan
				r := command(t, dir, env, "migrate", "plan")
				require.Equal(t, codeDifferences, r.code, r.errors)
				require.Contains(t, r.out, "00100_baseline.sql\n  at once\n")
				require.Contains(t, r.out, "less than a second in all")
			}

			succeeds(t, dir, env, "migrate", "up")
			require.Equal(t, "Nothing is missing.\n", succeeds(t, dir, env, "migrate", "plan"))
			_, err := storetest.Raw(t, url).Exec(`INSERT INTO tallies (key, count) VALUES ('kept', 7)`)
			require.NoError(t, err)

			later := func(env []string, args ...string) result {
				return commandOf(t, os.Args[0], dir, append(env, isLater+"=yes"), args...)
			}
			r := later(env, "migrate", "plan")
			require.Equal(t, codeDifferences, r.code, r.errors)
			require.NotRegexp(t, `(?m)^00`, r.out, "the program's own migrations were made")
			waits := map[string]string{"postgres": "; writes wait"}[d.Name]
			require.Contains(t, r.out, "  rewrites tallies: 1 rows, less than a second\n90102_audit_by_kind.sql\n  indexes audit: 0 rows"+waits+"\n90103_visits.sql\n")
			require.Contains(t, r.out, "3 migrations, less than a second in all")
			require.Equal(t, d.Name == "postgres", strings.Contains(r.out, "  at once; reads and writes wait\n"), r.out)
			require.Equal(t, d.Name == "sqlite", strings.Contains(r.out, "The file is first copied beside itself"), r.out)
			r = later(append(env, "LOYALTY_NO_MIGRATE=true"), "keys", "create")
			require.Equal(t, 2, r.code)
			require.Contains(t, r.errors, "loyalty migrate up")

			for _, args := range [][]string{{"backup", "create", "copy"}, {"dump", "file.zip"}} {
				r = later(env, args...)
				require.Equal(t, 2, r.code)
				require.Equal(t, "loyalty: the database's schema is older than this program: copy it with the program that has served it so far\n", r.errors)
			}

			r = later(env, "doctor")
			require.Equal(t, 2, r.code)
			require.Contains(t, r.out, "loyalty migrate up")
			require.Equal(t, 1, strings.Count(r.out, "\nledger "), r.out)

			r = later(env, "migrate", "up")
			require.Zero(t, r.code, r.errors)
			if path, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
				keptAsItWas(t, path, r.out)
			}

			r = later(env, "migrate", "plan")
			require.Equal(t, result{out: "Nothing is missing.\n"}, r)
			r = later(env, "migrate", "up")
			require.Equal(t, "The database is up to date.\n", r.out)
			r = command(t, dir, env, "migrate", "plan")
			require.Equal(t, codeFailed, r.code, "a newer schema")
		})
	}
}

// keptAsItWas holds that an embedded database was copied before its migration.
func keptAsItWas(t *testing.T, path, out string) {
	t.Helper()
	before := ownSchema(t)
	copied := fmt.Sprintf("%s.schema-%d", path, before)
	require.Contains(t, out, "A copy from before the migration is in "+copied+"; delete it when all is well.\n")
	info, err := os.Stat(copied)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	var version, count int
	require.NoError(t, storetest.Raw(t, "sqlite:"+copied).QueryRow(`SELECT (SELECT max(version_id) FROM goose_db_version), count FROM tallies`).Scan(&version, &count))
	require.Equal(t, []int{before, 7}, []int{version, count})
	left, err := filepath.Glob(copied + ".*")
	require.NoError(t, err)
	require.Empty(t, left)
}

// ownSchema is the number of the program's last migration.
func ownSchema(t *testing.T) int {
	t.Helper()
	files, err := fs.Glob(schema.Files, "sqlite/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return int(schema.Version(slices.Max(files)))
}

// TestUnreleasedDatabases: a database of a program of before release 1.0, or of another program, is refused in one
// line that says what to do, and stays as it is.
func TestUnreleasedDatabases(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"of before": `CREATE TABLE goose_db_version (id integer PRIMARY KEY, version_id bigint NOT NULL, is_applied boolean NOT NULL, tstamp timestamp);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (1, 0, TRUE), (2, 1, TRUE), (3, 61, TRUE);
CREATE TABLE customers (id integer PRIMARY KEY)`,
				"of another program": `CREATE TABLE customers (id integer PRIMARY KEY)`,
			} {
				url := d.Empty(t)
				if path, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
					require.NoError(t, os.WriteFile(path, nil, 0o600))
				}

				raw := storetest.Raw(t, url)
				for _, one := range strings.Split(text, ";\n") {
					_, err := raw.Exec(one)
					require.NoError(t, err)
				}

				env := []string{"LOYALTY_DATABASE_URL=" + url, "LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32)}
				for _, args := range [][]string{{"serve"}, {"migrate", "up"}, {"migrate", "plan"}, {"migrate", "status"}, {"dump", "file.zip"}, {"doctor"}} {
					r := command(t, dir, env, args...)
					require.NotZero(t, r.code, "%s: %v", name, args)
					says := r.errors
					if args[0] == "doctor" {
						says = r.out
					} else {
						require.Equal(t, 1, strings.Count(says, "\n"), says)
					}
					require.Contains(t, says, "unreleased program of before 1.0, or by another program; start with an empty database", args)
				}

				var tables int
				require.NoError(t, raw.QueryRow(`SELECT count(*) FROM customers`).Scan(&tables))
				require.Zero(t, tables)
			}
		})
	}
}

// TestFilesOfOtherSchemas: a dump or backup that no migration brings up to date is refused in one line.
func TestFilesOfOtherSchemas(t *testing.T) {
	require.NoError(t, readable(schema.Baseline))
	require.EqualError(t, readable(61), "the file was made by an unreleased program of before 1.0, which no release reads")
	require.ErrorContains(t, readable(99999), "use a newer program")
}

// checksum is one over all rows of a table, in an order of their own.
func checksum(t *testing.T, raw *sql.DB, columns, table, order string) string {
	t.Helper()
	rows, err := raw.Query(`SELECT ` + columns + ` FROM ` + table + ` ORDER BY ` + order)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	names, err := rows.Columns()
	require.NoError(t, err)
	values, into := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}

	count, sum := 0, sha256.New()
	for ; rows.Next(); count++ {
		require.NoError(t, rows.Scan(into...))
		for _, v := range values {
			_, _ = sum.Write(append(v, 0)) // it fails never
		}
	}

	require.NoError(t, rows.Err())
	return fmt.Sprintf("%d rows, %x", count, sum.Sum(nil))
}

// TestMigrationIsKilled kills a migration of a filled database again and again: each step is
// done or not, what was there stays, and in the end the schema is this program's. In full
// there are 100,000 members and 1,000,000 events, each with an entry of the ledger.
func TestMigrationIsKilled(t *testing.T) {
	rows, events := full(t, 40_000, 100_000), full(t, 10_000, 1_000_000)
	numbers := map[string]string{
		"sqlite":   `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)`,
		"postgres": `WITH n(i) AS (SELECT generate_series(1, %d))`,
	}

	ids := map[string]string{"sqlite": `unhex(printf('%032x', i))`, "postgres": `lpad(to_hex(i), 32, '0')::uuid`}
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			dir, url := t.TempDir(), d.Empty(t)
			env := []string{"LOYALTY_DATABASE_URL=" + url, "LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32)}
			succeeds(t, dir, env, "migrate", "up")
			raw := storetest.Raw(t, url)
			id := ids[d.Name]
			whose := strings.NewReplacer(", i)", fmt.Sprintf(", i %% %d + 1)", rows), "(i)", fmt.Sprintf("(i %% %d + 1)", rows)).Replace(id)
			for _, fill := range []struct {
				many int
				text string
			}{
				{rows, ` INSERT INTO tallies (key, count) SELECT 'k' || i, i FROM n`},
				{rows, ` INSERT INTO audit (id, at, actor, action, target) SELECT ` + id + `, i, 'k', 'a', 't' || i FROM n`},
				{rows, ` INSERT INTO customers (id, name, status, created_at, updated_at) SELECT ` + id + `, 'm' || i, 'active', i, i FROM n`},
				{events, ` INSERT INTO events (customer_id, id, recorded_at, at, points, action, data) SELECT ` + whose + `, ` + id + `, i, i, 1, 'point_add', '{"points":1}' FROM n`},
				{events, ` INSERT INTO postings (customer_id, event_id, points, seq, from_account, to_account) SELECT ` + whose + `, ` + id + `, 1, 0, 0, 1 FROM n`},
			} {
				_, err := raw.Exec(fmt.Sprintf(numbers[d.Name], fill.many) + fill.text)
				require.NoError(t, err, fill.text)
			}

			sums := func() (list []string) {
				for _, of := range [][3]string{
					{"key, count", "tallies", "count"}, {"id, at, action, target", "audit", "at"}, {"id, name, status, created_at, updated_at", "customers", "created_at"},
					{"customer_id, id, recorded_at, at, points, action, data", "events", "customer_id, id"},
					{"customer_id, event_id, points, seq, from_account, to_account", "postings", "customer_id, event_id"},
				} {
					list = append(list, of[1]+": "+checksum(t, raw, of[0], of[1], of[2]))
				}
				return list
			}

			before := sums()
			env = append(env, isLater+"=yes")
			killed := 0
			for try := 1; try <= 8; try++ {
				cmd := exec.Command(os.Args[0], "migrate", "up")
				cmd.Dir, cmd.Env = dir, clean(env...)
				require.NoError(t, cmd.Start())
				time.Sleep(time.Duration(full(t, 25, 250)*try) * time.Millisecond)
				_ = cmd.Process.Kill()
				if cmd.Wait() != nil {
					killed++
				}
			}

			require.Positive(t, killed)
			began := time.Now()
			r := commandOf(t, os.Args[0], dir, env, "migrate", "up")
			require.Zero(t, r.code, r.errors)
			took := time.Since(began)
			require.Equal(t, result{out: "Nothing is missing.\n"}, commandOf(t, os.Args[0], dir, env, "migrate", "plan"))
			whole := d.Empty(t)
			r = commandOf(t, os.Args[0], dir, []string{"LOYALTY_DATABASE_URL=" + whole, env[1], env[2]}, "migrate", "up")
			require.Zero(t, r.code, r.errors)
			require.Equal(t, storetest.Schema(t, whole), storetest.Schema(t, url), "as if nothing had killed it")
			require.Equal(t, before, sums())
			r = commandOf(t, os.Args[0], dir, env, "keys", "create")
			require.Zero(t, r.code, r.errors)
			t.Logf("figures: %d members, %d events: %d of 8 were killed, the last one took %s", rows, events, killed, took.Round(time.Millisecond))
		})
	}
}

// TestMigrateDistribute: what cannot be spread over machines is refused in one line, and
// stays as it is.
func TestMigrateDistribute(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			dir, url := t.TempDir(), d.Migrated(t)
			if d.Name == "postgres" {
				url = d.Empty(t) // also where tests have databases that are spread
			}

			env := []string{"LOYALTY_DATABASE_URL=" + url}
			reason := map[string]string{"sqlite": "only a PostgreSQL database with the extension Citus", "postgres": "does not have the extension citus"}[d.Name]
			r := command(t, dir, env, "migrate", "distribute")
			require.Equal(t, codeFailed, r.code)
			require.Contains(t, r.errors, reason)
			require.Equal(t, 1, strings.Count(r.errors, "\n"), r.errors)
			if d.Name == "postgres" {
				r = command(t, dir, env, "migrate", "distribute", "--shards", "0")
				require.Contains(t, r.errors, "shards: from 1 to 1024, not 0")
			}
		})
	}
}

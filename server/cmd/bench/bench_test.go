package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/pgserver"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == naiveCommand { // startNaive runs this very program
		fail(serveNaive(os.Args[2], os.Args[3]))
		return
	}
	code := storetest.RunTests(m)
	if removeAtEnd != "" {
		_ = os.RemoveAll(removeAtEnd)
	}
	os.Exit(code)
}

func needsPostgres(t *testing.T) {
	t.Helper()
	if _, err := pgserver.Programs(); err != nil {
		if os.Getenv("LOYALTY_REQUIRE_POSTGRES") == "1" {
			t.Fatal(err)
		}
		t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
	}
}

// small is a run that shows that everything works, and nothing else.
func small(t *testing.T, only ...string) options {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755)) // the system user must pass
	for parent := filepath.Dir(dir); strings.HasPrefix(parent, os.TempDir()+"/"); parent = filepath.Dir(parent) {
		require.NoError(t, os.Chmod(parent, 0o755))
	}
	return options{reps: 1, seconds: 0.1, customers: 200, events: 1000, only: only, dir: dir}
}

// builtIn is the folder of the program as it ships, which all tests share.
var builtIn = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "loyalty-bench-program-"); err != nil {
		return "", err
	}
	removeAtEnd = dir
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "loyalty"), "../loyalty").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

var removeAtEnd string

// built gives the program as it ships.
func built(t *testing.T) string {
	t.Helper()
	dir, err := builtIn()
	require.NoError(t, err)
	return filepath.Join(dir, "loyalty")
}

// requireGone proves that a run left nothing behind.
func requireGone(t *testing.T, o options) {
	left, err := os.ReadDir(o.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestFloors(t *testing.T) {
	needsPostgres(t)
	var out strings.Builder
	o := small(t, "pgx-16", "pgx-separate-16", "naive-16", "naive-bulk-4", "signature")
	require.NoError(t, bench(t.Context(), o, &out, t.Output()))
	for _, title := range []string{
		"F: pgbench, one statement, 16 clients", "pgx, one statement, 16 goroutines", "pgx, statement a step", "naive, 16 connections", "naive, bulk of 50",
		"a signature of 300 octets", "PostgreSQL 1",
	} {
		require.Contains(t, out.String(), title)
	}
	require.NotContains(t, out.String(), "hot")
	requireGone(t, o)
}

// everyRow skips what `make bench-check` runs: it starts servers and databases of its own for each row, which takes
// minutes, and a change of the program breaks it as it breaks TestProgram.
func everyRow(t *testing.T) {
	t.Helper()
	if os.Getenv("LOYALTY_BENCH_ROWS") == "" {
		t.Skip("NOT TESTED: every row of the bench; `make bench-check` does")
	}
}

// TestProgram measures the program itself, built as it ships, on both databases: every request is answered with 200 and
// the points agree afterwards, or bench fails.
func TestProgram(t *testing.T) {
	needsPostgres(t)
	requireRows(t, []string{"server-16", "sqlite"}, "POST /events point_add, 16 connections", "embedded SQLite",
		"the program on PostgreSQL: from the start", "the program on SQLite: from the start", "machine was")
}

// TestEveryRow is TestProgram for the rows that need more servers, rules or a history. Every read has the rows that SQL
// has, or bench fails.
func TestEveryRow(t *testing.T) {
	everyRow(t)
	needsPostgres(t)
	requireRows(t, []string{"server", "programme", "read-points", "read-events-deep"},
		"same, 64 connections", "one hot customer", "checkout with 3 lines",
		"programme: point_add, 16", "programme: point_add against",
		"programme: checkout with 3 lines, 16", "programme: checkout against",
		"p99 at 64 connections against naive", "bulk of 50, 4 connections, against naive",
		"a page far down against the first (p50)", "GET C/points", "GET /customers/-/events, a page far down",
		"the reads: over 1000 events")
}

// requireRows runs the rows and finds the titles in the report.
func requireRows(t *testing.T, rows []string, titles ...string) {
	t.Helper()
	o := small(t, rows...)
	o.sqlite, o.binary = true, built(t)
	var out strings.Builder
	require.NoError(t, bench(t.Context(), o, &out, t.Output()))
	for _, title := range titles {
		require.Contains(t, out.String(), title)
	}
	requireGone(t, o)
}

func TestInterrupt(t *testing.T) {
	needsPostgres(t)
	ctx, interrupt := context.WithCancel(t.Context())
	o := small(t, "naive-16")
	o.reps, o.seconds = 1000, 60
	// The first line of progress comes when everything has been started.
	err := bench(ctx, o, io.Discard, writerFunc(func() { time.AfterFunc(100*time.Millisecond, interrupt) }))
	require.ErrorIs(t, err, errInterrupted)
	requireGone(t, o)
}

type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

func TestOptions(t *testing.T) {
	good := options{reps: 1, seconds: 1, customers: 1, events: 1000, only: []string{"server"}}
	require.NoError(t, good.validate())

	for reason, change := range map[string]func(*options){
		"-reps":             func(o *options) { o.reps = 0 },
		"-seconds":          func(o *options) { o.seconds = 0 },
		"-seconds must":     func(o *options) { o.seconds = 121 },
		"-customers":        func(o *options) { o.customers = 0 },
		"-events":           func(o *options) { o.events = 999 },
		`-only: nothing is`: func(o *options) { o.only = []string{"server", "sqlite"} },
	} {
		o := good
		change(&o)
		require.ErrorContains(t, o.validate(), reason)
	}
}

// The query of the facts is the one thing here that must fit the programme's
// own schema, on both databases.
func TestFactsFitTheSchema(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		driver := "pgx"
		if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
			driver, url = "sqlite", path
		}
		db, err := sql.Open(driver, url)
		require.NoError(t, err)
		defer db.Close()
		s := server{db: db}
		now, err := s.count(t.Context())
		require.NoError(t, err)
		require.Equal(t, facts{}, now)
	})
}

func TestCompare(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{
		"CREATE TABLE events(action, parent)", "CREATE TABLE balances(score, spent, reserved, expired, debt)",
		"CREATE TABLE postings(points, from_account, to_account)", "CREATE TABLE lots(remaining)",
		"INSERT INTO events(action) VALUES ('opt_in'), ('point_add'), ('point_add')",
		"INSERT INTO balances VALUES (30, 4, 1, 2, 0), (5, 9, 0, 0, 4)", // 23 and −4
		"INSERT INTO postings VALUES (30, 1, 2), (4, 2, 4), (1, 2, 3), (2, 2, 5), (5, 1, 2), (5, 2, 4), (4, 6, 4), (7, 7, 8)",
		"INSERT INTO lots VALUES (23), (0)",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}

	one, purchase := workload{events: 1, action: "point_add"}, workload{events: 1, action: "checkout"}
	s := server{db: db, service: &service{}}
	require.NoError(t, s.compare(t.Context(), one, 2))
	require.Equal(t, facts{pointAdds: 2, figures: 19, postings: 19, lots: 19}, s.known)
	require.ErrorContains(t, s.compare(t.Context(), one, 1), "acknowledged")
	for _, step := range []struct {
		sql    string
		w      workload
		n      int
		reason string
	}{
		{"INSERT INTO events(action) VALUES ('point_add'), ('point_add')", one, 1, "acknowledged"},
		{"INSERT INTO events VALUES ('point_add', NULL), ('point_add', 7)", one, 1, "that campaigns gave points is true, with 0 rules"},
		{"INSERT INTO events(action) VALUES ('checkout'), ('checkout_item'), ('checkout_item')", purchase, 1, "acknowledged"},
		{"UPDATE balances SET score = score + 1 WHERE score = 30", one, 0, "20 by figures, 19 by postings, 19 by lots"},
		{"INSERT INTO postings VALUES (1, 1, 2)", one, 0, "20 by figures, 20 by postings, 19 by lots"},
		{"UPDATE lots SET remaining = 24 WHERE remaining = 23", one, 0, ""},
		{"INSERT INTO events(action) VALUES ('checkout'), ('checkout_item'), ('checkout_item'), ('checkout_item')", purchase, 1, ""},
	} {
		_, err := db.Exec(step.sql)
		require.NoError(t, err)
		if err := s.compare(t.Context(), step.w, step.n); step.reason == "" {
			require.NoError(t, err, step.sql)
		} else {
			require.ErrorContains(t, err, step.reason)
		}
	}

	s.rules = programme
	_, err = db.Exec("INSERT INTO events(action) VALUES ('point_add')")
	require.NoError(t, err)
	require.NoError(t, s.compare(t.Context(), one, 1), "one event may move no campaign")
	_, err = db.Exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO events(action) SELECT 'point_add' FROM n")
	require.NoError(t, err)
	require.ErrorContains(t, s.compare(t.Context(), one, 1000), "that campaigns gave points is false, with 30 rules")
}

// The programme is what the rows of the result call it.
func TestProgramme(t *testing.T) {
	kinds, limited := map[string]int{}, 0
	for _, e := range programme {
		var body struct {
			Status  string
			Trigger string
			Limit   struct {
				PerCustomer int `json:"per_customer"`
			}
		}

		require.NoError(t, json.Unmarshal(e.body, &body))
		kinds[e.kind]++
		if e.kind == "automation/campaign" {
			require.Equal(t, "active", body.Status)
		}
		if body.Limit.PerCustomer > 0 {
			limited++
		}
	}

	require.Equal(t, map[string]int{"tiers/structure": 1, "tiers/tier": 3, "challenges/challenge": 6, "automation/campaign": 20}, kinds)
	require.Equal(t, 2, limited)
}

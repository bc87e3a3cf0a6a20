package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/pgserver"
)

// keyRate is the largest rate limit of a key, in requests a minute. A server may be faster, so several keys are used in
// turn.
const (
	keyRate  = 1_000_000
	keyCount = 4
)

//go:embed sql/facts.sql
var factsQuery string

// facts are the counts in a server's database; see sql/facts.sql.
type facts struct {
	pointAdds, checkouts, items int64
	given                       int64 // point_adds by campaigns
	figures, postings, lots     int64 // the points of all customers, counted in three ways
}

// server is the built program on a database of its own.
type server struct {
	*service
	started
	db    *sql.DB
	rules []entity
	known facts
}

// startServer starts the program at binary; populate then gives it rules and customers through its own API. url is its
// LOYALTY_DATABASE_URL, empty for the embedded database.
func startServer(ctx context.Context, o options, m *machine, url string, rules ...entity) (*server, error) {
	l, err := prepareLaunch(ctx, o, url)
	if err != nil {
		return nil, err
	}
	s, err := l.startOften(ctx, o, m)
	if err != nil {
		return nil, err
	}
	s.rules = rules
	return s, nil
}

// newServer starts and populates a server.
func newServer(ctx context.Context, o options, m *machine, url string, rules ...entity) (*server, error) {
	s, err := startServer(ctx, o, m, url, rules...)
	if err != nil {
		return nil, err
	}
	if err := s.populate(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// launch is a migrated database with keys, and how to start the program on it.
type launch struct {
	dir, address, data, url, master string
	env                             []string
	keys                            access
}

// prepareLaunch makes the database; dir belongs to the launch until it starts.
func prepareLaunch(ctx context.Context, o options, url string) (l launch, err error) {
	if l.dir, err = newDir(o.dir, "server", false); err != nil {
		return l, err
	}

	port, err := pgserver.FreePort()
	if err == nil {
		l.url, l.master, l.data = url, masterKey(), filepath.Join(l.dir, "data")
		l.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l.env = []string{"LOYALTY_LISTEN=" + l.address, "LOYALTY_DATA=" + l.data, "LOYALTY_DATABASE_URL=" + url,
			"LOYALTY_MASTER_KEY=" + l.master}
		l.keys, err = prepareDatabase(ctx, o.binary, l.env)
	}

	if err != nil {
		return l, errors.Join(err, os.RemoveAll(l.dir))
	}

	return l, nil
}

// moreStarts is the number of additional starts, because a single start is a poor measure.
const moreStarts = 4

// startOften is start with the medians of time and memory over several starts, if there are several rounds.
func (l launch) startOften(ctx context.Context, o options, m *machine) (*server, error) {
	var took, idle []float64
	note := func(s *server) {
		took, idle = append(took, s.coldStart.Seconds()), append(idle, float64(s.idle))
	}
	more := moreStarts
	if o.reps < 2 {
		more = 0
	}

	for range more {
		dir, err := newDir(o.dir, "start", false)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(l.dir))
		}
		s, err := l.startIn(ctx, o, m, dir)
		if err == nil {
			note(s)
			err = s.stop()
		}
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(l.dir))
		}
	}

	s, err := l.start(ctx, o, m)
	if err != nil {
		return nil, err
	}

	note(s)
	s.coldStart, s.idle = time.Duration(median(took)*float64(time.Second)), int64(median(idle))
	return s, nil
}

// start starts the program and opens the database beside it.
func (l launch) start(ctx context.Context, o options, m *machine) (*server, error) {
	s, err := l.startIn(ctx, o, m, l.dir)
	if err != nil {
		return nil, err
	}
	m.programs = append(m.programs, s.process)
	if s.db, err = l.open(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// startIn starts the program in dir, which then belongs to the process, and waits for its first answer.
func (l launch) startIn(ctx context.Context, o options, m *machine, dir string) (*server, error) {
	s := &server{started: started{database: "PostgreSQL"},
		service: &service{machine: m, window: o.window(), customers: o.customers, answered: map[string]int{}}}
	if l.url == "" {
		s.database = "SQLite"
	}

	s.access, s.check = l.keys, s.compare
	s.address = l.address
	began := time.Now()
	var err error
	if s.process, err = start(dir, command{args: []string{o.binary, "serve"}, env: l.env, signal: "TERM"}); err != nil {
		return nil, err
	}
	if err := s.waitFor(ctx, s.ready); err != nil {
		return nil, errors.Join(err, s.stop())
	}

	s.coldStart, s.idle = time.Since(began), s.memory()
	return s, nil
}

// open opens the database, read-only for SQLite.
func (l launch) open() (*sql.DB, error) {
	if l.url == "" {
		return sql.Open("sqlite", "file:"+filepath.Join(l.data, "loyalty.db")+"?mode=ro&_pragma=busy_timeout(10000)")
	}
	return sql.Open("pgx", l.url)
}

// masterKey is a new key, which lives as long as the database.
func masterKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(key)
}

// prepareDatabase migrates the database and makes the keys.
func prepareDatabase(ctx context.Context, binary string, env []string) (access, error) {
	if _, err := program(ctx, binary, env, "migrate", "up"); err != nil {
		return access{}, err
	}

	var a access
	for range keyCount {
		out, err := program(ctx, binary, env, "keys", "create", "--json", "--label", "bench",
			"--rate-limit", strconv.Itoa(keyRate))
		if err != nil {
			return access{}, err
		}

		var key struct {
			KeyID  string `json:"key_id"`
			Secret string `json:"secret"`
			Region string `json:"region"`
		}

		if err := json.Unmarshal(out, &key); err != nil {
			return access{}, fmt.Errorf("keys create: %w", err)
		}

		a.scheme = signing.Default(key.Region)
		a.keys = append(a.keys, signing.Credential{KeyID: key.KeyID, Secret: key.Secret})
	}

	return a, nil
}

// program runs one of the program's commands and returns its output.
func program(ctx context.Context, binary string, env []string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Stderr = append(cleanEnviron(), env...), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", binary, strings.Join(args[:2], " "), err, stderr.Bytes())
	}
	return out, nil
}

func (s *server) ready() error {
	r, err := http.Get("http://" + s.address + "/readyz")
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz: %s", r.Status)
	}
	return nil
}

// populate makes the rules and the customers.
func (s *server) populate(ctx context.Context) (err error) {
	for _, e := range s.rules {
		if err := s.create(ctx, e); err != nil {
			return err
		}
	}
	if err := s.seed(ctx); err != nil {
		return err
	}
	if err := s.vacuum(ctx); err != nil {
		return err
	}
	s.known, err = s.count(ctx)
	return err
}

// vacuum does at once what PostgreSQL does by itself some minutes after many rows were added: it replaces plans that
// were made for empty tables.
func (s *server) vacuum(ctx context.Context) error {
	if s.database != "PostgreSQL" {
		return nil
	}
	_, err := s.db.ExecContext(ctx, "VACUUM ANALYZE")
	return err
}

// seed enrols the customers 1 to n.
func (s *server) seed(ctx context.Context) error {
	const batch = 100
	var last atomic.Int64
	optIn := func(b *bytes.Buffer, _ picker) {
		n := last.Add(1)
		fmt.Fprintf(b,
			`{"customer":"%d","action":"opt_in","data":{"email":"customer%d@shop.test","first_name":"Ada","last_name":"Kovács"}}`, n, n)
	}
	return s.submit(ctx, workload{name: "making customers", body: bulkOf(batch, optIn)}, (s.customers+batch-1)/batch)
}

// submit sends bulks that belong to no measurement.
func (s *server) submit(ctx context.Context, w workload, bulks int) error {
	w.path = "/events/bulk"
	requests, err := s.prepare(ctx, w, bulks, picker{})
	if err != nil {
		return err
	}
	latencies, _, err := load{s.access, 4, signing.DefaultWindow, noErrors, s.machine, nil}.run(ctx, requests)
	if err != nil {
		return fmt.Errorf("%s: %w\nthe end of the server's log:\n%s", w.name, err, s.tail())
	}
	if len(latencies) != bulks {
		return fmt.Errorf("%s: only %d of %d bulks were answered within %s",
			w.name, len(latencies), bulks, signing.DefaultWindow)
	}
	return nil
}

func (s *server) count(ctx context.Context) (f facts, err error) {
	err = s.db.QueryRowContext(ctx, factsQuery).
		Scan(&f.pointAdds, &f.checkouts, &f.items, &f.given, &f.figures, &f.postings, &f.lots)
	return f, err
}

// compare counts the facts again: every acknowledged event must be there and no other, and the three counts of points
// must agree.
func (s *server) compare(ctx context.Context, w workload, answered int) error {
	now, err := s.count(ctx)
	if err != nil {
		return err
	}

	want, n := s.known, int64(answered*w.events)
	switch w.action {
	case "checkout":
		want.checkouts += n
		want.items += 3 * n
	default:
		want.pointAdds += n
	}

	given, many := now.given > s.known.given, answered >= 1000
	s.known = now
	want.given, want.figures, want.postings, want.lots = now.given, now.figures, now.postings, now.lots
	switch {
	case now != want:
		return fmt.Errorf("%d requests were acknowledged, but the events do not agree: want %+v, have %+v",
			answered, want, now)
	case given && len(s.rules) == 0, many && !given && len(s.rules) > 0: // a few drawn events may trigger no campaign
		return fmt.Errorf("%d requests were acknowledged; that campaigns gave points is %t, with %d rules",
			answered, given, len(s.rules))
	case now.figures != now.postings || now.figures != now.lots:
		return fmt.Errorf("the points do not agree: %d by figures, %d by postings, %d by lots",
			now.figures, now.postings, now.lots)
	}

	return nil
}

func (s *server) close() error {
	if s.db == nil {
		return s.stop()
	}
	return errors.Join(s.db.Close(), s.stop())
}

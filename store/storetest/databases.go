// Package storetest provides databases for tests, and holds the suite that both databases must pass.
package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/pgserver"
)

// MasterKey is the master key of every test.
var MasterKey = [32]byte{'t', 'e', 's', 't', 's'}

// Database is one of the two kinds of database.
type Database struct {
	Name     string
	Migrated func(testing.TB) string // URL of a fresh database with the schema
	Empty    func(testing.TB) string // URL of a fresh database without it
}

// All lists both kinds.
var All = []Database{{"sqlite", SQLite, EmptySQLite}, {"postgres", Postgres, EmptyPostgres}}

// Each runs a test on both databases, each with a fresh, migrated store.
func Each(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	EachURL(t, func(t *testing.T, url string) { test(t, Open(t, url)) })
}

// EachReused is Each for the many small tests that use only the store. A PostgreSQL database is emptied and reused
// with its store, because creating one and planning every statement again costs more than such a test.
func EachReused(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	each(t, func(t *testing.T, d Database) {
		if d.Name == "postgres" {
			test(t, reused(t))
			return
		}
		test(t, Open(t, d.Migrated(t)))
	})
}

// usedAgain is a PostgreSQL database that many tests use, one after the other.
type usedAgain struct {
	url   string
	store *store.Store
	raw   *pgx.Conn
}

// emptied are the databases that wait for reuse.
var emptied struct {
	sync.Mutex
	all []*usedAgain
}

// reused returns the store of an empty, migrated PostgreSQL database.
func reused(t testing.TB) *store.Store {
	t.Helper()
	emptied.Lock()
	defer emptied.Unlock()
	var u *usedAgain
	if n := len(emptied.all); n > 0 {
		u, emptied.all = emptied.all[n-1], emptied.all[:n-1]
	} else {
		s := server(t)
		name := "loyalty_test_" + randomName()
		require.NoError(t, s.create(name, `loyalty_template_`+s.suffix))
		require.NoError(t, s.settle(name))
		var err error
		u, err = useAgain(s.url(name))
		require.NoError(t, err)
	}

	t.Cleanup(func() {
		if t.Failed() {
			u.close()
			return
		}
		if err := u.empty(); err != nil {
			u.close()
			t.Errorf("the database cannot be emptied for the next test: %v", err)
			return
		}
		emptied.Lock()
		emptied.all = append(emptied.all, u)
		emptied.Unlock()
	})

	return u.store
}

func useAgain(url string) (u *usedAgain, err error) {
	u = &usedAgain{url: url}
	if u.raw, err = pgx.Connect(context.Background(), url); err != nil {
		return nil, err
	}
	u.store, err = store.Open(context.Background(), store.Options{URL: url, MasterKey: MasterKey})
	return u, err
}

func (u *usedAgain) close() {
	_ = u.store.Close()
	_ = u.raw.Close(context.Background())
}

// empty deletes every row, bypassing the triggers that guard the journal, on every machine. Most tables are empty: a
// check costs less than a DELETE that finds nothing.
func (u *usedAgain) empty() error {
	_, err := u.raw.Exec(context.Background(), `DO $$ DECLARE r record; filled boolean; BEGIN
	SET LOCAL citus.propagate_set_commands = 'local'; -- no one else minds
	SET LOCAL session_replication_role = replica;
	FOR r IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
		AND NOT relispartition AND relname NOT IN ('goose_db_version', 'programme_version', 'master_check', 'tail_state') LOOP
		EXECUTE format('SELECT EXISTS (SELECT FROM %I)', r.relname) INTO filled;
		IF filled THEN
			EXECUTE format('DELETE FROM %I', r.relname);
		END IF;
	END LOOP;
	UPDATE programme_version SET version = 0;
	UPDATE tail_state SET head = 0, present = true, looked_at = NULL, compared_at = NULL;
END $$`)

	return err
}

// closeReused closes the reused databases, and drops them if the server stays.
func closeReused() {
	for _, u := range emptied.all {
		u.close()
		if address, err := url.Parse(u.url); err == nil && shared.cluster == nil {
			_ = shared.drop(strings.TrimPrefix(address.Path, "/"))
		}
	}
}

// Databases runs a test on both databases; open returns a fresh, migrated store each time it is called.
func Databases(t *testing.T, test func(t *testing.T, open func(t *testing.T) *store.Store)) {
	t.Helper()
	each(t, func(t *testing.T, d Database) {
		test(t, func(t *testing.T) *store.Store { return Open(t, d.Migrated(t)) })
	})
}

// EachURL runs a test on both databases, for tests that start the program: url is a LOYALTY_DATABASE_URL of a fresh,
// migrated database.
func EachURL(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	each(t, func(t *testing.T, d Database) { test(t, d.Migrated(t)) })
}

func each(t *testing.T, test func(t *testing.T, d Database)) {
	t.Helper()
	for _, d := range All {
		t.Run(d.Name, func(t *testing.T) {
			if d.Name == "postgres" {
				server(t) // without a server it skips the test before it begins
			}
			test(t, d)
		})
	}
}

// Raw opens the database at url for a test's own SQL, bypassing the store. The placeholders are the database's.
func Raw(t testing.TB, url string) *sql.DB {
	t.Helper()
	driver, dsn := "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, dsn = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=recursive_triggers(1)"
	}
	db, err := sql.Open(driver, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// Open opens the store at url with the tests' master key, until the test ends.
func Open(t testing.TB, url string) *store.Store {
	t.Helper()
	return OpenWith(t, store.Options{URL: url})
}

// OpenWith is Open with options; the default master key is the tests'.
func OpenWith(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	if o.MasterKey == ([32]byte{}) {
		o.MasterKey = MasterKey
	}
	s, err := store.Open(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// SQLite returns the address of a fresh, migrated SQLite database.
func SQLite(t testing.TB) string {
	t.Helper()
	return copied(t, migratedFile)
}

// copied returns the address of a copy of a SQLite database.
func copied(t testing.TB, made func() ([]byte, error)) string {
	t.Helper()
	file, err := made()
	require.NoError(t, err)
	url := EmptySQLite(t)
	require.NoError(t, os.WriteFile(strings.TrimPrefix(url, "sqlite:"), file, 0o600))
	return url
}

// SQLiteForProgram is ForProgram for SQLite.
func SQLiteForProgram(t testing.TB) string {
	t.Helper()
	return copied(t, unsealedFile)
}

// migratedFile is a SQLite database with the schema, made once; unsealedFile is one in which no master key has sealed
// anything.
var (
	migratedFile = sync.OnceValues(func() ([]byte, error) { return templateFile() })
	unsealedFile = sync.OnceValues(func() ([]byte, error) { return templateFile(forgetMaster) })
)

// forgetMaster makes a migrated database accept any master key, as an empty one does.
const forgetMaster = `DELETE FROM master_check`

func templateFile(statements ...string) (file []byte, err error) {
	dir, err := os.MkdirTemp(inMemory(), "loyalty-template-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()

	path := filepath.Join(dir, "loyalty.db")
	if err := migrate("sqlite:" + path); err != nil {
		return nil, err
	}

	if len(statements) > 0 {
		db, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			return nil, err
		}
		for _, s := range statements {
			_, failed := db.Exec(s)
			err = errors.Join(err, failed)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			return nil, err
		}
	}

	return os.ReadFile(path)
}

// EmptySQLite returns the address of a file that does not exist yet.
func EmptySQLite(t testing.TB) string {
	dir, err := os.MkdirTemp(inMemory(), "loyalty-sqlite-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return "sqlite:" + filepath.Join(dir, "loyalty.db")
}

// Postgres returns the address of a fresh, migrated PostgreSQL database, on the server of LOYALTY_TEST_POSTGRES (an
// administrative database's URL) or on one that this process starts for all its tests. Without either the test is
// skipped, or fails when LOYALTY_REQUIRE_POSTGRES=1.
func Postgres(t testing.TB) string {
	t.Helper()
	return newDatabase(t, `loyalty_template_`+server(t).suffix)
}

// EmptyPostgres returns the address of a PostgreSQL database without any table.
func EmptyPostgres(t testing.TB) string {
	t.Helper()
	return newDatabase(t, "template0")
}

// ForProgram returns the address of a migrated PostgreSQL database without rows, for a program with any master key.
// The program need not migrate it; tests of migration use an empty database.
func ForProgram(t testing.TB) string {
	t.Helper()
	address := Postgres(t)
	require.NoError(t, commandOn(address, forgetMaster))
	return address
}

// DurableForProgram is ForProgram on a server of its own that flushes every commit to disk. On several machines it
// uses their own setting: such a test kills the program, never the database, so nothing is lost.
func DurableForProgram(t testing.TB) string {
	t.Helper()
	if OnCitus() {
		return ForProgram(t)
	}
	return NewDurableCluster(t).URL("postgres")
}

// Main is RunTests followed by the end of the process.
func Main(m *testing.M) { os.Exit(RunTests(m)) }

// RunTests runs the tests of a package, stops the shared server properly and checks that no goroutine is left. It
// returns the exit code.
func RunTests(m *testing.M) int {
	code := m.Run()
	stopShared()
	if code == 0 {
		code = leaks()
	}
	return code
}

// leaks returns the exit code for goroutines that did not end. Connections that a test's client keeps for the next
// request are no leak.
func leaks() int {
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "goroutines stay behind:", err)
		return 1
	}
	return 0
}

func skipOrFail(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("LOYALTY_REQUIRE_POSTGRES") == "1" {
		t.Fatalf("LOYALTY_REQUIRE_POSTGRES=1, but: %v", err)
	}
	t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
}

// sharedServer is where this process creates its databases.
type sharedServer struct {
	admin   string   // URL of a database for administrative commands
	nodes   []string // the same for each machine, where databases are spread; the coordinator's is first
	suffix  string   // tells the templates of several processes on one server apart
	version int      // of the server, such as 150004
	cluster *Cluster
}

var (
	shared    sharedServer
	sharedErr error
	startOnce sync.Once
)

func server(t testing.TB) *sharedServer {
	t.Helper()
	startOnce.Do(func() { sharedErr = shared.start() })
	if sharedErr != nil {
		skipOrFail(t, sharedErr)
	}
	return &shared
}

func (s *sharedServer) start() (err error) {
	s.suffix = randomName()
	if OnCitus() {
		s.nodes = citusNodes()
		s.admin = s.nodes[0]
	} else if s.admin = os.Getenv("LOYALTY_TEST_POSTGRES"); s.admin == "" {
		if s.cluster, err = newCluster(inMemory(), os.Getenv("LOYALTY_TEST_FSYNC") == "1"); err != nil {
			return err
		}
		s.admin = s.cluster.URL("postgres")
	}

	if u, err := url.Parse(s.admin); err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return errors.New("LOYALTY_TEST_POSTGRES is not a URL such as postgres://user@host/database")
	}
	if err := s.readVersion(); err != nil {
		return err
	}

	template := "loyalty_template_" + s.suffix
	if s.nodes != nil {
		return s.spreadTemplate(template)
	}

	s.nodes = []string{s.admin}
	if err := s.command(`CREATE DATABASE ` + template + ` TEMPLATE template0 ENCODING 'UTF8'`); err != nil {
		return err
	}

	return migrate(s.url(template))
}

func stopShared() {
	startOnce.Do(func() { sharedErr = pgserver.ErrMissing })
	closeReused()
	if shared.cluster != nil {
		shared.cluster.Stop()
	} else if sharedErr == nil {
		_ = shared.command(`DROP DATABASE IF EXISTS loyalty_template_` + shared.suffix + ` WITH (FORCE)`)
	}
}

func newDatabase(t testing.TB, template string) string {
	t.Helper()
	s := server(t)
	name := "loyalty_test_" + randomName()
	require.NoError(t, s.create(name, template))
	require.NoError(t, s.settle(name))
	t.Cleanup(func() { require.NoError(t, s.drop(name)) })
	return s.url(name)
}

// drop drops a database. Where tables are spread, daemons and sessions of other machines may reconnect once or twice.
func (s *sharedServer) drop(name string) (err error) {
	for range 5 {
		if err = s.command(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`); err == nil || !OnCitus() {
			return err
		}
	}
	return err
}

// create creates a database by copying the template's files: the default since version 15 would write all of them to
// the server's log as well.
func (s *sharedServer) create(name, template string) error {
	var strategy string
	if s.version >= 150000 {
		strategy = ` STRATEGY FILE_COPY`
	}
	return s.command(`CREATE DATABASE ` + name + ` TEMPLATE ` + template + strategy)
}

// command runs a command on each machine.
func (s *sharedServer) command(sql string) error {
	for _, node := range s.nodes {
		if err := commandOn(node, sql); err != nil {
			return err
		}
	}
	return nil
}

func (s *sharedServer) url(database string) string { return at(s.admin, database) }

func (s *sharedServer) readVersion() error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return fmt.Errorf("LOYALTY_TEST_POSTGRES: %w", err)
	}
	err = c.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&s.version)
	return errors.Join(err, c.Close(ctx))
}

func migrate(url string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{URL: url, MasterKey: MasterKey})
	if err != nil {
		return err
	}
	if err := s.Migrate(ctx); err != nil {
		return err
	}
	return s.Close()
}

func randomName() string {
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		panic(err) // crypto/rand never fails on a supported system
	}
	return fmt.Sprintf("%x", b)
}

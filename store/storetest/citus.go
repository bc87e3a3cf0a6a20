package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/citus"
)

// OnCitus says that the PostgreSQL databases of tests are spread over the machines that
// LOYALTY_TEST_CITUS names: addresses of administrative databases, separated by commas, the
// coordinator's first. What a test says of plans, months or connections of plain PostgreSQL
// does not hold there.
func OnCitus() bool { return os.Getenv("LOYALTY_TEST_CITUS") != "" }

// PlainOnly leaves a test out where tables are spread over machines.
func PlainOnly(t testing.TB) {
	t.Helper()
	if OnCitus() {
		t.Skip("it counts, refuses or waits for what is done otherwise on Citus")
	}
}

// CitusOnly leaves a test out where they are not.
func CitusOnly(t testing.TB) {
	t.Helper()
	if !OnCitus() {
		t.Skip("NOT TESTED ON CITUS: LOYALTY_TEST_CITUS names no cluster")
	}
}

// Scattered gives a count of the statements in a database that asked several parts of a table,
// which Citus counts itself.
func Scattered(t testing.TB, address string) func() int {
	t.Helper()
	raw := Raw(t, address)
	_, err := raw.Exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET citus.enable_stat_counters = on', current_database()); END $$`)
	require.NoError(t, err)
	return func() (n int) {
		require.NoError(t, raw.QueryRow(`SELECT query_execution_multi_shard FROM citus_stat_counters WHERE name = current_database()`).Scan(&n))
		return n
	}
}

// citusNodes are those machines.
func citusNodes() []string { return strings.Split(os.Getenv("LOYALTY_TEST_CITUS"), ",") }

// EmptyMachines makes an empty database that Citus could spread, over the machines of the cluster.
// The test is left out without one.
func EmptyMachines(t testing.TB) string {
	t.Helper()
	CitusOnly(t)
	address := newDatabase(t, "template0")
	u, err := url.Parse(address)
	require.NoError(t, err)
	require.NoError(t, shared.join(strings.TrimPrefix(u.Path, "/")))
	return address
}

// join gives a database of each machine the extension, and names the machines to the
// coordinator's.
func (s *sharedServer) join(database string) error {
	for _, node := range s.nodes {
		if err := commandOn(at(node, database), `CREATE EXTENSION citus`); err != nil {
			return err
		}
	}
	for i, node := range s.nodes {
		u, err := url.Parse(node)
		if err != nil {
			return err
		}
		add := `SELECT citus_add_node($1, $2)`
		if i == 0 {
			add = `SELECT citus_set_coordinator_host($1, $2)`
		}
		if err := commandOn(at(s.admin, database), add, u.Hostname(), port(u)); err != nil {
			return err
		}
	}
	return nil
}

// spreadTemplate makes the template of distributed databases: a database on each machine, of which
// the coordinator's knows the workers.
func (s *sharedServer) spreadTemplate(template string) error {
	if err := s.command(`CREATE DATABASE ` + template + ` TEMPLATE template0 ENCODING 'UTF8'`); err != nil {
		return err
	}
	if err := s.join(template); err != nil {
		return err
	}
	if err := migrateOn(at(s.admin, template)); err != nil {
		return err
	}
	// a template that has visitors cannot be copied, and Citus' daemon is one
	for _, node := range s.nodes {
		err := commandOn(node, `ALTER DATABASE `+template+` ALLOW_CONNECTIONS false`)
		if err == nil {
			err = commandOn(node, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1`, template)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func port(u *url.URL) int {
	n := 5432
	_, _ = fmt.Sscan(u.Port(), &n) // none is 5432
	return n
}

// migrateOn spreads a database and puts the rows into it that every migrated one has.
func migrateOn(address string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{URL: address, MasterKey: MasterKey})
	if err != nil {
		return err
	}
	if err := errors.Join(s.Distribute(ctx, citus.DefaultShards), s.Close()); err != nil {
		return err
	}
	return migrate(address)
}

// settle sets what Distribute sets of a database, which a copy of it does not have.
func (s *sharedServer) settle(database string) error {
	if !OnCitus() {
		return nil
	}
	return commandOn(s.admin, `DO $$ DECLARE setting text; BEGIN
 FOR setting IN SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = 'loyalty_template_`+s.suffix+`') LOOP
  EXECUTE format('ALTER DATABASE `+database+` SET %s = %L', split_part(setting, '=', 1), split_part(setting, '=', 2));
 END LOOP; END $$`)
}

// at is the address of another database of the same server.
func at(server, database string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server // start saw that it parses
	}
	u.Path = "/" + database
	return u.String()
}

func commandOn(server, sql string, args ...any) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("a server of the tests: %w", err)
	}
	_, err = c.Exec(ctx, sql, args...)
	return errors.Join(err, c.Close(ctx))
}

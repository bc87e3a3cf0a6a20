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

// OnCitus says that the PostgreSQL databases of tests are spread over the machines of LOYALTY_TEST_CITUS: addresses
// of administrative databases, separated by commas, the coordinator's first. Assertions about plans, months or
// connections of plain PostgreSQL do not apply there.
func OnCitus() bool { return os.Getenv("LOYALTY_TEST_CITUS") != "" }

// PlainOnly skips a test where tables are spread over machines.
func PlainOnly(t testing.TB) {
	t.Helper()
	if OnCitus() {
		t.Skip("it counts, refuses or waits for what is done otherwise on Citus")
	}
}

// CitusOnly skips a test where tables are not spread.
func CitusOnly(t testing.TB) {
	t.Helper()
	if !OnCitus() {
		t.Skip("NOT TESTED ON CITUS: LOYALTY_TEST_CITUS names no cluster")
	}
}

// Scattered returns a counter of the statements in a database that asked several parts of a table, as Citus counts
// them.
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

// citusNodes are the addresses of the machines.
func citusNodes() []string { return strings.Split(os.Getenv("LOYALTY_TEST_CITUS"), ",") }

// EmptyMachines creates an empty database that Citus could spread, over the machines of the cluster. Without one the
// test is skipped.
func EmptyMachines(t testing.TB) string {
	t.Helper()
	CitusOnly(t)
	address := newDatabase(t, "template0")
	u, err := url.Parse(address)
	require.NoError(t, err)
	require.NoError(t, shared.join(strings.TrimPrefix(u.Path, "/")))
	return address
}

// join creates the extension in a database of each machine, and registers the machines with the coordinator.
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

// spreadTemplate creates the template of distributed databases: a database on each machine, with the workers
// registered at the coordinator's.
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

	// a template with open sessions cannot be copied, and Citus' daemon has one
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
	_, _ = fmt.Sscan(u.Port(), &n) // without a port it is 5432
	return n
}

// migrateOn spreads a database and inserts the rows that every migrated one has.
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

// settle applies the settings of Distribute to a database, because a copy of the template lacks them.
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
		return server // start checked that it parses
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

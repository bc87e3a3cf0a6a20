package storetest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/pgserver"
)

// Machines is a Citus cluster of a test's own, each machine of which can be killed and restarted. Its database is
// called postgres.
type Machines struct {
	Coordinator *Cluster
	Workers     []*Cluster
}

// citusConf is the configuration of a machine; a test has one database.
const citusConf = `shared_preload_libraries = 'citus'
wal_level = logical
max_wal_senders = 10
max_prepared_transactions = 400
max_worker_processes = 40
citus.node_conninfo = 'sslmode=disable'
citus.local_hostname = '127.0.0.1'
`

// NewMachines starts two workers and a coordinator that knows them. The test is skipped unless LOYALTY_TEST_CITUS
// says that Citus is available.
func NewMachines(t testing.TB) *Machines {
	t.Helper()
	CitusOnly(t)
	m := &Machines{}
	var nodes []string
	for range 3 {
		c := newMachine(t)
		m.Workers, nodes = append(m.Workers, c), append(nodes, c.URL("postgres"))
	}
	m.Coordinator, m.Workers = m.Workers[0], m.Workers[1:]
	require.NoError(t, (&sharedServer{nodes: nodes, admin: nodes[0]}).join("postgres"))
	return m
}

// newMachine starts a server for a cluster.
func newMachine(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{durable: os.Getenv("LOYALTY_TEST_FSYNC") == "1"}
	err := c.begin(inMemory(), func() error {
		if err := c.initialise(); err != nil {
			return err
		}
		return pgserver.Configure(c.dir, citusConf)
	})
	require.NoError(t, err)
	t.Cleanup(c.Stop)
	return c
}

// AddWorker starts one more worker and registers it with the coordinator. It has no rows until they are rebalanced.
func (m *Machines) AddWorker(t testing.TB) *Cluster {
	t.Helper()
	c := newMachine(t)
	require.NoError(t, commandOn(c.URL("postgres"), `CREATE EXTENSION citus`))
	require.NoError(t, commandOn(m.URL(), `SELECT citus_add_node($1, $2)`, "127.0.0.1", c.port))
	m.Workers = append(m.Workers, c)
	return c
}

// URL is the address of the database.
func (m *Machines) URL() string { return m.Coordinator.URL("postgres") }

// Spread spreads the cluster's database over its machines and opens it.
func (m *Machines) Spread(t testing.TB) *store.Store {
	t.Helper()
	require.NoError(t, migrateOn(m.URL()))
	return Open(t, m.URL())
}

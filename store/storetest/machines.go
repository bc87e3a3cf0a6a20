package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Machines is a Citus cluster of a test's own, of which each machine can be killed and started
// again. Its database is called postgres.
type Machines struct {
	Coordinator *Cluster
	Workers     []*Cluster
}

// citusConf is what a machine needs; a test has one database.
const citusConf = `shared_preload_libraries = 'citus'
wal_level = logical
max_wal_senders = 10
max_prepared_transactions = 400
max_worker_processes = 40
citus.node_conninfo = 'sslmode=disable'
citus.local_hostname = '127.0.0.1'
`

// NewMachines starts two workers and a coordinator that knows them. The test is left out where
// LOYALTY_TEST_CITUS does not say that there is Citus.
func NewMachines(t testing.TB) *Machines {
	t.Helper()
	if !OnCitus() {
		t.Skip("NOT TESTED ON CITUS: LOYALTY_TEST_CITUS names no cluster")
	}
	m := &Machines{}
	var nodes []string
	for range 3 {
		c := &Cluster{}
		err := c.begin(inMemory(), func() error {
			if err := c.initialise(); err != nil {
				return err
			}
			return c.configure(citusConf)
		})
		require.NoError(t, err)
		t.Cleanup(c.Stop)
		m.Workers, nodes = append(m.Workers, c), append(nodes, c.URL("postgres"))
	}
	m.Coordinator, m.Workers = m.Workers[0], m.Workers[1:]
	require.NoError(t, (&sharedServer{nodes: nodes, admin: nodes[0]}).join("postgres"))
	return m
}

// URL is the address of the database.
func (m *Machines) URL() string { return m.Coordinator.URL("postgres") }

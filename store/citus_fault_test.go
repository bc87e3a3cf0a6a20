package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// counts are how often a customer was credited: for sure, and perhaps.
type counts struct{ acknowledged, unknown, refused int }

// TestMachineKilled kills a worker, and then the coordinator, while customers are credited one by one. Every
// acknowledged write is there, nothing else is, and the ledger holds. While one worker is away, customers on the
// other can still be credited.
func TestMachineKilled(t *testing.T) {
	m := storetest.NewMachines(t)
	s := m.Spread(t)
	const customers = 12
	for i := range customers {
		enrol(t, s, prefix(i), 1)
	}

	for name, victim := range map[string]*storetest.Cluster{"worker": m.Workers[0], "coordinator": m.Coordinator} {
		t.Run(name, func(t *testing.T) {
			before := eventsOf(t, m)
			told, stop := creditAll(s, customers)
			time.Sleep(time.Second)
			require.NoError(t, victim.Kill())
			during := told()
			time.Sleep(2 * time.Second)
			passed := 0
			for i, c := range told() {
				if c.acknowledged > during[i].acknowledged+1 { // one may have been under way
					passed++
				}
			}

			require.NoError(t, victim.Start())
			require.Eventually(t, func() bool {
				at := told()
				time.Sleep(500 * time.Millisecond)
				for i, c := range told() {
					if c.acknowledged == at[i].acknowledged {
						return false
					}
				}
				return true
			}, time.Minute, time.Millisecond, "everybody goes on")

			stop()
			if name == "worker" {
				require.Positive(t, passed, "customers of the other worker")
				require.Less(t, passed, customers)
			}

			sum := accountedFor(t, m, before, told())
			t.Logf("%s killed: %d acknowledged, %d unknown, %d refused; %d of %d customers went on meanwhile", name, sum.acknowledged, sum.unknown, sum.refused, passed, customers)
			require.Eventually(t, func() bool { return prepared(t, m) == 0 }, 2*time.Minute, 100*time.Millisecond, "no transaction stays open")
			require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(verify(t, s), store.LedgerHeld))
		})
	}
}

// TestMachineFrozen freezes a worker while customers are credited one by one: it accepts connections but does not
// answer. Customers on the other worker are served, the others are refused at once, and all are served once it
// answers again.
func TestMachineFrozen(t *testing.T) {
	m := storetest.NewMachines(t)
	s := m.Spread(t)
	const customers = 12
	for i := range customers {
		enrol(t, s, prefix(i), 1)
	}

	before := eventsOf(t, m)
	told, stop := creditAll(s, customers)
	m.Workers[0].Freeze(t)
	names := make([]loyalty.Needs, customers)
	for i := range names {
		names[i].Customers = []loyalty.CustomerNeeds{{Ref: loyalty.Name{Kind: loyalty.NameCustomer, Value: prefix(i) + "0"}}}
	}

	away := func() []bool {
		return s.MachineAway(t.Context(), customers, func(i int) loyalty.Needs { return names[i] })
	}
	require.Eventually(t, func() bool { return away() != nil }, time.Minute, 10*time.Millisecond, "it is remembered")

	refused := away()
	require.Contains(t, refused, true)
	require.Contains(t, refused, false, "customers of the other worker")
	at := told()
	require.Eventually(t, func() bool {
		for i, c := range told() {
			if !refused[i] && c.acknowledged < at[i].acknowledged+2 {
				return false
			}
		}
		return true
	}, time.Minute, 10*time.Millisecond, "the others go on while it is frozen")

	m.Workers[0].Thaw(t)
	require.Eventually(t, func() bool { return away() == nil }, time.Minute, 10*time.Millisecond, "it is asked again")
	at = told()
	require.Eventually(t, func() bool {
		for i, c := range told() {
			if c.acknowledged == at[i].acknowledged {
				return false
			}
		}
		return true
	}, time.Minute, 10*time.Millisecond, "everybody goes on")

	stop()
	accountedFor(t, m, before, told())
	require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(verify(t, s), store.LedgerHeld))
}

// TestMachineAdded adds a third worker while customers are credited, and moves shards to it without a stop. Refused
// callers may retry; no acknowledged write is lost, nothing else is there, and customers are on three machines in the
// end.
func TestMachineAdded(t *testing.T) {
	m := storetest.NewMachines(t)
	s := m.Spread(t)
	const customers = 12
	for i := range customers {
		enrol(t, s, prefix(i), 1)
	}

	before := eventsOf(t, m)
	told, stop := creditAll(s, customers)
	time.Sleep(time.Second)
	m.AddWorker(t)
	began := time.Now()
	_, err := storetest.Raw(t, m.URL()).Exec(`SELECT rebalance_table_shards(shard_transfer_mode => 'force_logical')`)
	took := time.Since(began)
	during := told()
	time.Sleep(time.Second)
	stop()
	require.NoError(t, err)
	var machines, tables int
	require.NoError(t, storetest.Raw(t, m.URL()).QueryRow(`SELECT count(DISTINCT nodeport), count(DISTINCT table_name) FILTER (WHERE nodeport = (SELECT max(nodeport) FROM pg_dist_node
 WHERE nodeid = (SELECT max(nodeid) FROM pg_dist_node))) FROM citus_shards WHERE citus_table_type = 'distributed'`).Scan(&machines, &tables))
	require.Equal(t, 3, machines)
	require.Greater(t, tables, 10, "all that is of a customer moved together")
	sum := accountedFor(t, m, before, told())
	moving := 0
	for _, c := range during {
		moving += c.acknowledged
	}

	t.Logf("a third worker: shards moved in %s; %d acknowledged (%d until they had moved), %d unknown, %d refused", took.Round(time.Millisecond), sum.acknowledged, moving, sum.unknown, sum.refused)
	require.Zero(t, sum.unknown+sum.refused, "writes wait for the moment in which a shard changes hands, and then go on")
	require.Eventually(t, func() bool { return prepared(t, m) == 0 }, 2*time.Minute, 100*time.Millisecond, "no transaction stays open")
	require.Equal(t, "I1 I11 I12 I2 I3 I4 I5 I6 I8 I9", withVerdict(verify(t, s), store.LedgerHeld))
}

// accountedFor compares what was told of each customer with what is there since.
func accountedFor(t *testing.T, m *storetest.Machines, before map[string]int, told []counts) (sum counts) {
	t.Helper()
	after := eventsOf(t, m)
	for i, c := range told {
		n := after[prefix(i)+"0"] - before[prefix(i)+"0"]
		require.GreaterOrEqual(t, n, c.acknowledged, "nothing acknowledged is lost")
		require.LessOrEqual(t, n, c.acknowledged+c.unknown, "nothing else is there")
		sum.acknowledged, sum.unknown, sum.refused = sum.acknowledged+c.acknowledged, sum.unknown+c.unknown, sum.refused+c.refused
	}
	return sum
}

// creditAll credits customers, each by a worker of their own, until it is stopped; told says how often.
func creditAll(s *store.Store, customers int) (told func() []counts, stop func()) {
	var lock sync.Mutex
	var running sync.WaitGroup
	list := make([]counts, customers)
	ended := make(chan struct{})
	for i := range customers {
		running.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}

				err := credit(s, prefix(i), 1)
				lock.Lock()
				switch c := &list[i]; {
				case err == nil:
					c.acknowledged++
				case errors.Is(err, loyalty.ErrOutcomeUnknown):
					c.unknown++
				default:
					c.refused++
				}

				lock.Unlock()
				if err != nil {
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}

	told = func() []counts {
		lock.Lock()
		defer lock.Unlock()
		return append([]counts(nil), list...)
	}

	return told, func() {
		close(ended)
		running.Wait()
	}
}

// prefix begins the name of a customer that is enrolled alone.
func prefix(i int) string { return string(rune('a'+i)) + "-" }

// eventsOf counts the events of each customer.
func eventsOf(t *testing.T, m *storetest.Machines) map[string]int {
	t.Helper()
	rows, err := storetest.Raw(t, m.URL()).Query(`SELECT c.name, count(*) FROM events e JOIN customers c ON c.id = e.customer_id GROUP BY c.name`)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	counted := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		require.NoError(t, rows.Scan(&name, &n))
		counted[name] = n
	}
	require.NoError(t, rows.Err())
	return counted
}

// prepared counts the transactions that a machine still has to settle, after they were settled.
func prepared(t *testing.T, m *storetest.Machines) (open int) {
	t.Helper()
	_, err := storetest.Raw(t, m.URL()).ExecContext(context.Background(), `SELECT recover_prepared_transactions()`)
	require.NoError(t, err)
	for _, c := range append([]*storetest.Cluster{m.Coordinator}, m.Workers...) {
		var n int
		require.NoError(t, storetest.Raw(t, c.URL("postgres")).QueryRow(`SELECT count(*) FROM pg_prepared_xacts`).Scan(&n))
		open += n
	}
	return open
}

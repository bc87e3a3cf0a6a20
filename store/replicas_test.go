package store_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// withReplicas is a store on a server with two standbys, which streams to them.
type withReplicas struct {
	t        testing.TB
	primary  *storetest.Cluster
	standbys []*storetest.Cluster
	store    *store.Store
	reads    *store.Replicated
	reading  context.Context
}

func openReplicas(t *testing.T, lag time.Duration) *withReplicas {
	t.Helper()
	w := &withReplicas{t: t, primary: storetest.NewPrimary(t), reading: loyalty.Reading(context.Background())}
	w.store = storetest.Open(w.t, w.primary.URL("postgres"))
	require.NoError(t, w.store.Migrate(t.Context()))
	w.standbys = []*storetest.Cluster{w.primary.Standby(t, "s1"), w.primary.Standby(t, "s2")}
	w.reads = w.follow(w.store, lag, w.standbys[0].URL("postgres"), w.standbys[1].URL("postgres"))
	w.becomes("ready", "ready")
	return w
}

func (w *withReplicas) follow(s *store.Store, lag time.Duration, addresses ...string) *store.Replicated {
	w.t.Helper()
	r, err := store.WithReplicas(context.Background(), s, store.ReplicaOptions{URLs: addresses, Lag: lag})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, r.Release()) })
	return r
}

func (w *withReplicas) states() (list []string) {
	for _, r := range w.reads.Replicas() {
		list = append(list, r.State)
	}
	return list
}

func (w *withReplicas) becomes(states ...string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return fmt.Sprint(w.states()) == fmt.Sprint(states) }, time.Minute, 20*time.Millisecond,
		"they do not become %v; now they are %v", states, w.reads.Replicas())
}

// answered are the reads that replicas answered.
func (w *withReplicas) answered() (n int64) {
	for _, r := range w.reads.Replicas() {
		n += r.Reads
	}
	return n
}

// score is what a customer has, read as a request would.
func (w *withReplicas) score(from *store.Replicated, customer string) int64 {
	w.t.Helper()
	c, err := from.Customer(w.reading, customer)
	require.NoError(w.t, err)
	return c.Figures.Score
}

// TestReplicas: a read sees every earlier write, whichever node wrote it and whatever happens to a replica; lists are
// no older than allowed; callers do not notice that a replica is gone.
func TestReplicas(t *testing.T) {
	const lag = 4 * time.Second
	w := openReplicas(t, lag)
	ids := enrol(t, w.store, "c-", 4)
	other := w.follow(storetest.Open(w.t, w.primary.URL("postgres")), lag, w.standbys[0].URL("postgres"), w.standbys[1].URL("postgres"))

	// ownWrites writes on one node and reads on both.
	ownWrites := func(rounds int) (slowest time.Duration) {
		for range rounds {
			before := w.score(w.reads, "c-0")
			require.NoError(t, credit(w.store, "c-", 1))
			for _, node := range []*store.Replicated{w.reads, other} {
				began := time.Now()
				require.Equal(t, before+1, w.score(node, "c-0"), "a write that was answered is read")
				page, err := node.Events(w.reading, loyalty.EventQuery{Ref: "c-0", Page: loyalty.Page{Limit: 1}})
				require.NoError(t, err)
				require.NotEmpty(t, page.Events)
				slowest = max(slowest, time.Since(began))
			}
		}
		return slowest
	}

	t.Run("both are used", func(t *testing.T) {
		before := w.answered()
		rounds := 0
		used := func() bool { all := w.reads.Replicas(); return all[0].Reads > 0 && all[1].Reads > 0 }
		for until := time.Now().Add(time.Minute); time.Now().Before(until) && (rounds < 40 || !used()); rounds++ {
			ownWrites(1)
		}
		require.True(t, used(), "%v", w.reads.Replicas())
		t.Logf("in %d rounds %d reads of this node were answered by replicas", rounds, w.answered()-before)
		list, err := w.reads.Customers(w.reading, loyalty.CustomerQuery{Page: loyalty.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, list, 4)
	})

	t.Run("what decides is the primary's", func(t *testing.T) {
		before, own := w.answered(), w.reads.PrimaryReads()
		_, err := w.reads.Customer(t.Context(), "c-0")
		require.NoError(t, err)
		require.NoError(t, w.reads.Within(t.Context(), loyalty.Needs{Now: time.Now(), Customers: []loyalty.CustomerNeeds{{ID: ids[0]}}},
			func(l *loyalty.Loaded) (*loyalty.Writes, error) {
				require.Len(t, l.Customers, 1)
				return &loyalty.Writes{}, nil
			}))
		require.Equal(t, before, w.answered())
		require.Equal(t, own, w.reads.PrimaryReads())
	})

	t.Run("a view", func(t *testing.T) {
		before := w.answered()
		require.Eventually(t, func() bool {
			seen := 0
			require.NoError(t, w.reads.Within(w.reading, loyalty.Needs{Now: time.Now(), Reading: true, Customers: []loyalty.CustomerNeeds{{ID: ids[0], Lots: loyalty.OpenLots}}},
				func(l *loyalty.Loaded) (*loyalty.Writes, error) {
					seen = len(l.Customers)
					return &loyalty.Writes{}, nil
				}))
			return seen == 1 && w.answered() > before
		}, time.Minute, 10*time.Millisecond)

		require.ErrorIs(t, w.reads.Within(w.reading, loyalty.Needs{Now: time.Now(), Reading: true}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
			return nil, loyalty.ErrCustomerNotFound
		}), loyalty.ErrCustomerNotFound)
		_, err := w.reads.Customer(w.reading, "nobody")
		require.ErrorIs(t, err, loyalty.ErrCustomerNotFound)
	})

	t.Run("a paused replay", func(t *testing.T) {
		w.standbys[0].PauseReplay(t)
		w.standbys[1].PauseReplay(t)
		enrol(t, w.store, "late-", 1)
		written := time.Now()
		w.becomes("behind", "behind")
		count := func() int64 {
			n, err := w.reads.CountCustomers(w.reading, loyalty.CustomerQuery{})
			require.NoError(t, err)
			return n
		}

		old, first := 0, time.Since(written)
		for asked := first; asked < lag+time.Second; asked = time.Since(written) {
			n := count()
			if n == 4 {
				old++
			}
			require.False(t, n == 4 && asked > lag, "a list is %s old", asked)
			time.Sleep(50 * time.Millisecond)
		}

		if first < lag/2 { // a machine may be slower than that
			require.Positive(t, old, "a replica that is not too far behind answers lists")
		}

		require.EqualValues(t, 5, count())
		t.Logf("%d lists were old; the slowest read of a customer took %s", old, ownWrites(10))
		w.standbys[0].ResumeReplay(t)
		w.standbys[1].ResumeReplay(t)
		w.becomes("ready", "ready")
		ownWrites(5)
	})

	t.Run("a killed replica, while events are written", func(t *testing.T) {
		var wait sync.WaitGroup
		var writes, reads atomic.Int64
		stop := make(chan struct{})
		until := func() bool {
			select {
			case <-stop:
				return true
			default:
				return false
			}
		}

		for range 3 {
			wait.Go(func() {
				for !until() {
					if creditUntil(context.Background(), w.store, "late-", 1) == nil {
						writes.Add(1)
					}
				}
			})
		}

		for range 4 {
			wait.Go(func() {
				for !until() {
					_, err := w.reads.Customer(w.reading, "c-1")
					if !assertNoError(t, err) {
						return
					}
					_, err = w.reads.CountCustomers(w.reading, loyalty.CustomerQuery{})
					if !assertNoError(t, err) {
						return
					}
					reads.Add(2)
				}
			})
		}

		time.Sleep(300 * time.Millisecond)
		require.NoError(t, w.standbys[1].Kill())
		ownWrites(10)
		w.becomes("ready", "away")
		require.NoError(t, w.standbys[1].Start())
		w.becomes("ready", "ready")
		close(stop)
		wait.Wait()
		require.Positive(t, writes.Load())
		require.Positive(t, reads.Load())
		t.Logf("%d writes, %d reads meanwhile, none failed", writes.Load(), reads.Load())
	})

	t.Run("a frozen replica", func(t *testing.T) {
		w.standbys[0].Freeze(t)
		began := time.Now()
		slowest := ownWrites(1) // asked of it before it is known to hang
		require.Less(t, slowest, 4*time.Second, "no read waits longer for it than for the look that finds it away")
		w.becomes("away", "ready")
		require.Less(t, ownWrites(10), 4*time.Second)
		n, err := w.reads.CountCustomers(w.reading, loyalty.CustomerQuery{})
		require.NoError(t, err)
		require.EqualValues(t, 5, n)
		w.standbys[0].Thaw(t)
		w.becomes("ready", "ready")
		ownWrites(5)
		t.Logf("frozen for %s; the slowest read while it was not known to be took %s", time.Since(began).Round(time.Millisecond), slowest)
	})

	t.Run("a promoted replica", func(t *testing.T) {
		w.standbys[1].Promote(t)
		require.NoError(t, credit(w.store, "c-", 4)) // which it has not
		ownWrites(10)
		w.becomes("ready", "promoted")
		before := w.reads.Replicas()[1].Reads
		ownWrites(10)
		require.Equal(t, before, w.reads.Replicas()[1].Reads, "it is not asked any more")
	})

	t.Run("another server", func(t *testing.T) {
		foreign := storetest.NewPrimary(t)
		r := w.follow(w.store, lag, foreign.Standby(t, "s3").URL("postgres"))
		require.Eventually(t, func() bool { return r.Replicas()[0].State == "foreign" }, time.Minute, 20*time.Millisecond)
		_, err := r.Customer(w.reading, "c-0")
		require.NoError(t, err)
		require.Zero(t, r.Replicas()[0].Reads)
	})
}

func assertNoError(t *testing.T, err error) bool {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	return err == nil
}

// TestReplicaRole: a role without rights of its own reads from a replica.
func TestReplicaRole(t *testing.T) {
	w := openReplicas(t, time.Second)
	enrol(t, w.store, "c-", 1)
	w.primary.Tell(t, `CREATE ROLE plain LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO plain`)
	as := func(address string) string {
		u, err := url.Parse(address)
		require.NoError(t, err)
		u.User = url.User("plain")
		return u.String()
	}
	r := w.follow(storetest.Open(w.t, as(w.primary.URL("postgres"))), time.Second, as(w.standbys[0].URL("postgres")))
	require.Eventually(t, func() bool { return r.Replicas()[0].State == "ready" }, time.Minute, 20*time.Millisecond, "%v", r.Replicas())
	w.score(r, "c-0")
}

// TestReplicaOptions: what cannot be a replica is said at once; one that is away is not.
func TestReplicaOptions(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		r, err := store.WithReplicas(t.Context(), s, store.ReplicaOptions{})
		require.NoError(t, err)
		require.Empty(t, r.Replicas())
		require.NoError(t, r.Release())
		r, err = store.WithReplicas(t.Context(), s, store.ReplicaOptions{URLs: []string{"postgres://nobody@127.0.0.1:1/x"}, Lag: time.Second})
		if s.Embedded() || storetest.OnCitus() {
			require.ErrorContains(t, err, "LOYALTY_REPLICA_URL")
			return
		}

		require.NoError(t, err)
		enrol(t, s, "c-", 1)
		_, err = r.Customer(loyalty.Reading(t.Context()), "c-0")
		require.NoError(t, err)
		require.EqualValues(t, 1, r.PrimaryReads())
		require.NoError(t, r.Release())
		_, err = store.WithReplicas(t.Context(), s, store.ReplicaOptions{URLs: []string{"postgres://[::bad"}, Lag: time.Second})
		require.ErrorContains(t, err, "LOYALTY_REPLICA_URL: address 1")
	})
}

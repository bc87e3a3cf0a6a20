//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestFaultReplicas has two programs serve from a primary with two standbys, while events come in: a caller reads what
// it wrote, on either node, while a standby does not replay, is killed and comes back, and hangs. Then the primary is
// killed and the synchronous standby promoted: every acknowledged event is there, once.
func TestFaultReplicas(t *testing.T) {
	t.Parallel()
	primary := storetest.NewPrimary(t)
	g := newGround(t, primary.URL("postgres"))
	near, far := primary.Standby(t, "near"), primary.Standby(t, "far")
	primary.Await(t, "near")
	g.env = append(g.env, "LOYALTY_DATABASE_URL="+both(t, primary, near), "LOYALTY_REPLICA_URL="+near.URL("postgres")+","+far.URL("postgres"),
		"LOYALTY_LOG=text,info")
	a, b := g.start(t), g.start(t)
	w := &writersReading{t: t, g: g, nodes: []*serving{a, b}, acknowledged: map[string]int{}}
	for n := range 4 {
		enrol(t, newCaller(t, g.key), a.address, fmt.Sprint("w", n))
	}

	w.begin(4)
	strikes := []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"a paused replay", func() { far.PauseReplay(t) }},
		{"it goes on", func() { far.ResumeReplay(t) }},
		{"a killed standby", func() { require.NoError(t, far.Kill()) }},
		{"it is back", func() { require.NoError(t, far.Start()) }},
		{"a frozen standby", func() { far.Freeze(t) }},
		{"it thaws", func() { far.Thaw(t) }},
	}

	for _, s := range strikes {
		before := w.done.Load()
		s.do()
		require.Eventually(t, func() bool { return w.done.Load() > before+20 }, time.Minute, 20*time.Millisecond, s.name)
		time.Sleep(500 * time.Millisecond)
		t.Logf("%s: %d writes that were read again", s.name, w.done.Load()-before)
	}

	require.Zero(t, w.failed.Load(), "no caller hears of a standby")

	w.failing.Store(true) // the primary itself goes: callers hear of that
	require.NoError(t, primary.Kill())
	near.Promote(t)
	before := w.done.Load()
	require.Eventually(t, func() bool { return w.done.Load() > before+20 }, 2*time.Minute, 20*time.Millisecond, "they find the new primary")
	for _, state := range []string{"state=promoted", "state=foreign"} { // the one, and the one that still follows the old primary
		require.Eventually(t, func() bool { return strings.Contains(a.log(), state) }, time.Minute, 20*time.Millisecond, state)
	}

	w.end()
	t.Logf("%d writes were acknowledged and read again, %d answers were no success after the primary was killed", w.done.Load(), w.failed.Load())

	conn, err := pgx.Connect(t.Context(), near.URL("postgres"))
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	for customer, wanted := range w.acknowledged {
		var found int
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM events e JOIN names n ON n.owner = e.customer_id AND n.kind = 1
WHERE n.value = $1 AND e.action = 'point_add'`, customer).Scan(&found))
		require.GreaterOrEqual(t, found, wanted, "an acknowledged event of %s is lost", customer)
		require.LessOrEqual(t, found, wanted+w.unsure[customer], "an event of %s is there twice", customer)
	}

	require.Equal(t, 0, a.stop(terminate), a.log())
	require.Equal(t, 0, b.stop(terminate), b.log())
	verified := command(t, g.dir, g.env, "ledger", "verify")
	require.Equal(t, 0, verified.code, verified.out+verified.errors)
}

// both is the address of whichever of two servers is the primary.
func both(t *testing.T, one, two *storetest.Cluster) string {
	t.Helper()
	c, err := pgx.ParseConfig(one.URL("postgres"))
	require.NoError(t, err)
	d, err := pgx.ParseConfig(two.URL("postgres"))
	require.NoError(t, err)
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/postgres?sslmode=disable&target_session_attrs=read-write", c.Port, d.Port)
}

// writersReading write on one node and read on the other.
type writersReading struct {
	t            *testing.T
	g            *ground
	nodes        []*serving
	wait         sync.WaitGroup
	stopped      atomic.Bool
	failing      atomic.Bool  // callers may hear of a fault
	done, failed atomic.Int64 // writes that were read again; answers that are none

	lock         sync.Mutex
	acknowledged map[string]int // events, by customer
	unsure       map[string]int // of which no answer came
}

func (w *writersReading) begin(writers int) {
	w.unsure = map[string]int{}
	for n := range writers {
		customer, c := fmt.Sprint("w", n), newCaller(w.t, w.g.key)
		w.wait.Go(func() {
			for round := 0; !w.stopped.Load(); round++ {
				if !w.once(c, customer, round) {
					return
				}
			}
		})
	}
}

func (w *writersReading) end() {
	w.stopped.Store(true)
	w.wait.Wait()
}

// once writes an event and reads the customer; false: something is wrong.
func (w *writersReading) once(c *caller, customer string, round int) bool {
	node, other := w.nodes[round%2], w.nodes[(round+1)%2]
	// A key makes a repetition harmless, so that what became of an event is known in the end.
	key := fmt.Sprintf("%s-%d", customer, round)
	var written answer
	for !w.stopped.Load() {
		written = c.post(node.address, "/events", `{"customer":"`+customer+`","action":"point_add","data":{"points":1}}`, key)
		if written.err == nil && written.status == http.StatusOK {
			break
		}
		w.failed.Add(1)
		if !w.failing.Load() {
			w.t.Errorf("a write: %d %s %v", written.status, written.body, written.err)
			return false
		}
		time.Sleep(50 * time.Millisecond)
	}

	w.lock.Lock()
	if written.status == http.StatusOK && written.err == nil {
		w.acknowledged[customer]++
	} else {
		w.unsure[customer]++
	}

	wanted := w.acknowledged[customer]
	w.lock.Unlock()
	for !w.stopped.Load() {
		read := c.get(other.address + "/customers/" + customer + "/points")
		if read.err != nil || read.status != http.StatusOK {
			w.failed.Add(1)
			if !w.failing.Load() {
				w.t.Errorf("a read: %d %s %v", read.status, read.body, read.err)
				return false
			}
			time.Sleep(50 * time.Millisecond)
			continue
		}

		var found struct {
			Data struct {
				Score int `json:"score"`
			} `json:"data"`
		}

		if err := json.Unmarshal(read.body, &found); err != nil || found.Data.Score != wanted {
			w.t.Errorf("%d points were acknowledged, %d are read: %s %v", wanted, found.Data.Score, read.body, err)
			return false
		}

		if list := c.get(other.address + "/customers?limit=5"); list.status != http.StatusOK && !w.failing.Load() {
			w.t.Errorf("a list: %d %s %v", list.status, list.body, list.err)
			return false
		}

		w.done.Add(1)
		return true
	}

	return true
}

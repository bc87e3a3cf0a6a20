//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// diesAt is the environment's name for the point at which a program of a test ends
// itself, and how often it is passed before: point=visits.
const diesAt = "TEST_DIES_AT"

// dying is the program as it is, except that it kills itself at a point.
func dying(at string) int {
	point, visits, _ := strings.Cut(at, "=")
	n, err := strconv.ParseInt(visits, 10, 64)
	if err != nil {
		panic(err)
	}

	var left atomic.Int64
	left.Store(n)
	storeAt = func(p store.Point) {
		if p == store.Point(point) && left.Add(-1) == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until it is carried out
		}
	}

	return run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
}

// TestFaultPoints ends the program at every point of its writes, at different visits
// (R18): what it was told to do again happens once, what was begun is finished, and
// nothing is lost.
func TestFaultPoints(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		l := newLoad(t, g)
		l.changing = true
		c := &chores{t: t, g: g, caller: newCaller(t, g.key)}
		s := g.start(t)
		l.open(s.address)
		c.prepare(s.address)
		require.Equal(t, 0, s.stop(terminate), s.log())
		points, sweeps := store.Points(), full(t, 1, 20)
		for i := range sweeps {
			for _, p := range points {
				visits := 1 + i%3
				if p == store.BatchDecided || p == store.BatchCommitted {
					visits += dice.IntN(60)
				}
				if p == store.HeadsNoted { // by the hour
					visits = 1
				}

				s := serveProgram(t, exec.Command(os.Args[0]), g.dir, append(g.env, fmt.Sprintf("%s=%s=%d", diesAt, p, visits)))
				l.run(s.address)
				c.run(s.address)
				require.Equal(t, -1, s.wait(), "%s: %s", p, s.log())
				l.stop()
				c.wait.Wait()
				_, err := storetest.Raw(t, g.url).Exec(`UPDATE jobs SET lease_until = 0, next_at = CASE name WHEN 'anchor' THEN 0 ELSE next_at END`) // of the dead, as time would
				require.NoError(t, err)
			}
		}

		s = g.start(t)
		l.resume(s.address)
		c.finish(s.address)
		mustHold(t, l.check(s.address, 1))
		require.Equal(t, 0, s.stop(terminate), s.log())
		t.Logf("figures: R18: %d points, each forced %d times; %d changes and bulk operations; %s", len(points), sweeps, len(c.all), l.book)
	})
}

// chores are what a manager does beside the load: changes, and work that goes on by
// itself. Each has a key of its own, and is repeated until it is answered.
type chores struct {
	t      *testing.T
	g      *ground
	caller *caller
	wait   sync.WaitGroup
	all    []*chore
}

type chore struct {
	path, body, key string
	answered        answer
}

func (c *chores) prepare(address string) {
	c.t.Helper()
	for path, body := range map[string]string{
		"/entities/core/customer-list":  `{"id":"regulars","name":"Regulars"}`,
		"/entities/automation/campaign": `{"id":"double","name":"Double","trigger":"checkout","effects":[{"type":"multiply","factor":2}],"status":"draft"}`,
	} {
		a := c.caller.post(address, path, body, "")
		require.Equal(c.t, http.StatusCreated, a.status, string(a.body))
	}
}

// run does chores until the program is gone; first those that it did not answer.
func (c *chores) run(address string) {
	c.wait.Go(func() {
		for c.again(address) {
			c.next()
			time.Sleep(200 * time.Millisecond) // a manager, not a load
		}
	})
}

func (c *chores) next() {
	n := len(c.all)
	made := []*chore{
		{path: "/entities/stores/store", body: fmt.Sprintf(`{"id":"s-%d","name":"Store"}`, n)},
		{path: "/v1/bulk-operation/customer-list/add/regulars", body: `{"customers":["ada","bob","cy","nobody"]}`},
		{path: "/automation/campaigns/double/backtest", body: `{"from":"2026-01-01T00:00:00Z","to":"` + time.Now().UTC().Format(time.RFC3339) + `"}`},
	}[n%3]
	made.key = fmt.Sprintf("chore-%d", n)
	c.all = append(c.all, made)
}

// again repeats what was not answered; false: there is no answer.
func (c *chores) again(address string) bool {
	for _, made := range c.all {
		for made.answered.status == 0 {
			switch a := c.caller.post(address, made.path, made.body, made.key); {
			case a.err != nil:
				return false
			case a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests:
				time.Sleep(20 * time.Millisecond)
			default:
				made.answered = a
			}
		}
	}
	return true
}

// full says that there was no room for one more operation: those of programs that died wait for another program to go
// on with them.
func (made *chore) full() bool {
	return made.answered.status == http.StatusUnprocessableEntity && strings.Contains(string(made.answered.body), `"code":190241,`)
}

// finish has everything answered and done, and holds that each happened once.
func (c *chores) finish(address string) {
	c.t.Helper()
	for len(c.all) < 3 { // one of each
		c.next()
	}

	require.True(c.t, c.again(address))
	stores, begun := 0, 0
	for _, made := range c.all {
		if made.full() {
			continue
		}
		require.Contains(c.t, []int{http.StatusCreated, http.StatusAccepted}, made.answered.status, "%s %s", made.path, made.answered.body)
		if made.answered.status == http.StatusCreated {
			stores++
		} else {
			begun++
		}
	}

	db := storetest.Raw(c.t, c.g.url)
	count := func(query string) (n int) {
		require.NoError(c.t, db.QueryRow(query).Scan(&n))
		return n
	}

	require.Equal(c.t, stores, count(`SELECT COUNT(*) FROM entities WHERE type = 'stores/store'`))
	require.Equal(c.t, begun, count(`SELECT COUNT(*) FROM bulk_operations`))
	for until := time.Now().Add(patience); count(`SELECT COUNT(*) FROM bulk_operations WHERE state <> 'done'`) > 0; time.Sleep(50 * time.Millisecond) {
		require.True(c.t, time.Now().Before(until), "of %d operations are left: %d", begun, count(`SELECT COUNT(*) FROM bulk_operations WHERE state <> 'done'`))
	}

	require.Zero(c.t, count(`SELECT COUNT(*) FROM bulk_operations WHERE kind = 'customer_list_add' AND (done <> 4 OR errors <> 1)`))
	require.Equal(c.t, 3, count(`SELECT COUNT(*) FROM list_members`))
}

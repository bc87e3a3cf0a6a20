//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// dueJobs are the jobs that settle what is due.
var dueJobs = []string{"auto_accept", "expiry", "pending", "tiers"}

// TestFaultJobs has four workers share what is due while they are killed again and again (R9): points that expire,
// purchases to accept, held events to drop, tiers to lower, and all tiers to make again because their structure is new.
// Nothing is missed and nothing is done twice.
func TestFaultJobs(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		members := full(t, 300, 100_000)
		d := backdate(t, g, members)
		kills := d.killWhileWorking()
		d.forgetLeases()
		for _, job := range dueJobs {
			ended := command(t, g.dir, g.env, "jobs", "run", job)
			require.Equal(t, 0, ended.code, ended.errors)
			require.Regexp(t, `^`+job+`: \d+ done, 0 failed\n$`, ended.out)
		}

		d.check()
		verified := command(t, g.dir, g.env, "ledger", "verify")
		require.Equal(t, 0, verified.code, verified.out)
		require.Positive(t, kills, "no worker was killed at work")
		t.Logf("figures: R9: %d members, %d workers killed at work", members, kills)
	})
}

// dueWork is a database with members for which something fell due days ago.
type dueWork struct {
	*testing.T
	g       *ground
	raw     *sql.DB
	members int
}

// backdate makes members five days ago: one third with points that expired
// meanwhile, one third with a purchase that is accepted by its date, one third with
// a held event.
func backdate(t *testing.T, g *ground, members int) *dueWork {
	t.Helper()
	d := &dueWork{t, g, storetest.Raw(t, g.url), members}
	began := time.Now().AddDate(0, 0, -5)
	g.past(t, func() time.Time { return began }, func(p *past) {
		p.module("points_economy", true, `{"expiry":{"policy":"rolling","days":2}}`)
		p.entity("tiers/structure", "main", `{"name":"Main","base":"points","window":{"kind":"rolling","days":1},"downgrade":"automatic"}`)
		p.entity("tiers/tier", "gold", `{"structure":"main","name":{"en":"Gold"},"threshold":10}`)
		// Held events and purchases that wait exclude each other, so that one module
		// follows the other.
		p.module("pending_events", true, `{"actions":["visit"],"days":1}`)
		p.submit(d.third(0, "point_add", `{"points":10}`))
		p.submit(d.third(1, "visit", `{"url":"https://shop.test/","points":10}`))
		p.module("pending_events", false, ``)
		p.module("checkout_accept", true, `{"type":"accept","pending_days":1}`)
		p.submit(d.third(2, "checkout", `{"transaction_id":"MEMBER","total":5}`))
	})

	return d
}

// third is a third of the members: each enrols and has one event.
func (d *dueWork) third(n int, what, data string) (all []loyalty.Submission) {
	for i := n; i < d.members; i += 3 {
		name := fmt.Sprintf("member-%d", i)
		own := strings.ReplaceAll(data, "MEMBER", name)
		all = append(all,
			loyalty.Submission{Customer: name, Action: "opt_in", Data: json.RawMessage(`{"email":"` + name + `@example.com"}`)},
			loyalty.Submission{Customer: name, Action: what, Data: json.RawMessage(own)})
	}
	return all
}

// killWhileWorking starts four workers at once, over and over, and kills them as
// soon as they got on, until nothing is left; it counts those that were killed
// before they had ended.
func (d *dueWork) killWhileWorking() (kills int) {
	d.Helper()
	left := d.left()
	for left > 0 {
		workers, said := make([]*exec.Cmd, len(dueJobs)), make([]bytes.Buffer, len(dueJobs))
		for i, job := range dueJobs {
			workers[i] = exec.Command(binary, "jobs", "run", job)
			workers[i].Dir, workers[i].Env = d.g.dir, clean(d.g.env...)
			workers[i].Stdout, workers[i].Stderr = &said[i], &said[i]
			require.NoError(d, workers[i].Start())
		}

		enough := max(0, left-max(1, d.members/full(d.T, 3, 100)))
		for until := time.Now().Add(patience); d.left() > enough && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond) // each look counts all events
		}

		time.Sleep(dice.within(40 * time.Millisecond))
		for _, w := range workers {
			_ = w.Process.Kill()
		}

		for _, w := range workers {
			if _ = w.Wait(); w.ProcessState.ExitCode() == -1 {
				kills++
			}
		}

		now := d.left()
		require.Less(d, now, left, "the workers do not get on: %q", said)
		left = now
		d.forgetLeases()
	}

	return kills
}

// left counts the members with something due, and those whose tier was not made again.
func (d *dueWork) left() (n int) {
	var recalculated int
	require.NoError(d, d.raw.QueryRow(fmt.Sprintf(`SELECT count(*) FROM balances WHERE due_at <= %d`, time.Now().UnixMilli())).Scan(&n))
	require.NoError(d, d.raw.QueryRow(`SELECT count(DISTINCT customer_id) FROM events WHERE action = 'tier_recalculation' AND data LIKE '%"main"%'`).Scan(&recalculated))
	return n + d.members - recalculated
}

// forgetLeases ends the leases of the dead at once, as time would.
func (d *dueWork) forgetLeases() {
	_, err := d.raw.Exec(`UPDATE jobs SET lease_until = 0`)
	require.NoError(d, err)
}

// check counts for every member the events that something due must have made.
func (d *dueWork) check() {
	d.Helper()
	rows, err := d.raw.Query(`SELECT c.name, e.action, count(*) FROM events e JOIN customers c ON c.id = e.customer_id GROUP BY c.name, e.action`)
	require.NoError(d, err)
	defer rows.Close()
	counts := map[string]map[string]int{}
	for rows.Next() {
		var name, action string
		var n int
		require.NoError(d, rows.Scan(&name, &action, &n))
		if counts[name] == nil {
			counts[name] = map[string]int{}
		}
		counts[name][action] = n
	}

	require.NoError(d, rows.Err())
	require.Len(d, counts, d.members)
	for i := range d.members {
		want := []map[string]int{
			{"opt_in": 1, "point_add": 1, "tier_up": 1, "tier_down": 1, "point_expire": 1, "tier_recalculation": 1},
			{"opt_in": 1, "visit": 1, "pending": 1, "pending_expired": 1, "tier_recalculation": 1},
			{"opt_in": 1, "checkout": 1, "checkout_accept": 1, "tier_recalculation": 1},
		}[i%3]
		require.Equal(d, want, counts[fmt.Sprintf("member-%d", i)], "member-%d", i)
	}
}

// TestJobCommands shows the jobs to an operator.
func TestJobCommands(t *testing.T) {
	g := newGround(t, storetest.SQLiteForProgram(t))
	listed := command(t, g.dir, g.env, "jobs", "list")
	require.Equal(t, 0, listed.code, listed.errors)
	require.Regexp(t, `(?m)^auto_accept +1m0s +never +0 +0 +never$`, listed.out)
	ran := command(t, g.dir, g.env, "jobs", "run", "partitions")
	require.Equal(t, result{0, "partitions: 1 done, 0 failed\n", ""}, ran)
	listed = command(t, g.dir, g.env, "jobs", "list")
	require.Regexp(t, `(?m)^partitions +24h0m0s +20\S+ +1 +0 +20\S+$`, listed.out)
	unknown := command(t, g.dir, g.env, "jobs", "run", "partition")
	require.Equal(t, 2, unknown.code)
	require.Contains(t, unknown.errors, "there is no job")

	_, err := storetest.Raw(t, g.url).Exec(fmt.Sprintf(`UPDATE jobs SET owner = 'x', lease_until = %d`, time.Now().Add(10*time.Second).UnixMilli()))
	require.NoError(t, err)
	busy := command(t, g.dir, g.env, "jobs", "run", "partitions")
	require.Equal(t, 1, busy.code)
	require.Contains(t, busy.errors, "by another process")
}

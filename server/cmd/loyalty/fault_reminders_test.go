//go:build unix

package main

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestFaultReminders kills the job that reminds customers of points that end soon, again and
// again in the middle of its work (W6): each customer is reminded once, and nothing is left out.
func TestFaultReminders(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		d := &dueWork{t, g, storetest.Raw(t, g.url), full(t, 600, 20_000)}
		g.past(t, nil, func(p *past) { // their points end in twenty days
			p.module("points_economy", true, `{"expiry":{"policy":"rolling","days":20}}`)
			for n := range 3 {
				p.submit(d.third(n, "point_add", `{"points":10}`))
			}
		})

		reminded := func() (n int) {
			require.NoError(t, d.raw.QueryRow(`SELECT count(*) FROM events WHERE action = 'points_expiring'`).Scan(&n))
			return n
		}

		kills := 0
		for before := 0; before < d.members; {
			work := exec.Command(binary, "jobs", "run", "reminders")
			work.Dir, work.Env = d.g.dir, clean(d.g.env...)
			require.NoError(t, work.Start())
			for until := time.Now().Add(patience); reminded() < min(d.members, before+d.members/full(t, 4, 40)) && time.Now().Before(until); {
				time.Sleep(time.Millisecond)
			}

			time.Sleep(dice.within(20 * time.Millisecond))
			_ = work.Process.Kill()
			if _ = work.Wait(); work.ProcessState.ExitCode() == -1 {
				kills++
			}

			now := reminded()
			require.Greater(t, now, before, "the job does not get on")
			before = now
			d.forgetLeases()
		}

		began := time.Now()
		ended := command(t, g.dir, g.env, "jobs", "run", "reminders")
		took := time.Since(began)
		require.Equal(t, result{0, "reminders: 0 done, 0 failed\n", ""}, ended)
		var customers, most int
		require.NoError(t, d.raw.QueryRow(`SELECT count(*), max(n) FROM (SELECT count(*) AS n FROM events WHERE action = 'points_expiring' GROUP BY customer_id) c`).Scan(&customers, &most))
		require.Equal(t, []int{d.members, 1}, []int{customers, most}, "each once")
		require.Positive(t, kills, "the job was not killed at work")
		t.Logf("figures: W6: %d customers, %d kills; a pass over them that finds nothing takes %s with the start of the program", d.members, kills, took.Round(time.Millisecond))
	})
}

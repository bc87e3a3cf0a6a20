package job_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	jobroom "github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// expiry is the row of that job.
func expiry(list []jobroom.Job) *jobroom.Job {
	return &list[slices.IndexFunc(list, func(j jobroom.Job) bool { return j.Name == "expiry" })]
}

// A job that is run by hand says what it did, and the table keeps it.
func TestJobRun(t *testing.T) {
	m := modules{"points_economy": `{"expiry":{"policy":"rolling","days":2}}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		jobs := s.Jobs()
		for i := range 5 {
			name := fmt.Sprintf("member-%d", i)
			s.Must(name, "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(name, "point_add", `{"points":10}`)
		}

		list, err := jobs.List(ctx)
		require.NoError(t, err)
		require.Len(t, list, len(jobroom.JobNames()))
		for i, job := range list {
			require.Equal(t, jobroom.Job{JobRow: loyalty.JobRow{Name: jobroom.JobNames()[i]}, Interval: job.Interval}, job, "it never ran")
		}

		_, err = jobs.Run(ctx, "expire")
		require.ErrorIs(t, err, loyalty.ErrJobUnknown)

		s.Wait(48 * time.Hour)
		job, err := jobs.Run(ctx, "expiry")
		require.NoError(t, err)
		require.Equal(t, []any{int64(5), int64(0), "", int64(1), s.Clock(), s.Clock().Add(job.Interval)},
			[]any{job.Done, job.Failed, job.Result, job.Runs, job.FinishedAt, job.NextAt})
		for i := range 5 {
			require.Equal(t, points.Figures{Score: 10, Expired: 10}, s.Customer(fmt.Sprintf("member-%d", i)).Figures)
		}

		for _, name := range jobroom.JobNames() {
			job, err := jobs.Run(ctx, name)
			if name == "backup" || name == "imports" || name == "ledger" {
				require.ErrorIs(t, err, loyalty.ErrJobUnknown, "this node has no place for one")
				continue
			}
			require.NoError(t, err)
			require.Zero(t, job.Failed, "%s: %s", name, job.Result)
			require.False(t, job.Running(s.Clock()))
		}

		list, err = jobs.List(ctx)
		require.NoError(t, err)
		require.Zero(t, expiry(list).Done, "%s found nothing left", "expiry")
		require.Equal(t, int64(2), expiry(list).Runs)
		s.Verify()
	})
}

// What cannot be settled is told, does not stop the others, and is not tried for
// ever.
func TestJobFailure(t *testing.T) {
	m := modules{"points_economy": `{"expiry":{"policy":"rolling","days":2}}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		for i := range 3 {
			s.Must(fmt.Sprintf("member-%d", i), "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(fmt.Sprintf("member-%d", i), "point_add", `{"points":10}`)
		}

		broken := s.Customer("member-1")
		require.NoError(t, s.DB.Within(ctx, loyalty.Needs{}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
			return &loyalty.Writes{NewProgress: []loyalty.Progress{{
				Customer: broken.ID, ProgressKey: loyalty.ProgressKey{Kind: loyalty.ProgressHeld, Key: "x"}, Data: []byte(`[]`), DueAt: s.Clock(),
			}}}, nil
		}))

		s.Wait(48 * time.Hour)
		for range 2 {
			job, err := s.Jobs().Run(ctx, "pending")
			require.NoError(t, err)
			require.Equal(t, int64(1), job.Failed)
			require.Contains(t, job.Result, broken.ID.String())
			s.Wait(time.Minute)
		}

		require.Equal(t, points.Figures{Score: 10}, s.Customer("member-1").Figures)
		for _, i := range []int{0, 2} {
			require.Equal(t, points.Figures{Score: 10, Expired: 10}, s.Customer(fmt.Sprintf("member-%d", i)).Figures)
		}
	})
}

// A job is done by one node at a time; a lease ends by itself, also where it was
// taken by a clock that has been set back since.
func TestJobLease(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		leave := func() { // as a node does that is killed in the middle of it
			_, err := s.Raw.Exec(`DELETE FROM jobs`)
			require.NoError(t, err)
			ok, err := s.DB.SwapJob(ctx, nil, loyalty.JobRow{
				Name: "expiry", NextAt: s.Clock(), Owner: "somebody", LeaseUntil: s.Clock().Add(15 * time.Second), StartedAt: s.Clock(), Done: 7,
			})
			require.NoError(t, err)
			require.True(t, ok)
		}

		leave()
		_, err := s.Jobs().Run(ctx, "expiry")
		require.ErrorIs(t, err, loyalty.ErrJobRunning)
		list, err := s.Jobs().List(ctx)
		require.NoError(t, err)
		require.True(t, expiry(list).Running(s.Clock()))
		require.Equal(t, int64(7), expiry(list).Done, "what the one under way did")
		_, err = s.Jobs().Run(ctx, "pending")
		require.NoError(t, err, "another job is nobody's")

		s.Wait(15 * time.Second)
		job, err := s.Jobs().Run(ctx, "expiry")
		require.NoError(t, err, "the lease is over")
		require.Equal(t, int64(1), job.Runs)

		leave()
		s.Wait(-time.Hour)
		_, err = s.Jobs().Run(ctx, "expiry")
		require.NoError(t, err, "a lease an hour ahead was taken by another clock")
		s.Wait(-time.Hour)
		require.Equal(t, time.Minute, s.Jobs().Turn(ctx, "expiry"), "a date an hour ahead was, too: it is done now")
		list, err = s.Jobs().List(ctx)
		require.NoError(t, err)
		require.Equal(t, s.Clock(), expiry(list).FinishedAt)
		require.Equal(t, time.Minute, s.Jobs().Turn(ctx, "expiry"), "not due")
	})
}

// Two nodes follow the clock through the nights in which it jumps, a leap day, and
// an hour's correction in either direction: whatever comes due is applied, once,
// at its own instant, and no later than two intervals after it.
func TestJobsFollowTheClock(t *testing.T) {
	for name, night := range map[string]struct {
		from time.Time
		jump time.Duration // what the clock is set by half-way
	}{
		"spring":    {from: time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)},
		"autumn":    {from: time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC)},
		"leap day":  {from: time.Date(2028, 2, 29, 22, 30, 0, 0, time.UTC)},
		"forward":   {from: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), jump: time.Hour},
		"backwards": {from: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), jump: -time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			m := modules{"time_zone": "Europe/Budapest", "points_economy": `{"expiry":{"policy":"rolling","days":1}}`, "pending_events": `{"actions":["visit"],"days":1}`}
			if night.jump >= 0 && name != "spring" { // what the zone does, and who looks ahead, does not depend on the database
				followTheClock(t, newShop(t, storetest.SQLite(t), m), night.from, night.jump)
				return
			}
			eachShop(t, m, func(t *testing.T, s *shop) { followTheClock(t, s, night.from, night.jump) })
		})
	}
}

func followTheClock(t *testing.T, s *shop, from time.Time, jump time.Duration) {
	const members, every, length = 24, 5 * time.Minute, 150 * time.Minute
	due := map[loyalty.ID]time.Time{}
	for i := range members { // a day before; the zone decides whether it has 23, 24 or 25 hours
		at := from.AddDate(0, 0, -1).Add(time.Duration(i) * every)
		s.Time.Set(at)
		name := fmt.Sprintf("member-%d", i)
		s.Must(name, "opt_in", `{"email":"ada@shop.test"}`)
		action, data := "point_add", `{"points":10}`
		if i%2 == 1 {
			action, data = "visit", `{"url":"https://shop.test/","points":10}`
		}
		c := s.Must(name, action, data).Customer
		due[c.ID] = c.DueAt
	}

	for id, at := range due {
		if at.Before(from) { // that day had 23 hours, or a member came early: before the night begins
			delete(due, id)
		}
	}

	require.Greater(t, len(due), members/4)
	s.Time.Set(from)
	require.NoError(t, s.SettleDue(ctx))

	type bell struct {
		node *jobroom.Jobs
		name string
		at   time.Duration // since the beginning: timers do not follow the clock
	}

	var bells []*bell
	for range 2 {
		node := s.Jobs()
		bells = append(bells, &bell{node: node, name: "expiry"}, &bell{node: node, name: "tiers"})
	}

	seen := map[loyalty.ID]time.Duration{}
	for passed := time.Duration(0); passed < length+max(0, -jump)+40*time.Minute; {
		next := bells[0]
		for _, b := range bells {
			if b.at < next.at {
				next = b
			}
		}

		passed = next.at
		now := from.Add(passed)
		if passed > length/2 {
			now = now.Add(jump)
		}

		s.Time.Set(now)
		waiting, err := s.DB.Due(ctx, now, members)
		require.NoError(t, err)
		for _, id := range waiting {
			if _, known := seen[id]; !known {
				seen[id] = passed
			}
			require.LessOrEqual(t, passed-seen[id], 2*time.Minute, "at most two intervals late")
		}

		next.at += next.node.Turn(ctx, next.name)
	}

	happened := s.happened("point_expire", "pending_expired")
	for id, at := range due {
		require.Equal(t, []time.Time{at}, happened[id])
	}

	s.Verify()
}

// happened tells when events of some actions took effect, by customer.
func (s *shop) happened(actions ...string) map[loyalty.ID][]time.Time {
	s.T.Helper()
	rows, err := s.Raw.Query("SELECT customer_id, action, at FROM events ORDER BY id")
	require.NoError(s.T, err)
	defer rows.Close()
	happened := map[loyalty.ID][]time.Time{}
	for rows.Next() {
		var id loyalty.ID
		var action string
		var ms int64
		require.NoError(s.T, rows.Scan(&id, &action, &ms))
		if slices.Contains(actions, action) {
			happened[id] = append(happened[id], time.UnixMilli(ms).UTC())
		}
	}

	require.NoError(s.T, rows.Err())
	return happened
}

// A node that stops gives its job back as it is: due, and no failure.
func TestJobStops(t *testing.T) {
	m := modules{"points_economy": `{"expiry":{"policy":"rolling","days":2}}`}

	eachShop(t, m, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":10}`)
		s.Wait(48 * time.Hour)
		stopping, stop := context.WithCancel(ctx)
		jobs := jobroom.NewJobs(jobroom.JobsOptions{Engine: s.Engine, Store: stopper{s.DB, stop}})
		_, err := jobs.Run(stopping, "expiry")
		require.ErrorIs(t, err, loyalty.ErrUnavailable)
		list, err := s.Jobs().List(ctx)
		require.NoError(t, err)
		require.False(t, expiry(list).Running(s.Clock()))
		require.Equal(t, []any{int64(0), int64(0), "", s.Clock()}, []any{expiry(list).Runs, expiry(list).Failed, expiry(list).Result, expiry(list).NextAt})
		job, err := s.Jobs().Run(ctx, "expiry")
		require.NoError(t, err)
		require.Equal(t, int64(1), job.Done)
	})
}

// stopper ends the node as soon as it has taken a job.
type stopper struct {
	loyalty.JobStore
	stop func()
}

func (s stopper) SwapJob(ctx context.Context, before *loyalty.JobRow, after loyalty.JobRow, told ...loyalty.Notice) (bool, error) {
	ok, err := s.JobStore.SwapJob(ctx, before, after, told...)
	s.stop()
	return ok, err
}

package job_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// A node whose clock is wrong lets nothing expire, does no job, and records what it is
// told at the database's time. It goes on when its clock is right again.
func TestWrongClock(t *testing.T) {
	for _, ahead := range []time.Duration{72 * time.Hour, 61 * time.Second, -72 * time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			var wrong atomic.Int64
			var told []string
			var keeper *loyalty.Timekeeper
			eachWith(t, func(o *engine.EngineOptions) {
				wrong.Store(0)
				told = nil
				keeper = loyalty.NewTimekeeper(loyalty.TimekeeperOptions{
					Database: o.Store.(loyalty.DatabaseClock),
					Clock:    func() time.Time { return time.Now().Add(time.Duration(wrong.Load())) },
					Report:   func(err error) { told = append(told, err.Error()) },
				})
				o.Timekeeper = keeper
			}, func(s *shop) {
				require.NoError(t, keeper.Check(t.Context()))
				s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
				s.Must("ada", "point_add", `{"points":5}`) // expires within two days

				wrong.Store(int64(ahead)) // set between two looks at the database's clock
				s.Must("ada", "point_add", `{"points":1}`)
				require.NoError(t, s.Settle(t.Context(), s.Customer("ada").ID))
				require.ErrorIs(t, s.SettleDue(t.Context()), loyalty.ErrClockOff)
				jobs := job.NewJobs(job.JobsOptions{Engine: s.Engine, Store: s.DB})
				for _, name := range []string{"expiry", "answers"} {
					_, err := jobs.Run(t.Context(), name)
					require.ErrorIs(t, err, loyalty.ErrClockOff, name)
				}

				a := s.Customer("ada").Figures
				require.Equal(t, []int64{6, 0}, []int64{a.Score, a.Expired})
				last := s.latest()
				require.WithinDuration(t, time.Now(), last, loyalty.MaxSkew)
				require.Len(t, told, 1, "it is told once")
				skew, known := keeper.Skew()
				require.True(t, known)
				require.InDelta(t, ahead.Seconds(), skew.Seconds(), 30)

				wrong.Store(0)
				_, err := jobs.Run(t.Context(), "expiry")
				require.NoError(t, err)
				require.Equal(t, int64(0), s.Customer("ada").Figures.Expired)
				s.Verify()
			})
		})
	}
}

// eachWith is eachShop with options of the engine's.
func eachWith(t *testing.T, change func(*engine.EngineOptions), test func(*shop)) {
	t.Helper()
	storetest.EachURL(t, func(t *testing.T, url string) {
		test(newShop(t, url, modules{"points_economy": `{"expiry":{"policy":"rolling","days":1}}`}, change))
	})
}

// latest is when the last event was recorded.
func (s *shop) latest() time.Time {
	s.T.Helper()
	var at int64
	require.NoError(s.T, s.Raw.QueryRow(`SELECT max(recorded_at) FROM events`).Scan(&at))
	return time.UnixMilli(at)
}

// A caller that gives up is told whether the event may still be recorded.
func TestGivingUp(t *testing.T) {
	storetest.PlainOnly(t) // it waits for a lock of this server
	s := newShop(t, storetest.Postgres(t), nil)
	s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
	busy, err := s.Raw.Begin()
	require.NoError(t, err)
	defer func() { _ = busy.Rollback() }()
	_, err = busy.Exec(`SELECT 1 FROM balances FOR UPDATE`)
	require.NoError(t, err)
	give := func(points string, after time.Duration) chan error {
		done := make(chan error, 1)
		go func() {
			ctx, stop := context.WithTimeout(t.Context(), after)
			defer stop()
			_, err := s.Submit(ctx, loyaltytest.Event("ada", "point_add", `{"points":`+points+`}`))
			done <- err
		}()
		return done
	}

	taken := give("1", 3*time.Second)
	require.Eventually(t, func() bool { return s.waiting() }, time.Minute, time.Millisecond)
	queued := give("2", 100*time.Millisecond)
	err = <-queued
	require.ErrorIs(t, err, loyalty.ErrUnavailable, "the worker is busy, and will not take it")
	require.False(t, errors.Is(err, loyalty.ErrUnconfirmed))
	require.ErrorIs(t, <-taken, loyalty.ErrUnconfirmed)
	require.NoError(t, busy.Rollback())
	s.Must("ada", "point_add", `{"points":4}`) // behind both
	require.Equal(t, int64(5), s.Customer("ada").Figures.Score)
	s.Verify()
}

// waiting says whether a session of the database waits for a lock.
func (s *shop) waiting() (yes bool) {
	err := s.Raw.QueryRow(`SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&yes)
	require.NoError(s.T, err)
	return yes
}

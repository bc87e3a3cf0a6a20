package loyalty

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// MaxSkew is how far this node's clock may be from the database's. Beyond it the node
// applies nothing that is due and does no job: a clock that is ahead would let points
// expire and delete answers for good.
const MaxSkew = time.Minute

// How often the database is asked for its time, and how long it may take.
const (
	skewEvery = 5 * time.Second
	skewTime  = 3 * time.Second
)

// DatabaseClock tells the time of the database, which all nodes share.
type DatabaseClock interface {
	DatabaseTime(ctx context.Context) (time.Time, error)
}

// Timekeeper holds this node's clock to the database's.
type Timekeeper struct {
	database DatabaseClock
	clock    func() time.Time
	report   func(error)

	lock sync.Mutex
	// The database's time, and this node's monotonic instant, when it was last asked: a
	// clock that is set between two questions is noticed at once.
	there, here time.Time
	off         bool
}

// TimekeeperOptions are what a Timekeeper is made of.
type TimekeeperOptions struct {
	Database DatabaseClock
	// Clock is this node's time of day; nil: the system's.
	Clock func() time.Time
	// Report hears when the clock goes wrong; nil: it is not told.
	Report func(error)
}

// NewTimekeeper makes a Timekeeper, which trusts the clock until Check was called.
func NewTimekeeper(o TimekeeperOptions) *Timekeeper {
	k := &Timekeeper{database: o.Database, clock: o.Clock, report: o.Report}
	if k.clock == nil {
		k.clock = time.Now
	}
	if k.report == nil {
		k.report = func(error) {}
	}
	return k
}

// Now returns this node's time, held to the database's where they are further apart than MaxSkew.
func (k *Timekeeper) Now() time.Time {
	now, expected, known := k.times()
	if skew := now.Sub(expected); known && (skew > MaxSkew || skew < -MaxSkew) {
		return expected
	}
	return now
}

// Skew returns how far this node's clock is ahead of the database's, and false if that is not
// known.
func (k *Timekeeper) Skew() (time.Duration, bool) {
	now, expected, known := k.times()
	return now.Sub(expected), known
}

// times are this node's time and what it is by the database's.
func (k *Timekeeper) times() (now, expected time.Time, known bool) {
	k.lock.Lock()
	there, here := k.there, k.here
	k.lock.Unlock()
	now = k.clock()
	if here.IsZero() {
		return now, now, false
	}
	return now, there.Add(time.Since(here)), true
}

// Trusted fails with ErrClockOff where this node's clock is too far from the
// database's.
func (k *Timekeeper) Trusted() error {
	skew, _ := k.Skew()
	off := skew > MaxSkew || skew < -MaxSkew
	k.lock.Lock()
	changed := off != k.off
	k.off = off
	k.lock.Unlock()
	if !off {
		return nil
	}
	where := "ahead of"
	if skew < 0 {
		where = "behind"
	}
	err := ErrClockOff.Because(fmt.Errorf("this node's clock is %s %s the database's: it does no job and applies nothing due until they agree",
		skew.Abs().Round(time.Second), where))
	if changed {
		k.report(err)
	}
	return err
}

// Check compares with the database's clock. It fails with ErrClockOff where they are
// too far apart; that the database does not answer changes nothing.
func (k *Timekeeper) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, skewTime)
	defer cancel()
	asked := time.Now()
	there, err := k.database.DatabaseTime(ctx)
	if answered := time.Now(); err == nil {
		took := answered.Sub(asked)
		k.lock.Lock()
		k.there, k.here = there.Add(took/2), answered
		k.lock.Unlock()
	}
	return k.Trusted()
}

// Watch compares again and again until ctx ends.
func (k *Timekeeper) Watch(ctx context.Context) {
	tick := time.NewTicker(skewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = k.Check(ctx) // it was reported
		}
	}
}

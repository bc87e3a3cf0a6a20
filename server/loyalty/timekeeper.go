package loyalty

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// MaxSkew is how far this node's clock may be from the database's. Beyond it the node applies nothing that is due and
// does no job: a clock that is ahead would expire points and delete answers for good.
const MaxSkew = time.Minute

// MaxStep is how far a clock may be ahead of the last instant known to be right, if the database has no clock of its
// own. Beyond it nothing due is applied until an operator confirms the clock: one start with a clock that is a year
// ahead would expire every point for good.
const MaxStep = 24 * time.Hour

// How often the database is asked for its time, and how long it may take.
const (
	skewEvery = 5 * time.Second
	skewTime  = 3 * time.Second
)

// DatabaseClock returns the time of the database, which all nodes share.
type DatabaseClock interface {
	DatabaseTime(ctx context.Context) (time.Time, error)
}

// Timekeeper compares this node's clock with the database's.
type Timekeeper struct {
	database DatabaseClock
	clock    func() time.Time
	report   func(error)
	accepted time.Time       // until this instant the clock is trusted, whatever was known before
	stepped  func(time.Time) // nil: steps are not detected

	lock sync.Mutex
	// The database's time when it was last asked, and this node's monotonic instant: a clock that is set between two
	// requests is noticed at once.
	there, here time.Time
	off         bool
	// right is the last instant known to be right, and since this node's monotonic instant at that time; right is zero
	// if nothing is known.
	right, since time.Time
	ahead        bool
	looked       bool // a step was looked for at least once
}

// TimekeeperOptions configures a Timekeeper.
type TimekeeperOptions struct {
	Database DatabaseClock
	// Clock is this node's time of day; nil: the system's.
	Clock func() time.Time
	// Report is called when the clock becomes wrong; nil: no call.
	Report func(error)
	// Stepped enables the detection of steps of the clock, which only a database without a clock of its own needs. When
	// the clock is found ahead, Stepped gets the last instant known to be right, so that the next start knows it too;
	// once the clock is trusted again, it gets the zero time.
	Stepped func(right time.Time)
	// Right is the last instant known to be right before this start; zero: nothing is known.
	Right time.Time
	// Accepted is until when an operator confirms the clock; zero: not confirmed.
	Accepted time.Time
}

// NewTimekeeper makes a Timekeeper, which trusts the clock until Check is called.
func NewTimekeeper(o TimekeeperOptions) *Timekeeper {
	k := &Timekeeper{database: o.Database, clock: o.Clock, report: o.Report, accepted: o.Accepted, stepped: o.Stepped,
		right: o.Right, since: time.Now()}
	if k.clock == nil {
		k.clock = time.Now
	}
	if k.report == nil {
		k.report = func(error) {}
	}
	return k
}

// Now returns this node's time, or the database's if they are further apart than MaxSkew.
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

// times returns this node's time, and the same moment by the database's clock.
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

// Trusted fails with ErrClockOff if this node's clock is too far from the database's.
func (k *Timekeeper) Trusted() error {
	if err := k.inStep(); err != nil {
		return err
	}

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

// inStep fails with ErrClockOff while the clock is more than MaxStep beyond the last instant known to be right.
// Otherwise the clock's time becomes that instant.
func (k *Timekeeper) inStep() error {
	if k.stepped == nil {
		return nil
	}

	now, here := k.clock(), time.Now()
	k.lock.Lock()
	latest := k.right.Add(here.Sub(k.since) + MaxStep)
	ahead, right := !k.right.IsZero() && now.After(latest) && now.After(k.accepted), k.right
	changed := ahead != k.ahead || !k.looked // an earlier start may have recorded that the clock was ahead
	k.ahead, k.looked = ahead, true
	if !ahead {
		k.right, k.since = now, here
	}

	k.lock.Unlock()

	if !ahead {
		if changed {
			k.stepped(time.Time{})
		}
		return nil
	}

	err := ErrClockOff.Because(&ClockStep{Now: now.UTC(), Right: right.UTC()})
	if changed {
		k.stepped(right)
		k.report(err)
	}

	return err
}

// ClockStep is the failure of a clock that is more than MaxStep ahead of the last instant known to be right.
type ClockStep struct{ Now, Right time.Time }

// Error describes the step and what to do about it.
func (s *ClockStep) Error() string {
	return fmt.Sprintf("this machine's clock says %s, but the last instant known to be right is %s: nothing due is applied and no job runs "+
		"until the clock is set right, or LOYALTY_CLOCK_TRUSTED=%s says that it is",
		s.Now.Format(time.RFC3339), s.Right.Format(time.RFC3339), s.Now.Format(time.DateOnly))
}

// Check compares with the database's clock. It fails with ErrClockOff if they are too far apart. A database that does
// not answer changes nothing.
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

// Watch compares repeatedly until ctx ends.
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

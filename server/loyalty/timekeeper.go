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

// MaxStep is how far a clock may be ahead of the last instant that is known to be right, where the
// database has no clock of its own. Beyond it nothing due is applied until an operator says that the
// clock is right: one start with a clock that is a year ahead would let every point expire for good.
const MaxStep = 24 * time.Hour

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
	accepted time.Time       // until when the clock is believed whatever was known before
	stepped  func(time.Time) // nil: steps are not looked for

	lock sync.Mutex
	// The database's time, and this node's monotonic instant, when it was last asked: a
	// clock that is set between two questions is noticed at once.
	there, here time.Time
	off         bool
	// right is the last time of day that is known to be right, and since this node's monotonic
	// instant then; right is zero where nothing is known.
	right, since time.Time
	ahead        bool
	looked       bool // for a step, at least once
}

// TimekeeperOptions are what a Timekeeper is made of.
type TimekeeperOptions struct {
	Database DatabaseClock
	// Clock is this node's time of day; nil: the system's.
	Clock func() time.Time
	// Report hears when the clock goes wrong; nil: it is not told.
	Report func(error)
	// Stepped has steps of the clock looked for, which only a database without a clock of its own
	// needs. It hears the last instant known to be right when the clock is found ahead, so that the
	// next start knows it too, and the zero time once the clock is believed again.
	Stepped func(right time.Time)
	// Right is the last instant known to be right before this start; zero: nothing is known.
	Right time.Time
	// Accepted is until when an operator says that the clock is right; zero: nothing was said.
	Accepted time.Time
}

// NewTimekeeper makes a Timekeeper, which trusts the clock until Check was called.
func NewTimekeeper(o TimekeeperOptions) *Timekeeper {
	k := &Timekeeper{database: o.Database, clock: o.Clock, report: o.Report, accepted: o.Accepted, stepped: o.Stepped, right: o.Right, since: time.Now()}
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

// inStep fails with ErrClockOff while the clock is more than MaxStep beyond what is known to be
// right. Otherwise it takes the clock's time for right.
func (k *Timekeeper) inStep() error {
	if k.stepped == nil {
		return nil
	}
	now, here := k.clock(), time.Now()
	k.lock.Lock()
	latest := k.right.Add(here.Sub(k.since) + MaxStep)
	ahead, right := !k.right.IsZero() && now.After(latest) && now.After(k.accepted), k.right
	changed := ahead != k.ahead || !k.looked // an earlier start may have left that the clock was ahead
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

// ClockStep says that a clock is more than MaxStep ahead of the last instant known to be right.
type ClockStep struct{ Now, Right time.Time }

// Error says what to do.
func (s *ClockStep) Error() string {
	return fmt.Sprintf("this machine's clock says %s, but the last instant known to be right is %s: nothing due is applied and no job runs "+
		"until the clock is set right, or LOYALTY_CLOCK_TRUSTED=%s says that it is",
		s.Now.Format(time.RFC3339), s.Right.Format(time.RFC3339), s.Now.Format(time.DateOnly))
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

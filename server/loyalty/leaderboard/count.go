package leaderboard

import (
	"context"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// countedPage is how many events are counted at once.
const countedPage = 1000

// maxTries is how often a count is tried against other nodes.
const maxTries = 12

// counting brings the boards up to date once.
type counting struct {
	*Leaderboard
	more     func() bool // whether there is time for more
	counted  func(customers int)
	state    loyalty.BoardState
	location *time.Location
	whole    bool // all events committed before are on the boards
}

// run counts all events committed until now; a new generation counts every event.
func (c *counting) run(ctx context.Context) error {
	if level, err := c.tail.Glance(ctx,
		func(from, before time.Time) (bool, error) { return c.level(ctx, from, before) }); level || err != nil {
		return err
	}
	for tries := 1; ; tries++ {
		if err := c.follow(ctx); !errors.Is(err, loyalty.ErrBatchConflict) || tries == maxTries {
			return err
		}
	}
}

// level reports whether nothing needs to be counted: everything recorded between two instants is in the tail and on the
// boards, and the boards use the programme's days.
func (c *counting) level(ctx context.Context, from, before time.Time) (bool, error) {
	state, unnumbered, err := c.store.BoardGlance(ctx, from, before)
	p := c.programmes.Programme()
	if err != nil || unnumbered || state.Behind || state.Built == 0 || !state.Whole() ||
		state.Zone != p.Location.String() {
		return false, err
	}
	c.state, c.location, c.whole = state, p.Location, true
	return true, nil
}

// follow counts piece by piece. It fails with ErrBatchConflict if another node was faster.
func (c *counting) follow(ctx context.Context) error {
	if err := c.open(ctx); err != nil {
		return err
	}

	whole, err := c.tail.Follow(ctx, c.more, func() (last bool, err error) { return c.step(ctx) })
	if err != nil || !whole {
		return err
	}

	if !c.state.Whole() {
		after := c.state
		after.Built, after.Side = after.Generation, 1-after.Side
		if err := c.swap(ctx, after); err != nil {
			return err
		}
	}

	c.whole = true
	return nil
}

// step counts the next events of the tail.
func (c *counting) step(ctx context.Context) (last bool, err error) {
	if err := c.open(ctx); err != nil || !c.state.Behind {
		return true, err
	}
	customers, last, err := c.store.Count(ctx, c.state.Generation,
		loyalty.NewBoardCalendar(c.now(), c.location), countedPage)
	if err == nil && c.counted != nil {
		c.counted(customers)
	}
	return last, err
}

// open reads the state, and begins a generation if the programme's days have changed.
func (c *counting) open(ctx context.Context) (err error) {
	if c.state, err = c.store.BoardState(ctx); err != nil {
		return err
	}

	p, s := c.programmes.Programme(), c.state
	zone := p.Location.String()
	if s.Zone != zone && p.Version >= s.Version { // an older programme does not have the change yet
		if s.Whole() {
			s.WholeZone = s.Zone
		}
		s.Zone, s.Version, s.Generation, s.Behind = zone, p.Version, s.Generation+1, true
		if err := c.swap(ctx, s); err != nil {
			return err
		}
	}

	c.location, err = time.LoadLocation(c.state.Zone)
	return err
}

// swap writes the state. It fails with ErrBatchConflict if another node was faster.
func (c *counting) swap(ctx context.Context, after loyalty.BoardState) error {
	ok, err := c.store.SwapBoardState(ctx, c.state, after)
	switch {
	case err != nil:
		return err
	case !ok:
		return loyalty.ErrBatchConflict
	}
	c.state = after
	return nil
}

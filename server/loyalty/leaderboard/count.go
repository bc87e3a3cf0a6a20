package leaderboard

import (
	"context"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// How far back to search for events that were committed after the last look, or
// recorded by a clock that is behind. A reader looks a little back, the job as far
// as a batch may take and clocks may differ; what comes later still is found when
// every customer is compared.
const (
	lookBack    = 5 * time.Second
	lookBackJob = 2 * time.Minute
)

// How much is read and written at once.
const (
	uncountedPage = 2000
	countedPage   = 250
)

// boardMark is since when events were not looked at, on this node.
type boardMark struct {
	generation int64
	at         time.Time
}

// counting brings the boards up to date once.
type counting struct {
	*Leaderboard
	back     time.Duration
	more     func() bool // whether there is time for more
	counted  func(customers int)
	state    loyalty.BoardState
	location *time.Location
}

// run counts what was recorded lately, after everything where a generation is new.
func (c *counting) run(ctx context.Context) error {
	for tries := 1; ; tries++ {
		err := c.open(ctx)
		if err == nil && c.state.Built != c.state.Generation {
			err = c.build(ctx)
		}
		if err == nil {
			err = c.catchUp(ctx)
		}
		if !errors.Is(err, loyalty.ErrBatchConflict) || tries == maxTries {
			return err
		}
	}
}

// open reads the state and begins a generation where the programme's days are
// others now.
func (c *counting) open(ctx context.Context) (err error) {
	if c.state, err = c.store.BoardState(ctx); err != nil {
		return err
	}
	p, s := c.programmes.Programme(), c.state
	zone := p.Location.String()
	if s.Zone != zone && p.Version >= s.Version { // an older programme has not heard of the change yet
		s.Zone, s.Version, s.Generation, s.Begun = zone, p.Version, s.Generation+1, c.now()
		if err := c.swap(ctx, s); err != nil {
			return err
		}
	}
	c.location, err = time.LoadLocation(c.state.Zone)
	return err
}

// swap writes the state. It fails with ErrBatchConflict where another node was faster.
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

// build counts every customer; then the generation is complete.
func (c *counting) build(ctx context.Context) error {
	done, err := c.compare(ctx)
	if err != nil || !done {
		return err
	}
	after := c.state
	after.Built, after.Compared = after.Generation, c.now()
	return c.swap(ctx, after)
}

// compare counts everybody whose last event no board counts, whenever it was
// recorded; false: there was no time for all of them.
func (c *counting) compare(ctx context.Context) (done bool, err error) {
	var after loyalty.ID
	for c.more() {
		page, err := c.store.Behind(ctx, c.state.Generation, after, countedPage)
		if err != nil || len(page) == 0 {
			return err == nil, err
		}
		if err := c.count(ctx, page); err != nil {
			return false, err
		}
		after = page[len(page)-1]
	}
	return false, nil
}

// catchUp counts what was recorded since the last look.
func (c *counting) catchUp(ctx context.Context) error {
	now, from := c.now(), c.state.Begun
	if c.begun.generation == c.state.Generation && c.begun.at.After(from) {
		from = c.begun.at
	}
	if from.After(now) { // the clock was set back
		from = now
	}
	after := loyalty.Cursor{At: from.Add(-c.back)}
	for c.more() {
		page, err := c.store.Uncounted(ctx, c.state.Generation, after, uncountedPage)
		if err != nil {
			return err
		}
		if err := c.count(ctx, customersOf(page)); err != nil {
			return err
		}
		if len(page) < uncountedPage {
			c.begun = boardMark{c.state.Generation, now}
			return nil
		}
		last := page[len(page)-1]
		after = loyalty.Cursor{At: last.RecordedAt, ID: last.Event}
	}
	return nil
}

// customersOf names each customer once.
func customersOf(events []loyalty.Uncounted) (ids []loyalty.ID) {
	seen := map[loyalty.ID]bool{}
	for _, e := range events {
		if !seen[e.Customer] {
			seen[e.Customer] = true
			ids = append(ids, e.Customer)
		}
	}
	return ids
}

// count counts some customers. A run that meets another one over the same customers tries
// again, and finds that nothing is left to count.
func (c *counting) count(ctx context.Context, customers []loyalty.ID) error {
	calendar := loyalty.NewBoardCalendar(c.now(), c.location)
	for len(customers) > 0 {
		some := customers[:min(countedPage, len(customers))]
		customers = customers[len(some):]
		err := loyalty.ErrBatchConflict
		for tries := 0; tries < maxTries && errors.Is(err, loyalty.ErrBatchConflict); tries++ {
			err = c.store.Count(ctx, c.state.Generation, calendar, some)
		}
		if err != nil {
			return err
		}
		if c.counted != nil {
			c.counted(len(some))
		}
	}
	return nil
}

// maxTries is how often a count is tried against other writers.
const maxTries = 12

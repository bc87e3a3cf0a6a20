package leaderboard

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// compareEvery is how often every customer is compared with the journal, for events
// that were committed long after they were recorded.
const compareEvery = 24 * time.Hour

// Rank brings the boards up to date, and drops those that cannot be read any more.
// counted hears how many customers were counted.
func (l *Leaderboard) Rank(ctx context.Context, counted func(customers int)) error {
	c := counting{Leaderboard: l, back: lookBackJob, more: func() bool { return ctx.Err() == nil }, counted: counted}
	if err := c.run(ctx); err != nil {
		return err
	}
	if err := c.keep(ctx); err != nil {
		return err
	}
	for _, oldest := range loyalty.NewBoardCalendar(l.now(), c.location).Oldest() {
		if err := c.forget(ctx, oldest); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// keep compares every customer where it is time to, and writes how far the run came.
func (c *counting) keep(ctx context.Context) error {
	after := c.state
	after.Begun = c.begun.at
	if since := c.now().Sub(after.Compared); since < 0 || since >= compareEvery {
		after.Compared = c.now()
		if _, err := c.compare(ctx); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, err := c.store.SwapBoardState(ctx, c.state, after) // who was faster has written as much
	return err
}

// forgottenPage is how many rows are deleted at once.
const forgottenPage = 2000

// forget deletes the rows of boards that are over, page by page.
func (c *counting) forget(ctx context.Context, oldest loyalty.Board) error {
	for ctx.Err() == nil {
		n, err := c.store.ForgetBoards(ctx, oldest, forgottenPage)
		if err != nil || n < forgottenPage {
			return err
		}
	}
	return ctx.Err()
}

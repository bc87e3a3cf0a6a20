package leaderboard

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Rank brings the boards up to date, and drops those that can no longer be read. counted is called with the number of
// customers counted.
func (l *Leaderboard) Rank(ctx context.Context, counted func(customers int)) error {
	c := counting{Leaderboard: l, more: func() bool { return ctx.Err() == nil }, counted: counted}
	if err := c.run(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, oldest := range loyalty.NewBoardCalendar(l.now(), c.location).Oldest() {
		if err := c.forget(ctx, oldest); err != nil {
			return err
		}
	}
	return ctx.Err()
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

package loyalty

import (
	"context"
	"time"
)

// PastEvent is an event of the journal as a backtest looks at it.
type PastEvent struct {
	Event
	Issued int64 // points that came into being for the customer, none of them pending
	Held   bool  // it waited for its validation: nothing happened then
}

// PastQuery selects events of the journal by their actions, in the order of their
// recording: those recorded from From on, before Before, behind After (zero: all).
type PastQuery struct {
	Actions      []string
	From, Before time.Time
	After        Cursor
	Limit        int
}

// PastStore reads the journal for backtests.
type PastStore interface {
	CountPast(ctx context.Context, q PastQuery) (int64, error)
	PastEvents(ctx context.Context, q PastQuery) ([]PastEvent, error)
}

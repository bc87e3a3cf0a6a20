package loyalty

import (
	"context"
	"time"
)

// FeedQuery selects a part of the feed: the events of the tail, in its order.
type FeedQuery struct {
	After int64 // the number behind which it begins
	Limit int   // so many events at most
	// Scan is how many numbers are looked at, at most: of some actions there may be none
	// for long.
	Scan int
	// Actions are those that are wanted, and Prefixes how they may begin; neither: all.
	Actions, Prefixes []string
	Postings          bool // how points moved is wanted as well
	// From and Before are the stretch of time in which the events were recorded; zero: no
	// bound.
	From, Before time.Time
}

// FeedPart is a part of the feed.
type FeedPart struct {
	EventPage
	Numbers  []int64                  // of Events, in their order
	Postings map[ID][]CustomerPosting // by event, in the order of booking, where they are wanted
	Head     int64                    // the last number of the tail
	// Through is the number up to which there are no other events that are wanted. With More
	// of EventPage it is that of the last event.
	Through int64
	// Behind is the first event of the tail behind Through; zero: there is none.
	Behind TailEvent
}

// FeedReader reads the tail with its events.
type FeedReader interface {
	// Feed reads a part of the feed.
	Feed(ctx context.Context, q FeedQuery) (FeedPart, error)
	// TailState reads how far the tail is.
	TailState(ctx context.Context) (TailState, error)
	// NumberOwn numbers what this process committed, and Committed has a signal after it
	// committed something.
	NumberOwn(ctx context.Context) error
	Committed() <-chan struct{}
}

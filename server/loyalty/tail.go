package loyalty

import (
	"context"
	"time"
)

// TailEvent is the position of an event in the tail.
type TailEvent struct {
	Number       int64 // 1, 2, 3 …, without a gap
	Customer, ID ID
	RecordedAt   time.Time
}

// TailState is how far the tail is.
type TailState struct {
	Head int64 // the last number; 0: none
	// Present says that every event recorded before the tail began has its number, so that new events get one at once.
	Present  bool
	Looked   time.Time // earlier events have their numbers, except those that commit late; zero: it has not looked yet
	Compared time.Time // when every customer was last compared with the journal; zero: never
}

// TailStore numbers committed events, and reads them in that order. Numbers are given after the commit. Once a number
// can be read, no lower one appears later; every event gets one, and those of a customer grow in the order of commit.
// Any number of nodes may do it at once.
type TailStore interface {
	// TailState reads how far the tail is.
	TailState(ctx context.Context) (TailState, error)
	// NoteTail records that the present was reached, and when the last look and comparison were. None of it is ever set
	// back.
	NoteTail(ctx context.Context, present bool, looked, compared time.Time) error
	// NumberOwn numbers what this process committed since it was last asked.
	NumberOwn(ctx context.Context) error
	// NumberRecorded numbers at most limit further events by the time of recording, then id, after a position and
	// recorded before an instant, and returns its new position; last: nothing follows.
	NumberRecorded(ctx context.Context, after Cursor, before time.Time, limit int) (next Cursor, last bool, err error)
	// NumberBehind numbers the events of the next customers by id, after a given one, that are not in the tail, and
	// returns its new position; last: no customer follows.
	NumberBehind(ctx context.Context, after ID, limit int) (next ID, last bool, err error)
	// Tail reads the events after a number, in order, limit at most.
	Tail(ctx context.Context, after int64, limit int) ([]TailEvent, error)
}

// FeedQuery selects a part of the feed: the events of the tail, in its order.
type FeedQuery struct {
	After int64 // the number after which it begins
	Limit int   // events at most
	// Scan is the most numbers that are read: wanted actions may be absent for long.
	Scan int
	// Actions are the wanted actions, Prefixes their beginnings; neither: all.
	Actions, Prefixes []string
	SentBy            []string // wanted senders, as in Event.SentBy; none: all
	Postings          bool     // include the postings
	// From and Before are the period in which the events were recorded; zero: no bound.
	From, Before time.Time
}

// FeedPart is a part of the feed.
type FeedPart struct {
	EventPage
	Numbers  []int64                  // of Events, in their order
	Postings map[ID][]CustomerPosting // by event, in the order of booking, if requested
	Head     int64                    // the last number of the tail
	// Through is the number up to which there are no further wanted events. With More of EventPage it is that of the
	// last event.
	Through int64
	// Behind is the first event of the tail after Through; zero: there is none.
	Behind TailEvent
}

// FeedReader reads the tail with its events.
type FeedReader interface {
	// Feed reads a part of the feed.
	Feed(ctx context.Context, q FeedQuery) (FeedPart, error)
	// TailState reads how far the tail is.
	TailState(ctx context.Context) (TailState, error)
	// NumberOwn numbers what this process committed; Committed signals after each commit.
	NumberOwn(ctx context.Context) error
	Committed() <-chan struct{}
}

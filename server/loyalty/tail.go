package loyalty

import (
	"context"
	"time"
)

// TailEvent is where an event stands in the tail.
type TailEvent struct {
	Number       int64 // 1, 2, 3 …, without a gap
	Customer, ID ID
	RecordedAt   time.Time
}

// TailState says how far the tail is.
type TailState struct {
	Head int64 // the last number; 0: none
	// Present says that everything that was recorded before there was a tail has its
	// number, so that what is committed now gets one at once.
	Present  bool
	Looked   time.Time // what was recorded before was looked for, but for what commits late; zero: nothing was
	Compared time.Time // when every customer was last compared with the journal; zero: never
}

// TailStore gives committed events their numbers, and reads them in that order.
// Numbers are given after the commit: a number that can be read never has a lower one
// appear later, every event has one, and those of a customer grow in the order of
// commit. Any number of nodes may do it at once.
type TailStore interface {
	// TailState reads how far the tail is.
	TailState(ctx context.Context) (TailState, error)
	// NoteTail writes that the present was reached, and when was looked and compared. None
	// of it is ever set back.
	NoteTail(ctx context.Context, present bool, looked, compared time.Time) error
	// NumberOwn numbers what this process committed since it was last asked.
	NumberOwn(ctx context.Context) error
	// NumberRecorded numbers the next events by the time of recording, then id, after a
	// position and recorded before an instant, limit at most, and says how far it came;
	// last: nothing follows.
	NumberRecorded(ctx context.Context, after Cursor, before time.Time, limit int) (next Cursor, last bool, err error)
	// NumberBehind numbers what the next customers by their id, after a given one, have
	// that is not in the tail, and says how far it came; last: no customer follows.
	NumberBehind(ctx context.Context, after ID, limit int) (next ID, last bool, err error)
	// Tail reads the events after a number, in order, limit at most.
	Tail(ctx context.Context, after int64, limit int) ([]TailEvent, error)
}

// FeedQuery selects a part of the feed: the events of the tail, in its order.
type FeedQuery struct {
	After int64 // the number behind which it begins
	Limit int   // so many events at most
	// Scan is how many numbers are looked at, at most: of some actions there may be none
	// for long.
	Scan int
	// Actions are those that are wanted, and Prefixes how they may begin; neither: all.
	Actions, Prefixes []string
	SentBy            []string // whose events are wanted, as Event.SentBy has them; none: everybody's
	Postings          bool     // how points moved is wanted as well
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

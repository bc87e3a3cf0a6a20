package store

import (
	"context"
	"errors"
	"time"
)

// Pools returns how the connections are used, without asking the database.
func (s upkeep) Pools() []Pool { return s.pools() }

// Unnumbered is how many events this process committed that have no number yet.
func (s upkeep) Unnumbered() int {
	s.own.lock.Lock()
	defer s.own.lock.Unlock()
	return len(s.own.list)
}

// UnnumberedSince is when the oldest event was recorded that this process committed and has not numbered; zero: all
// are numbered.
func (s upkeep) UnnumberedSince() time.Time {
	s.own.lock.Lock()
	defer s.own.lock.Unlock()
	return s.own.since
}

// MostDue is the greatest count of a Backlog.
const MostDue = 10_000

// Backlog is the work that waits in the database.
type Backlog struct {
	Due     int64            // due customers, MostDue at most
	Oldest  time.Time        // since when; zero: no customer is due
	Head    int64            // the last number of the tail
	Follows map[string]int64 // the position of each follower of the tail
}

// Backlog counts what waits at an instant, along indexes.
func (s upkeep) Backlog(ctx context.Context, now time.Time) (b Backlog, err error) {
	db := s.read.WithContext(ctx)
	var due struct {
		Number int64
		Oldest Millis
	}

	var state tailStateRow
	var followers []followerRow
	some := s.read.Table("balances").Select("due_at").Where("due_at <= ?", Millis(now)).Order("due_at").Limit(MostDue)
	err = errors.Join(
		db.Table("(?) AS d", some).Select("count(*) AS number, min(due_at) AS oldest").Scan(&due).Error,
		db.Limit(1).Find(&state).Error,
		db.Find(&followers).Error)

	b = Backlog{Due: due.Number, Oldest: due.Oldest.Time(), Head: state.Head, Follows: map[string]int64{}}
	for _, f := range followers {
		b.Follows[f.Name] = f.Position
	}

	return b, s.classify(err)
}

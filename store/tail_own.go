package store

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// fresh is an event with its customer's previous one: zero for none.
type fresh struct {
	loyalty.TailEvent
	before loyalty.ID
}

// maxOwn bounds the list of a process's own commits. Events beyond it are found in the journal, as if the process had
// been killed.
const maxOwn = 100_000

// own is the list of events that this process committed and has not numbered yet.
type own struct {
	lock sync.Mutex
	list []fresh
	// since is when the oldest noted event was recorded that has no number.
	since time.Time
	news  chan struct{} // holds one signal while there is unreported news
	// others is how often lately another node's events came between these, and expected is for how many pieces that
	// is expected again.
	others, expected int
}

// mostOthers limits expected to 2⁶ pieces.
const mostOthers = 6

// alone reports whether the next piece probably has no other node's events in between.
func (o *own) alone() bool {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.expected > 0 {
		o.expected--
		return false
	}
	return true
}

// met records whether a piece had another node's events between its own.
func (o *own) met(others bool) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if !others {
		o.others = max(0, o.others-1)
		return
	}
	o.others = min(o.others+1, mostOthers)
	o.expected = 1 << o.others
}

// note adds the events of a committed batch.
func (o *own) note(w *loyalty.Writes) {
	if w == nil || len(w.Events) == 0 {
		return
	}

	before := make(map[loyalty.ID]loyalty.ID, len(w.Customers))
	for i := range w.Customers {
		before[w.Customers[i].Before.ID] = w.Customers[i].Before.LastEvent
	}

	o.lock.Lock()
	defer o.lock.Unlock()
	if o.since.IsZero() {
		o.since = w.Events[0].RecordedAt
	}
	if len(o.list) > maxOwn {
		return
	}

	for i := range w.Events {
		e := &w.Events[i]
		o.list = append(o.list, fresh{loyalty.TailEvent{Customer: e.Customer, ID: e.ID, RecordedAt: e.RecordedAt}, before[e.Customer]})
		before[e.Customer] = e.ID
	}

	select {
	case o.news <- struct{}{}:
	default:
	}
}

// take returns the noted events, in the order of ids.
func (o *own) take() []fresh {
	o.lock.Lock()
	defer o.lock.Unlock()
	list := o.list
	o.list = nil
	slices.SortFunc(list, func(a, b fresh) int { return byEventID(&a.TailEvent, &b.TailEvent) })
	return list
}

// giveBack notes events again that could not be numbered, as far as there is room.
func (o *own) giveBack(list []fresh) {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.list = append(list[:min(len(list), max(0, maxOwn-len(o.list)))], o.list...)
}

// numbered records that the taken events have their numbers.
func (o *own) numbered() {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.since = time.Time{}
	if len(o.list) > 0 {
		o.since = o.list[0].RecordedAt
	}
}

// byEventID is the order of numbering. A customer's ids grow in the order of commit.
func byEventID(a, b *loyalty.TailEvent) int {
	return cmp.Or(loyalty.CompareID(a.ID, b.ID), loyalty.CompareID(a.Customer, b.Customer))
}

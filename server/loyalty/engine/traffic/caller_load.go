package traffic

import (
	"sync"
	"time"
)

// callerLoad measures how busy recent batches were. Background work asks it to let callers go first.
type callerLoad struct {
	mu        sync.Mutex
	last      time.Time // when the last batch ended
	callers   int       // answered by that batch or waiting at its end
	since     time.Time // when the current count began
	batches   int
	present   int // callers, summed over these batches
	events    int
	busy      time.Duration
	unresting bool // in the previous count
}

// When there is a crowd. Either a batch had highCallers callers, or the worker has been busy for highShare of the
// time with one of two loads: highRate submissions a second (where commits are fast, batches stay small), or
// highSeveral callers at a time (where the processors are the bottleneck, callers spread over several batches).
const (
	highCallers = 12
	highSeveral = 4
	highRate    = 1000
	highShare   = 0.7
	loadWindow  = 250 * time.Millisecond
)

// note records a batch of a size, and how many submissions waited when it ended.
func (s *callerLoad) note(size, waiting int, began, ended time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ended.Sub(s.last) > loadWindow {
		s.since, s.batches, s.present, s.events, s.busy, s.unresting = began, 0, 0, 0, 0, false
	}

	s.last, s.callers = ended, size+waiting
	s.batches++
	s.present += s.callers
	s.events += size
	s.busy += ended.Sub(began)
	if past := ended.Sub(s.since); past >= loadWindow {
		many := float64(s.events) >= highRate*past.Seconds() || s.present >= highSeveral*s.batches
		s.unresting = many && s.busy.Seconds() >= highShare*past.Seconds()
		s.since, s.batches, s.present, s.events, s.busy = ended, 0, 0, 0, 0
	}
}

// high reports whether there is a crowd of callers at an instant.
func (s *callerLoad) high(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.last) <= loadWindow && (s.callers >= highCallers || s.unresting)
}

// Crowded reports whether callers come as fast as they can be served, or so many at a time that they are a crowd. Heavy
// submissions do not count.
func (d *Dispatcher) Crowded() bool {
	waiting, _ := d.Waiting()
	return waiting >= highCallers || d.load.high(time.Now())
}

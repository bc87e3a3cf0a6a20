package administration

import (
	"net/http"
	"sync"
	"time"
)

// paceMinutes is how many minutes are kept, including the current one.
const paceMinutes = 60

// Pace counts the requests of this node by the minute of their answer. It holds one hour, of any number of requests,
// and stores neither callers nor paths.
type Pace struct {
	clock func() time.Time
	began time.Time // the minute of the start: earlier minutes are unknown

	lock sync.Mutex
	ring [paceMinutes]paceMinute // by minutes since 1970
}

type paceMinute struct {
	minute                    int64 // since 1970; an entry of another hour counts as empty
	requests, refused, failed int64
}

// NewPace counts from now on.
func NewPace(clock func() time.Time) *Pace {
	return &Pace{clock: clock, began: clock().Truncate(time.Minute)}
}

// Answered counts a request. After the clock is set back, a minute may belong to an entry that a later minute has
// taken: it is not counted, because the later one is shown.
func (p *Pace) Answered(status int) {
	minute := p.clock().Unix() / 60
	p.lock.Lock()
	defer p.lock.Unlock()
	m := &p.ring[minute%paceMinutes]
	switch {
	case m.minute < minute:
		*m = paceMinute{minute: minute}
	case m.minute > minute:
		return
	}

	m.requests++
	switch {
	case status >= http.StatusInternalServerError:
		m.failed++
	case status >= http.StatusBadRequest:
		m.refused++
	}
}

// last returns the minutes of the last hour since the start, oldest first.
func (p *Pace) last() (list []paceMinute) {
	now := p.clock().Unix() / 60
	p.lock.Lock()
	defer p.lock.Unlock()
	for minute := max(now-paceMinutes+1, p.began.Unix()/60); minute <= now; minute++ {
		m := p.ring[minute%paceMinutes]
		if m.minute != minute {
			m = paceMinute{minute: minute}
		}
		list = append(list, m)
	}
	return list
}

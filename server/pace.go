package server

import (
	"net/http"
	"sync"
	"time"
)

// paceMinutes is how many minutes are remembered, the one under way among them.
const paceMinutes = 60

// pace counts the requests of this node by the minute in which they were answered. It holds an
// hour, however many there are, and nothing of who asked or for what.
type pace struct {
	clock func() time.Time
	began time.Time // the minute of the start: nothing is known of those before

	lock sync.Mutex
	ring [paceMinutes]paceMinute // by minutes since 1970
}

type paceMinute struct {
	minute                    int64 // since 1970; of another hour than is asked for, the rest counts for nothing
	requests, refused, failed int64
}

func newPace(clock func() time.Time) *pace {
	return &pace{clock: clock, began: clock().Truncate(time.Minute)}
}

// answered counts a request. A clock that is set back may bring a minute that the ring has
// given to a later one: it is not counted, since the later one is what is shown.
func (p *pace) answered(status int) {
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
func (p *pace) last() (list []paceMinute) {
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

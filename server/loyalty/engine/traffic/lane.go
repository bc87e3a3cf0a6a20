package traffic

import (
	"slices"
	"sync"
	"time"
)

// lane is a queue and the state that its workers share. Batches in flight never share a customer (see inFlight). The
// next batch can therefore be decided while the previous one commits, without a version conflict. Submissions of one
// customer keep their order.
type lane struct {
	queue   chan waiting
	most    int // submissions in a batch at most
	overlap int // batches in flight at most
	many    int // callers at least for batches to overlap

	turn   sync.Mutex      // held by the worker that gathers the next batch
	late   []waiting       // taken from the queue while their customers were in a batch in flight
	behind map[string]bool // their customers
	closed bool            // the queue is closed
	wait   callerWait      // how gathering waits
	mine   map[string]bool // the customers of the batch that is gathered

	inFlight *inFlight

	mu        sync.Mutex
	size      int           // submissions in the lane's batches in flight
	held      int           // the length of late
	room      int           // submissions that the next batch may take
	callers   []int         // callers at the end of the latest batches, as many entries as overlap
	takes     time.Duration // average of recent batches
	single    int           // so many more batches run alone, because of conflicts
	conflicts int           // recent ones
	calm      int           // batches since the last conflict
	landed    chan struct{} // holds one element once a batch has ended
}

func newLane(queue chan waiting, most, overlap int, f *inFlight) *lane {
	l := &lane{
		queue: queue, most: most, overlap: overlap, many: overlap * leastShare, room: most, callers: make([]int, overlap),
		landed: make(chan struct{}, 1),
		behind: map[string]bool{}, mine: map[string]bool{}, inFlight: f,
	}
	f.lanes = append(f.lanes, l)
	return l
}

// leastShare is how many submissions a batch should have if others are in flight beside it. The fixed cost of a commit
// makes each event dearer in smaller batches; in larger ones, processors wait for the commit.
const leastShare = 8

// waiting returns how many submissions are in no batch yet.
func (l *lane) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held + len(l.queue)
}

// flight is a batch in flight.
type flight struct {
	tickets   []*Ticket
	customers []string
	moved     []*Ticket // those that the heavy worker decides instead
	split     bool      // it was too large for one transaction
}

// decided lists the submissions of a flight that have a result.
func (f *flight) decided() []*Ticket {
	if len(f.moved) == 0 {
		return f.tickets
	}
	var stayed []*Ticket
	for _, t := range f.tickets {
		if !slices.Contains(f.moved, t) {
			stayed = append(stayed, t)
		}
	}
	return stayed
}

// land ends a batch. It returns how many other callers wait.
func (l *lane) land(f *flight, took time.Duration) (others int) {
	decided := f.decided()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.inFlight.end(f.customers)
	l.size -= len(f.tickets)
	l.note(slices.ContainsFunc(decided, func(t *Ticket) bool { return t.conflicted }))
	l.room = nextRoom(l.room, len(f.tickets), l.most, f.split)
	others = l.size + l.held + len(l.queue)
	copy(l.callers, l.callers[1:])
	l.callers[l.overlap-1] = len(decided) + others
	l.takes += (took - l.takes) / 8
	return others
}

// mostSingle bounds how many batches run alone after conflicts. Overlapping batches conflict if their customers share
// something such as a pool of coupons, or with another node. Then the next 2, 4, … 2^mostSingle batches run alone.
const mostSingle = 6

// note records whether a batch conflicted.
func (l *lane) note(conflicted bool) {
	switch {
	case conflicted:
		l.conflicts, l.calm = min(l.conflicts+1, mostSingle), 0
		l.single = 1 << l.conflicts
	case l.single > 0:
		l.single--
	default:
		if l.calm++; l.calm >= regained {
			l.calm, l.conflicts = 0, max(0, l.conflicts-1)
		}
	}
}

// overlaps reports whether the next batch may begin beside others, and whether any are in flight. A few callers share
// one batch at a time: in two at once each event would cost more.
func (l *lane) overlaps() (may, others bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.overlap > 1 && l.single == 0 && l.recentCallers() >= l.many, l.size > 0
}

// recentCallers is how many callers there are, or were recently.
func (l *lane) recentCallers() int {
	return max(slices.Max(l.callers), l.size+len(l.late)+len(l.queue))
}

// take waits for its turn and gathers the next batch; nil once the queue is closed and empty.
func (l *lane) take() *flight {
	l.turn.Lock()
	defer l.turn.Unlock()
	g := gathering{lane: l, f: &flight{}}
	clear(l.mine)
	for {
		if may, others := l.overlaps(); !may && others {
			<-l.landed
			continue
		}

		g.measure()
		g.takeLate()
		if len(g.f.tickets) > 0 {
			break
		}
		if !g.first() {
			return nil
		}
		if len(g.f.tickets) > 0 {
			break
		}
	}

	gather(&l.wait, l.queue, g.weight(), g.share, g.join)
	g.takeLate() // whose customers have been released meanwhile
	for c := range l.mine {
		g.f.customers = append(g.f.customers, c)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	l.size += len(g.f.tickets)
	l.held = len(l.late)
	return g.f
}

// gathering is a batch being gathered.
type gathering struct {
	*lane
	f       *flight
	most    int // submissions at most
	share   int // weight at which it is full
	callers int
}

// measure decides how large the batch may become. If several batches may be in flight, each gets its share of the
// callers: otherwise all callers would wait for one commit, and nothing would be decided meanwhile.
func (g *gathering) measure() {
	l := g.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wait.callers, l.wait.takes = slices.Max(l.callers), l.takes
	g.callers = l.recentCallers()
	g.most, g.share = l.room, l.room
	if l.overlap > 1 && l.single == 0 && g.callers >= l.many {
		g.share = min(l.room, max(leastShare, (g.callers+l.overlap-1)/l.overlap))
	}
}

// weight is how much of its share the batch has, in customers. The submissions of a few customers cannot be spread over
// several batches, so submissions count as well, in proportion to all callers.
func (g *gathering) weight() int {
	n := len(g.f.tickets)
	switch {
	case n >= g.most:
		return g.share
	case g.overlap == 1:
		return n
	}
	return max(len(g.mine), n*g.share/max(1, g.callers))
}

// join adds a submission to the batch, or sets it aside while its customer is in another batch. It returns the weight,
// or the whole share if no more can be set aside.
func (g *gathering) join(w waiting) int {
	if c := w.customer(); g.behind[c] || !g.add(w, c) {
		g.behind[c] = true
		g.late = append(g.late, w)
	}
	if g.putAside() {
		return g.share
	}
	return g.weight()
}

// putAside reports whether as many submissions as possible are set aside.
func (g *gathering) putAside() bool { return len(g.late) >= g.lane.most }

// add adds a submission, or returns false if another batch has its customer. A submission whose caller has left is
// dropped.
func (g *gathering) add(w waiting, customer string) bool {
	if !g.mine[customer] && !g.inFlight.take(customer) {
		return false
	}
	before := len(g.f.tickets)
	g.f.tickets = w.join(g.f.tickets)
	switch {
	case len(g.f.tickets) > before:
		g.mine[customer] = true
	case !g.mine[customer]:
		g.inFlight.end([]string{customer})
	}
	return true
}

// takeLate adds the submissions that were set aside and whose customers are free by now, in their order.
func (g *gathering) takeLate() {
	if len(g.late) == 0 {
		return
	}
	clear(g.behind)
	all := g.late
	g.late = all[:0]
	for _, w := range all {
		if c := w.customer(); g.behind[c] || g.weight() >= g.share || !g.add(w, c) {
			g.behind[c] = true
			g.late = append(g.late, w)
		}
	}
	clear(all[len(g.late):])
}

// first waits for a submission, or for the end of a batch if submissions are set aside. It returns false if the queue
// is closed and nothing is left.
func (g *gathering) first() bool {
	queue := g.queue
	if g.closed || g.putAside() {
		queue = nil
	}
	if g.closed && len(g.late) == 0 {
		return false
	}

	select {
	case w, ok := <-queue:
		if !ok {
			g.closed = true
			break
		}
		g.join(w)
	case <-g.landed:
	}

	g.mu.Lock()
	g.held = len(g.late)
	g.mu.Unlock()
	return true
}

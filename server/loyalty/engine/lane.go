package engine

import (
	"slices"
	"sync"
	"time"
)

// lane is a queue and what its workers share. Of the batches that are under way at once none has a
// customer of another one, whoever gathered that (flights): while the database commits one batch the
// next is decided and sent, and neither makes the other's rows out of date. Submissions of one
// customer keep their order.
type lane struct {
	queue   chan waiting
	most    int // submissions in a batch
	overlap int // batches at once
	many    int // callers from whom on batches overlap

	turn   sync.Mutex      // held by the worker that gathers the next batch
	late   []waiting       // taken from the queue while their customers were in a batch under way
	behind map[string]bool // their customers
	closed bool            // the queue
	wait   crowd           // how gathering waits
	mine   map[string]bool // the customers of the batch that is gathered

	flights *flights

	mu      sync.Mutex
	size    int           // how many submissions the lane's batches under way have
	held    int           // the length of late
	room    int           // for submissions in the next batch
	callers []int         // that there were at the end of the latest batches, as many as overlap
	takes   time.Duration // a batch, lately
	single  int           // so many batches have none beside them, because others conflicted
	fights  int           // how often they did lately
	calm    int           // batches since without a conflict
	landed  chan struct{} // holds one element once a batch has ended
}

func newLane(queue chan waiting, most, overlap int, f *flights) *lane {
	l := &lane{
		queue: queue, most: most, overlap: overlap, many: overlap * leastShare, room: most, callers: make([]int, overlap), landed: make(chan struct{}, 1),
		behind: map[string]bool{}, mine: map[string]bool{}, flights: f,
	}
	f.lanes = append(f.lanes, l)
	return l
}

// leastShare is how many submissions a batch should have that has another one beside it. What a
// commit costs whatever its size makes each event dearer in smaller ones, while the processors that
// would wait for one large batch do other work.
const leastShare = 8

// customer is whom a submission names. Customers who are called by another name, or touched
// besides, may be in two batches at once: the guards of the write find that.
func (t *Ticket) customer() string {
	if ref := t.needs.Ref.Value; ref != "" {
		return ref
	}
	return string(t.needs.ID[:])
}

// waiting returns how many submissions are in no batch yet.
func (l *lane) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held + len(l.queue)
}

// flight is a batch under way.
type flight struct {
	tickets   []*Ticket
	customers []string
}

// land ends a batch, of which some submissions are decided and others with another worker now; split
// says that it was too large. It returns how many callers wait besides.
func (l *lane) land(f *flight, decided []*Ticket, split bool, took time.Duration) (others int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.flights.end(f.customers)
	l.size -= len(f.tickets)
	l.note(slices.ContainsFunc(decided, func(t *Ticket) bool { return t.fought }))
	l.room = nextRoom(l.room, len(f.tickets), l.most, split)
	others = l.size + l.held + len(l.queue)
	copy(l.callers, l.callers[1:])
	l.callers[l.overlap-1] = len(decided) + others
	l.takes += (took - l.takes) / 8
	return others
}

// Where batches that overlap conflict, because their customers share something such as a pool of
// coupons, or with another node, the next two, four, … mostSingle have none beside them.
const mostSingle = 6 // as a power of two

// note hears of a batch, and whether it conflicted.
func (l *lane) note(fought bool) {
	switch {
	case fought:
		l.fights, l.calm = min(l.fights+1, mostSingle), 0
		l.single = 1 << l.fights
	case l.single > 0:
		l.single--
	default:
		if l.calm++; l.calm >= regained {
			l.calm, l.fights = 0, max(0, l.fights-1)
		}
	}
}

// overlaps reports whether the next batch may begin beside others, and whether there are any. Few
// callers share one batch after the other: in two at once each event would cost more.
func (l *lane) overlaps() (may, others bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.overlap > 1 && l.single == 0 && l.crowd() >= l.many, l.size > 0
}

// crowd is how many callers there are, or were lately.
func (l *lane) crowd() int {
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
	g.takeLate() // whose customers' batch has ended meanwhile
	for c := range l.mine {
		g.f.customers = append(g.f.customers, c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.size += len(g.f.tickets)
	l.held = len(l.late)
	return g.f
}

// gathering is a batch that is put together.
type gathering struct {
	*lane
	f       *flight
	most    int // submissions
	share   int // customers with which it is full
	callers int
}

// measure decides how large the batch may become. Where several are under way at once each has its
// share of the callers: otherwise all would wait for one commit together, and nothing be decided
// meanwhile.
func (g *gathering) measure() {
	l := g.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wait.callers, l.wait.takes = slices.Max(l.callers), l.takes
	g.callers = l.crowd()
	g.most, g.share = l.room, l.room
	if l.overlap > 1 && l.single == 0 && g.callers >= l.many {
		g.share = min(l.room, max(leastShare, (g.callers+l.overlap-1)/l.overlap))
	}
}

// weight is how much of its share the batch has. Submissions of few customers cannot be spread over
// batches, so those of all callers are a share, too.
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

// join adds a submission to the batch, or puts it aside while its customer is in another one. It
// returns the weight, or the whole share if no more can be put aside.
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

// putAside reports that no more submissions can be put aside.
func (g *gathering) putAside() bool { return len(g.late) >= g.lane.most }

// add adds a submission, or reports false if its customer is in another batch. One whose caller has
// left is dropped.
func (g *gathering) add(w waiting, customer string) bool {
	if !g.mine[customer] && !g.flights.take(customer) {
		return false
	}
	before := len(g.f.tickets)
	g.f.tickets = w.join(g.f.tickets)
	switch {
	case len(g.f.tickets) > before:
		g.mine[customer] = true
	case !g.mine[customer]:
		g.flights.end([]string{customer})
	}
	return true
}

// takeLate adds the submissions that were put aside, in their order, as far as their customers are
// free by now.
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

// first waits for a submission, or for the end of a batch if some are put aside. It reports false if
// the queue is closed and nothing is left.
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

package engine

import (
	"context"
	"sync"
	"time"
)

// flights are the customers of the batches that are under way in this process, whoever gathered
// them: a lane, a bulk request or the work of a bulk operation. Two batches with a customer in
// common make each other's rows out of date, so that one of them is decided twice. It is a courtesy
// and no lock: what keeps figures right are the guards of the write, which also find customers who
// are called by another name.
type flights struct {
	mu      sync.Mutex
	of      map[string]int // batches, by customer
	waiting int            // batches that wait for the end of one
	ended   chan struct{}  // closed when one ends for which another batch waits
	lanes   []*lane        // told when one ends
}

func newFlights() *flights { return &flights{of: map[string]int{}, ended: make(chan struct{})} }

// patience is how long a batch that is ready waits for others: over a customer who is in every
// batch it does not wait for ever, but competes.
const patience = 250 * time.Millisecond

// take begins a batch's next customer, unless they are in another one.
func (f *flights) take(customer string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[customer] > 0 {
		return false
	}
	f.of[customer] = 1
	return true
}

func (f *flights) add(customers []string) {
	for _, c := range customers {
		f.of[c]++
	}
}

// end forgets the customers of a batch, and tells who waits.
func (f *flights) end(customers []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range customers {
		if f.of[c]--; f.of[c] <= 0 {
			delete(f.of, c)
		}
	}
	if f.waiting > 0 {
		close(f.ended)
		f.ended, f.waiting = make(chan struct{}), 0
	}
	for _, l := range f.lanes {
		select {
		case l.landed <- struct{}{}:
		default:
		}
	}
}

// alone begins a batch once none of its customers is in another one, or patience is over.
func (f *flights) alone(customers []string) {
	var late <-chan time.Time
	for {
		ended := f.tryAlone(customers)
		if ended == nil {
			return
		}
		if late == nil {
			timer := time.NewTimer(patience)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-ended:
		case <-late:
			f.mu.Lock()
			defer f.mu.Unlock()
			f.add(customers)
			return
		}
	}
}

// tryAlone begins a batch, or returns what is closed when another one has ended.
func (f *flights) tryAlone(customers []string) (ended <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range customers {
		if f.of[c] > 0 {
			f.waiting++
			return f.ended
		}
	}
	f.add(customers)
	return nil
}

// aside is process for tickets that no lane gathered.
func (e *Engine) aside(ctx context.Context, tickets []*Ticket) error {
	customers := customersOf(tickets)
	e.flights.alone(customers)
	defer e.flights.end(customers)
	return e.process(ctx, tickets)
}

// customersOf lists the customers of tickets, each once.
func customersOf(tickets []*Ticket) []string {
	seen := make(map[string]bool, len(tickets))
	list := make([]string, 0, len(tickets))
	for _, t := range tickets {
		if c := t.customer(); !seen[c] {
			seen[c] = true
			list = append(list, c)
		}
	}
	return list
}

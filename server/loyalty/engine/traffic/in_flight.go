package traffic

import (
	"sync"
	"time"
)

// inFlight are the customers of all batches in flight in this process: those of lanes, of bulk requests and of bulk
// operations. Two batches with a customer in common make each other's rows out of date, so one of them must be decided
// twice. This avoids such conflicts but is not a lock: the guards of the write keep figures right. They also find a
// customer that two batches call by different names.
type inFlight struct {
	mu      sync.Mutex
	of      map[string]int // number of batches, by customer
	waiting int            // batches that wait for another one to end
	ended   chan struct{}  // closed when a batch ends while others wait
	lanes   []*lane        // notified when a batch ends
}

func newInFlight() *inFlight { return &inFlight{of: map[string]int{}, ended: make(chan struct{})} }

// patience is how long a ready batch waits for others. A customer who is in every batch must not delay it for ever; it
// competes with the others then.
const patience = 250 * time.Millisecond

// take claims a customer for the batch that is gathered, unless another batch has the customer.
func (f *inFlight) take(customer string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[customer] > 0 {
		return false
	}
	f.of[customer] = 1
	return true
}

func (f *inFlight) add(customers []string) {
	for _, c := range customers {
		f.of[c]++
	}
}

// end releases the customers of a batch, and wakes what waits for them.
func (f *inFlight) end(customers []string) {
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

// alone claims a batch's customers once no other batch has any of them, or once patience is over.
func (f *inFlight) alone(customers []string) {
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

// tryAlone claims a batch's customers, or returns a channel that is closed when another batch has ended.
func (f *inFlight) tryAlone(customers []string) (ended <-chan struct{}) {
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

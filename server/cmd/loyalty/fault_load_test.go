//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const clients = 8

// load is clients that send what a shop sends, on few customers so that they
// meet.
type load struct {
	t         *testing.T
	g         *ground
	book      *book
	customers []string
	callers   []*caller
	// changing says that the programme changes under the load: a refusal that a node
	// gives before it follows the change is not kept.
	changing bool
	pace     <-chan time.Time // a client begins something at each; nil: at once

	cancel context.CancelFunc
	wait   sync.WaitGroup
}

func newLoad(t *testing.T, g *ground) *load {
	l := &load{t: t, g: g, book: &book{}, customers: []string{"ada", "bob", "cy", "dee", "eve", "fay"}}
	for range clients {
		l.callers = append(l.callers, newCaller(t, g.key))
	}
	t.Cleanup(l.stop)
	return l
}

// widen lets it have more connections, and more customers.
func (l *load) widen(connections, customers int) {
	for len(l.callers) < connections {
		l.callers = append(l.callers, newCaller(l.t, l.g.key))
	}
	for i := len(l.customers); i < customers; i++ {
		l.customers = append(l.customers, fmt.Sprint("member-", i))
	}
}

// open enrols the customers and gives each something to spend.
func (l *load) open(address string) {
	for _, name := range l.customers {
		enrol(l.t, l.callers[0], address, name)
		l.book.send(l.callers[0], address, l.book.add(request{customer: name, action: "point_add", points: 30}))
	}
	require.Equal(l.t, len(l.customers), l.book.acks(), l.book.strange)
}

// run begins the load. A client gives up when its server is gone.
func (l *load) run(address string) {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel

	for _, c := range l.callers {
		l.wait.Go(func() {
			for ctx.Err() == nil {
				if l.pace != nil {
					select {
					case <-l.pace:
					case <-ctx.Done():
						return
					}
				}
				for _, r := range l.next() {
					if !l.insist(ctx, c, address, r) {
						return
					}
				}
			}
		})
	}
}

// insist sends a request, and where it may be repeated until it is decided.
func (l *load) insist(ctx context.Context, c *caller, address string, r *request) bool {
	for {
		a := l.book.send(c, address, r)
		if a.err != nil || a.status != http.StatusServiceUnavailable {
			return a.err == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
		if r.key == "" {
			return true
		}
	}
}

// stop ends the load after the requests under way.
func (l *load) stop() {
	if l.cancel != nil {
		l.cancel()
	}
	l.wait.Wait()
}

// progress waits until so many more requests were acknowledged.
func (l *load) progress(n int) {
	l.t.Helper()
	before := l.book.acks()
	for until := time.Now().Add(patience); l.book.acks() < before+n; time.Sleep(time.Millisecond) {
		require.True(l.t, time.Now().Before(until), "no progress: %s %s", l.book, l.book.strange)
	}
}

// next is what a client does next: one event, or a reservation and its end.
func (l *load) next() []*request {
	r := request{customer: l.customers[dice.IntN(len(l.customers))], points: 1 + dice.Int64N(9)}
	if dice.IntN(2) == 0 {
		r.key = "yes"
	}

	switch n := dice.IntN(100); {
	case n < 35:
		r.action = "point_add"
	case n < 60:
		r.action = "point_spend"
		if n%8 == 0 {
			r.points = 1_000_000_000 // more than any member has
		}

	case n < 85:
		r.action, r.burned = "checkout", max(0, dice.Int64N(9)-4)
	default:
		r.action = "reserve_points"
		reserve := l.book.add(r)
		r.transaction, r.action = reserve.transaction, "release_points"
		if dice.IntN(2) == 0 {
			r.action, r.burned = "checkout", r.points
		}
		return []*request{reserve, l.book.add(r)}
	}

	return []*request{l.book.add(r)}
}

// resume repeats, as its client would, what was not answered; and asks again for
// some of what was, which must change nothing.
func (l *load) resume(address string) {
	open := l.book.find(func(r *request) bool {
		return r.fate == unanswered && (r.key != "" || r.action == "checkout") && r.sent > 0
	})
	old := l.book.find(func(r *request) bool {
		return r.fate != unanswered && r.key != "" && (r.fate != refused || !l.changing)
	})
	l.again(address, append(open, old[max(0, len(old)-200):]...))
	left := l.book.find(func(r *request) bool { return r.fate == unanswered && r.key != "" && r.sent > 0 })
	require.Empty(l.t, left, "what may be repeated is decided in the end")
}

func (l *load) again(address string, all []*request) {
	var wait sync.WaitGroup
	for i, c := range l.callers {
		wait.Go(func() {
			for k := i; k < len(all); k += len(l.callers) {
				l.book.send(c, address, all[k])
			}
		})
	}
	wait.Wait()
}

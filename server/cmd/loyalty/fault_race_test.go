//go:build unix

package main

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaultDoubleSpend lets 64 clients spend 500 points one by one, 3,200 times
// (R5): exactly 500 succeed.
func TestFaultDoubleSpend(t *testing.T) {
	const spenders, each, points = 64, 50, 500
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		s := g.start(t)
		l := newLoad(t, g)
		l.customers = []string{"ada"}
		enrol(t, l.callers[0], s.address, "ada")
		l.book.send(l.callers[0], s.address, l.book.add(request{customer: "ada", action: "point_add", points: points}))
		var wait sync.WaitGroup
		for range spenders {
			c := newCaller(t, g.key)
			wait.Go(func() {
				for range each {
					l.book.send(c, s.address, l.book.add(request{customer: "ada", action: "point_spend", points: 1}))
				}
			})
		}
		wait.Wait()
		spent := func(f fate) int {
			return len(l.book.find(func(r *request) bool { return r.action == "point_spend" && r.fate == f }))
		}
		require.Empty(t, l.book.strange)
		require.Equal(t, points, spent(done))
		require.Equal(t, spenders*each-points, spent(refused))
		figures, err := l.figures(s.address)
		require.NoError(t, err)
		require.Equal(t, sum{Score: points, Spent: points}, figures["ada"])
		mustHold(t, l.check(s.address, 0))
		require.Equal(t, 0, s.stop(terminate), s.log())
		t.Log(l.book)
	})
}

const connections = 16

// TestFaultSameTransaction sends the same purchase on 16 connections at once
// (R6): one is taken, fifteen are told so, for every one of many purchases.
func TestFaultSameTransaction(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		s := g.start(t)
		sameTransaction(t, g, s.address)
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// TestFaultSameKey sends the same request with one Idempotency-Key on 16
// connections at once (R7): one effect, sixteen equal answers.
func TestFaultSameKey(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		s := g.start(t)
		sameKey(t, g, s.address)
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// sameTransaction sends every purchase to the addresses in turn.
func sameTransaction(t *testing.T, g *ground, addresses ...string) {
	l := newLoad(t, g)
	l.customers = []string{"ada", "bob"}
	for _, name := range l.customers {
		enrol(t, l.callers[0], addresses[0], name)
	}
	callers := crowd(t, g)
	for i := range rounds(t, 40) {
		r := request{customer: l.customers[i%2], action: "checkout", transaction: fmt.Sprint("same-", i), points: 7}
		answers := together(callers, addresses, r.event(), "")
		won, lost := pick(answers, http.StatusOK), pick(answers, http.StatusConflict)
		require.Equal(t, []int{1, connections - 1}, []int{len(won), len(lost)}, "%+v", answers)
		for _, a := range lost {
			require.Equal(t, 5003, a.code(), string(a.body))
		}
		require.Empty(t, l.book.decide(l.book.add(r), won[0]))
	}
	mustHold(t, l.check(addresses[0], 0))
}

// sameKey repeats requests of all kinds that succeed, and one that is refused.
func sameKey(t *testing.T, g *ground, addresses ...string) {
	l := newLoad(t, g)
	l.customers = []string{"cy", "dee"}
	for _, name := range l.customers {
		enrol(t, l.callers[0], addresses[0], name)
	}
	callers := crowd(t, g)
	actions := []string{"point_spend", "point_add", "checkout", "reserve_points"} // the first has nothing to spend
	for i := range rounds(t, 40) {
		r := l.book.add(request{customer: l.customers[i%2], action: actions[i%4], points: 5, key: "yes"})
		answers := together(callers, addresses, r.event(), r.key)
		replayed := 0
		for _, a := range answers {
			require.NoError(t, a.err)
			require.Equal(t, answers[0].status, a.status, "%s\n%s", answers[0].body, a.body)
			require.Equal(t, string(answers[0].body), string(a.body))
			if a.replayed() {
				replayed++
			}
		}
		require.Equal(t, connections-1, replayed)
		require.Empty(t, l.book.decide(r, answers[0]))
		require.Equal(t, i == 0, r.fate == refused)
		other := l.callers[0].post(addresses[0], "/events", request{customer: r.customer, action: r.action, transaction: "other", points: 1}.event(), r.key)
		require.Equal(t, http.StatusConflict, other.status, "another body under the same key")
	}
	mustHold(t, l.check(addresses[0], 0))
}

func crowd(t *testing.T, g *ground) (callers []*caller) {
	for range connections {
		callers = append(callers, newCaller(t, g.key))
	}
	return callers
}

// together sends one body on all connections at the same moment.
func together(callers []*caller, addresses []string, body, key string) []answer {
	answers, gate := make([]answer, len(callers)), make(chan struct{})
	var wait sync.WaitGroup
	for i, c := range callers {
		wait.Go(func() {
			<-gate
			answers[i] = c.post(addresses[i%len(addresses)], "/events", body, key)
		})
	}
	close(gate)
	wait.Wait()
	return answers
}

func pick(answers []answer, status int) (found []answer) {
	for _, a := range answers {
		if a.err == nil && a.status == status {
			found = append(found, a)
		}
	}
	return found
}

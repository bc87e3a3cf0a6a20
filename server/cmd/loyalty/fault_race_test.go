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
// (R5): exactly 500 succeed, however often it is repeated.
func TestFaultDoubleSpend(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		s, n := g.start(t), full(t, 1, 50)
		crowd := make([]*caller, spenders)
		for i := range crowd {
			crowd[i] = newCaller(t, g.key)
		}
		for i := range n {
			doubleSpend(t, g, s.address, fmt.Sprint("spender-", i), crowd)
		}
		require.Equal(t, 0, s.stop(terminate), s.log())
		t.Logf("figures: R5: %d times %d points, %d attempts", n, purse, n*spenders*attempts)
	})
}

// So many clients try so often to spend what the purse has.
const spenders, attempts, purse = 64, 50, 500

func doubleSpend(t *testing.T, g *ground, address, customer string, crowd []*caller) {
	l := newLoad(t, g)
	l.customers = []string{customer}
	enrol(t, l.callers[0], address, customer)
	l.book.send(l.callers[0], address, l.book.add(request{customer: customer, action: "point_add", points: purse}))
	var wait sync.WaitGroup
	for _, c := range crowd {
		wait.Go(func() {
			for range attempts {
				l.book.send(c, address, l.book.add(request{customer: customer, action: "point_spend", points: 1}))
			}
		})
	}

	wait.Wait()
	spent := func(f fate) int {
		return len(l.book.find(func(r *request) bool { return r.action == "point_spend" && r.fate == f }))
	}
	require.Empty(t, l.book.strange)
	require.Equal(t, purse, spent(done))
	require.Equal(t, spenders*attempts-purse, spent(refused))
	figures, err := l.figures(address)
	require.NoError(t, err)
	require.Equal(t, sum{Score: purse, Spent: purse}, figures[customer])
	mustHold(t, l.check(address, 0))
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
	n := full(t, 40, 200)
	for i := range n {
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
	t.Logf("figures: R6: %d purchases, each on %d connections at once", n, connections)
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
	n := full(t, 40, 200)
	for i := range n {
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
	t.Logf("figures: R7: %d requests, each on %d connections at once", n, connections)
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

package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestWebhooksWhileAMachineIsAway kills a worker while customers are given points and a node sends
// what happens: every event of the journal arrives, each customer's in order, each naming the one
// before it, and twice only with the same id. Each request is repeated under its key until it is
// answered: what was acknowledged is there once.
func TestWebhooksWhileAMachineIsAway(t *testing.T) {
	m := storetest.NewMachines(t)
	m.Spread(t)
	h := openOn(t, m.URL(), patient)
	const customers = 8
	for i := range customers {
		h.enrol(fmt.Sprint("member-", i))
	}

	h.numbered()
	r := newReceiver(t)
	h.hook(r, `["event.point_add"]`, "")

	w := &givers{h: h, done: make([]int, customers)}
	for i := range customers {
		w.running.Go(func() { w.give(i) })
	}

	sending, stopSending := context.WithCancel(t.Context())
	sent := make(chan struct{})
	go func() { // as a node does, whatever fails
		defer close(sent)
		c := w.courier()
		for sending.Err() == nil {
			_ = h.store.NumberOwn(sending)
			_, _ = c.Turn(sending)
			c.Wait()
			time.Sleep(20 * time.Millisecond)
		}
	}()

	w.progress(3)
	require.NoError(t, m.Workers[0].Kill())
	time.Sleep(2 * time.Second)
	require.NoError(t, m.Workers[0].Start())
	w.progress(3)
	w.end()
	stopSending()
	<-sent

	c := h.courier()
	var last time.Time
	require.Eventually(t, func() bool { // what a node lost of its own is found in the journal
		if _, _, err := h.store.NumberBehind(t.Context(), [16]byte{}, 1000); err != nil {
			return false
		}
		if at := time.Now(); at.Sub(last) > time.Second {
			c.pass(time.Hour) // no lease and no rest lasts longer
			last = at
		}
		c.run()
		return len(r.firsts()) >= w.sum()
	}, time.Minute, 10*time.Millisecond, "everything arrives")

	journal := map[string]int{}
	rows, err := storetest.Raw(t, m.URL()).Query(`SELECT c.name, count(*) FROM events e JOIN customers c ON c.id = e.customer_id WHERE e.action = 'point_add' GROUP BY c.name`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int
		require.NoError(t, rows.Scan(&name, &n))
		journal[name] = n
	}

	require.NoError(t, rows.Err())
	arrived, before := map[string]int{}, map[string]int64{}
	for _, m := range r.firsts() {
		name := m.Customer.ID
		arrived[name]++
		require.Greater(t, m.Sequence, before[name], "the order of %s", name)
		require.Equal(t, before[name], m.Previous, "of %s", name)
		before[name] = m.Sequence
	}

	for i, n := range w.done {
		name := fmt.Sprint("member-", i)
		require.Equal(t, n, journal[name], "acknowledged, once: %s", name)
		require.Equal(t, n, arrived[name], "told, once: %s", name)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("figures: %d events of %d customers, of which %d requests were repeated; %d messages", w.sum(), customers, w.again, len(r.taken))
}

// firsts are the messages that were taken, each once, in the order in which they first came.
func (r *receiver) firsts() (list []received) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.taken {
		if !slices.ContainsFunc(list, func(other received) bool { return other.ID == m.ID }) {
			list = append(list, m)
		}
	}
	return list
}

// givers give points to customers, each to one, and repeat what was not answered well.
type givers struct {
	h       *house
	running sync.WaitGroup
	lock    sync.Mutex
	done    []int
	again   int
	ended   bool
}

func (w *givers) give(i int) {
	body := fmt.Sprintf(`{"customer":"member-%d","action":"point_add","data":{"points":1}}`, i)

	for n := 0; ; n++ {
		for key := fmt.Sprintf("%d-%d", i, n); w.h.post("/events", body, "Idempotency-Key", key).status != http.StatusOK; {
			w.lock.Lock()
			w.again++
			w.lock.Unlock()
			time.Sleep(50 * time.Millisecond)
		}
		w.lock.Lock()
		w.done[i]++
		ended := w.ended
		w.lock.Unlock()
		if ended {
			return
		}
	}
}

// progress waits until each customer was given points so many times more.
func (w *givers) progress(times int) {
	w.h.t.Helper()
	w.lock.Lock()
	from := slices.Clone(w.done)
	w.lock.Unlock()

	require.Eventually(w.h.t, func() bool {
		w.lock.Lock()
		defer w.lock.Unlock()
		for i, n := range w.done {
			if n < from[i]+times {
				return false
			}
		}
		return true
	}, time.Minute, 10*time.Millisecond, "everybody goes on")
}

func (w *givers) end() {
	w.lock.Lock()
	w.ended = true
	w.lock.Unlock()
	w.running.Wait()
}

func (w *givers) sum() (n int) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, d := range w.done {
		n += d
	}
	return n
}

// courier is one whose faults are not the test's: a machine is away.
func (w *givers) courier() *webhook.Deliverer {
	h := w.h
	return webhook.New(webhook.Options{
		Store: h.store, Engine: h.engine, Sender: h.Egress, Zone: func() *time.Location { return h.directory.Programme().Location },
		Renderer: administration.NewWebhookMessages(h.store, h.directory.Programme), Report: func(error) {},
	})
}

package server_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// atLength is how many there are of something: a few, or as many as LOYALTY_TORTURE says, of
// which 500 is all.
func atLength(few, all int) int {
	if n, err := strconv.Atoi(os.Getenv("LOYALTY_TORTURE")); err == nil && n > 0 {
		return max(few, all*n/500)
	}
	return few
}

// happen has so many members be given points so many times, by turns.
func (h *house) happen(members, times int) {
	h.t.Helper()
	var list []string
	for n := range times {
		for i := range members {
			list = append(list, earns(fmt.Sprint("member-", i), n+1))
		}
	}
	h.bulk(list...)
}

// sent is how many deliveries are in a state.
func sent(t *testing.T, url, state string) (n int) {
	t.Helper()
	require.NoError(t, storetest.Raw(t, url).QueryRow(`SELECT count(*) FROM deliveries WHERE state = '`+state+`'`).Scan(&n))
	return n
}

// TestWebhookHostileReceiver: of a receiver that fails 30 times in a hundred, by an answer, by
// closing the connection or by asking for time, and that answers late, everything arrives, each
// customer's in order, and twice only with the same id. Two nodes send. In full there are
// 100,000 events.
func TestWebhookHostileReceiver(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h, second := openOn(t, url, patient), openOn(t, url, patient)
		customers, events := atLength(5, 250), atLength(12, 400)
		for i := range customers {
			h.enrol(fmt.Sprint("member-", i))
		}

		h.numbered()
		r := newReceiver(t)
		couriers := []*courier{h.courier(), second.courier()}
		id := h.hook(r, `["event.point_add"]`, "")
		dice, lock := rand.New(rand.NewPCG(1, 2)), sync.Mutex{} //nolint:gosec // repeatable, and no secret
		failed, asked, failures := map[string]int{}, 0, 0
		r.says(func(w http.ResponseWriter, m *received) bool {
			lock.Lock()
			n := dice.IntN(100)
			if asked++; n < 30 && failed[m.ID] == 10 { // the twelfth failure is the end of a message: of a million one would
				n = 99
			}

			if n < 30 {
				failed[m.ID]++
				failures++
			}

			lock.Unlock()
			switch {
			case n < 10:
				w.WriteHeader(http.StatusInternalServerError)
				return false
			case n < 20:
				panic(http.ErrAbortHandler)
			case n < 30:
				w.WriteHeader(http.StatusServiceUnavailable)
				return false
			case n < 40:
				time.Sleep(20 * time.Millisecond)
			}

			return true
		})

		h.happen(customers, events)
		began := time.Now()
		var got []received
		// a turn ends for a customer with the first message that is not taken: there are as many turns as the least
		// lucky customer needs, and these are far more than enough
		for turn := 0; turn < 50+2*events && sent(t, url, "sent") < customers*events; turn++ {
			var both sync.WaitGroup
			for _, c := range couriers {
				both.Go(c.run)
			}
			both.Wait()
			got = append(got, r.all()...)
			for _, c := range couriers {
				c.pass(3 * time.Hour)
			}
		}

		got = append(got, r.all()...)
		require.Equal(t, customers*events, sent(t, url, "sent"))
		require.Empty(t, h.deliveries(id, "?state=dead"))
		seen, last := map[string]bool{}, map[string]int64{}
		for _, m := range got {
			if !seen[m.ID] {
				require.Greater(t, m.Sequence, last[m.Customer.ID], "the order of a customer")
				require.Equal(t, last[m.Customer.ID], m.Previous)
				last[m.Customer.ID] = m.Sequence
			}
			seen[m.ID] = true
		}

		require.Len(t, seen, customers*events)
		t.Logf("figures: %d events of %d customers in %d messages, of which %d were not taken, in %s; %d arrived twice",
			len(seen), customers, asked, failures, time.Since(began).Round(time.Second), len(got)-len(seen))
	})
}

// TestWebhookOutage: four hours without an answer leave nothing dead, are asked about once a
// minute, told to others, and drained in order afterwards. In full 50,000 messages wait; how
// long they take then is told, and asserted nowhere.
func TestWebhookOutage(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		customers, events := atLength(12, 250), atLength(5, 200)
		for i := range customers {
			h.enrol(fmt.Sprint("member-", i))
		}

		h.numbered()
		other, r, c := newReceiver(t), newReceiver(t), h.courier()
		h.hook(other, `["webhook.*"]`, "")
		id := h.hook(r, `["event.point_add"]`, `,"label":"CRM"`)
		r.status(http.StatusInternalServerError)
		h.happen(customers, events)
		for range 240 {
			c.run()
			c.pass(time.Minute)
		}

		r.mu.Lock()
		asked := r.asked
		r.mu.Unlock()
		require.LessOrEqual(t, asked, 240+30, "one probe a minute")
		require.Empty(t, h.deliveries(id, "?state=dead"))
		require.Equal(t, true, data(t, h.get("/admin/webhooks/"+id))["health"].(map[string]any)["probation"])
		told := other.all()
		require.Len(t, told, 1)
		require.Equal(t, "webhook.failing", told[0].Type)
		require.Equal(t, "CRM", told[0].Data["label"])

		r.status(204)
		began := time.Now()
		for range 10 {
			c.run()
			c.pass(time.Minute)
		}

		took := time.Since(began)
		got, last := r.all(), map[string]int64{}
		require.Len(t, got, events*customers)
		for _, m := range got {
			require.Greater(t, m.Sequence, last[m.Customer.ID])
			last[m.Customer.ID] = m.Sequence
		}

		require.Equal(t, "webhook.recovered", other.all()[0].Type)
		t.Logf("figures: %d messages waited for four hours, in which the address was asked %d times; then all came in %s", len(got), asked, took.Round(time.Millisecond))

		r.status(http.StatusGone)
		h.add("member-1", "9")
		c.run()
		ended := data(t, h.get("/admin/webhooks/"+id))
		require.Equal(t, "disabled", ended["state"])
		require.Equal(t, "gone", ended["reason"])
		require.Equal(t, "webhook.disabled", other.all()[0].Type)
		r.status(204)
		require.Equal(t, 200, h.post("/admin/webhooks/"+id+"/resume", "{}").status)
		c.run()
		require.Len(t, r.all(), 1, "what waited is sent")
	})
}

package server_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestWebhookHostileReceiver: of a receiver that fails now and then, closes connections and
// answers late, everything arrives, each customer's in order, and twice only with the same id.
// Two nodes send.
func TestWebhookHostileReceiver(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h, second := openOn(t, url, patient), openOn(t, url, patient)
		const customers, events = 5, 12
		for i := range customers {
			h.enrol(fmt.Sprint("member-", i))
		}
		h.numbered()
		r := newReceiver(t)
		couriers := []*courier{h.courier(), second.courier()}
		id := h.hook(r, `["event.point_add"]`, "")
		dice, lock := rand.New(rand.NewPCG(1, 2)), sync.Mutex{} //nolint:gosec // repeatable, and no secret
		r.says(func(w http.ResponseWriter, _ *received) bool {
			lock.Lock()
			n := dice.IntN(100)
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
		for n := range events {
			for i := range customers {
				h.add(fmt.Sprint("member-", i), fmt.Sprint(n+1))
			}
		}
		var got []received
		for turn := 0; turn < 200 && len(h.deliveries(id, "?state=sent&limit=1000")) < customers*events; turn++ {
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
		require.Len(t, h.deliveries(id, "?state=sent&limit=1000"), customers*events)
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
	})
}

// TestWebhookOutage: four hours without an answer leave nothing dead, are asked about once a
// minute, told to others, and drained in order afterwards.
func TestWebhookOutage(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		const customers = 12
		for i := range customers {
			h.enrol(fmt.Sprint("member-", i))
		}
		h.numbered()
		other, r, c := newReceiver(t), newReceiver(t), h.courier()
		h.hook(other, `["webhook.*"]`, "")
		id := h.hook(r, `["event.point_add"]`, `,"label":"CRM"`)
		r.status(http.StatusInternalServerError)
		for n := range 5 {
			for i := range customers {
				h.add(fmt.Sprint("member-", i), fmt.Sprint(n+1))
			}
		}
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
		for range 10 {
			c.run()
			c.pass(time.Minute)
		}
		got, last := r.all(), map[string]int64{}
		require.Len(t, got, 5*customers)
		for _, m := range got {
			require.Greater(t, m.Sequence, last[m.Customer.ID])
			last[m.Customer.ID] = m.Sequence
		}
		require.Equal(t, "webhook.recovered", other.all()[0].Type)

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

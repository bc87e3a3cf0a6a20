package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// working has a courier work as a program's does, until the test ends or the function is called.
func (c *courier) working() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Work(ctx)
	}()
	return func() { cancel(); <-done }
}

// TestWebhookSlowReceivers: who is slow to answer holds up neither other webhooks, however many
// are slow, nor other customers' messages to the same one.
func TestWebhookSlowReceivers(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		const customers, slow = 8, 20
		for i := range customers {
			h.enrol(fmt.Sprint("member-", i))
		}

		h.numbered()
		r, quick, c := newReceiver(t), newReceiver(t), h.courier()
		for range slow {
			h.hook(r, `["event.point_add"]`, "")
		}

		r.secret = "" // each has another
		for i := range customers {
			h.add(fmt.Sprint("member-", i), "1")
		}

		c.run() // they answer well, so that they get as many at a time as there may be
		c.run()
		require.Len(t, r.all(), customers*slow)

		release := make(chan struct{})
		letGo := sync.OnceFunc(func() { close(release) })
		t.Cleanup(letGo) // before the receivers are closed, which waits for those that hang
		r.says(func(w http.ResponseWriter, _ *received) bool {
			select {
			case <-release:
			case <-time.After(12 * time.Second):
			}
			w.WriteHeader(http.StatusNoContent)
			return true
		})

		h.hook(quick, `["event.*"]`, "")
		quick.says(func(w http.ResponseWriter, m *received) bool {
			if strings.Contains(m.body, "member-0") {
				<-release
			}
			w.WriteHeader(http.StatusNoContent)
			return true
		})

		for i := range customers {
			h.add(fmt.Sprint("member-", i), "2")
		}

		h.numbered()
		stop := c.working()
		began := time.Now()
		arrived := func(n int) func() bool {
			return func() bool {
				quick.mu.Lock()
				defer quick.mu.Unlock()
				return len(quick.taken) >= n
			}
		}

		require.Eventually(t, arrived(customers-1), time.Minute, 10*time.Millisecond, "the others of the quick one, while all else hangs")
		h.add("member-1", "3")
		h.numbered()
		require.Eventually(t, arrived(customers), time.Minute, 10*time.Millisecond, "what comes while one message hangs")
		t.Logf("%d messages arrived in %s beside %d receivers that hang", customers, time.Since(began).Round(time.Millisecond), slow)
		letGo()
		require.Eventually(t, arrived(customers+1), time.Minute, 10*time.Millisecond)
		stop()
	})
}

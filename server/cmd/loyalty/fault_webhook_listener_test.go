//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// heard is a message of a webhook, as far as a test looks at it.
type heard struct {
	Type, ID           string
	Timestamp          time.Time
	Sequence, Previous int64
	Customer           *struct{ ID string }
	at                 time.Time // when it came
}

// listener is an address that takes messages, and holds them against what is promised.
type listener struct {
	*httptest.Server
	mu     sync.Mutex
	secret string
	down   bool // it answers 500
	deaf   bool // it takes everything, and looks at nothing
	heard  int  // so many while it is deaf
	seen   map[string]heard
	last   map[string]heard // by customer
	taken  []heard          // each once, as they came
	again  int              // messages that came another time
	wrong  []string
}

func newListener(t *testing.T) *listener {
	l := &listener{seen: map[string]heard{}, last: map[string]heard{}}
	l.Server = httptest.NewServer(l)
	t.Cleanup(l.Close)
	return l
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	m := heard{at: time.Now()}
	if err == nil {
		err = json.Unmarshal(body, &m)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deaf {
		l.heard++
		w.WriteHeader(http.StatusNoContent)
		return
	}

	if err != nil {
		return // the sender was killed in the middle
	}
	if verifier, err := standardwebhooks.NewWebhook(l.secret); err != nil || verifier.Verify(body, r.Header) != nil {
		l.wrong = append(l.wrong, "the signature of "+m.ID)
	}

	if l.down {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}

	l.take(m)
	w.WriteHeader(http.StatusNoContent)
}

// take notes a message. What came before may come again, as it was; what is new comes behind
// what was taken of its customer, and names it.
func (l *listener) take(m heard) {
	if before, known := l.seen[m.ID]; known {
		if l.again++; before.Sequence != m.Sequence || before.Previous != m.Previous {
			l.wrong = append(l.wrong, fmt.Sprintf("%s was %d after %d and is %d after %d", m.ID, before.Sequence, before.Previous, m.Sequence, m.Previous))
		}
		return
	}

	l.seen[m.ID], l.taken = m, append(l.taken, m)
	if m.Customer == nil {
		return
	}
	if last := l.last[m.Customer.ID]; m.Sequence <= last.Sequence || m.Previous != last.Sequence {
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %d after %d came behind %d", m.Customer.ID, m.Sequence, m.Previous, last.Sequence))
	}

	l.last[m.Customer.ID] = m
}

func (l *listener) isDown(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.seen)
}

// lags are how long after they were recorded the messages from one on came, in order.
func (l *listener) lags(from int) (list []time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.taken[from:] {
		list = append(list, m.at.Sub(m.Timestamp))
	}
	slices.Sort(list)
	return list
}

func part(list []time.Duration, of float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	return list[min(len(list)-1, int(float64(len(list))*of))].Round(time.Millisecond)
}

// hooked makes a webhook that tells a listener everything, and gives its path.
func (l *listener) hooked(t *testing.T, c *caller, address string) string {
	t.Helper()
	id, secret := newWebhook(t, c, address, fmt.Sprintf(`{"url":%q,"types":["event.*"]}`, l.URL+"/hook"))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.secret = secret
	return "/admin/webhooks/" + id
}

// newWebhook makes a webhook.
func newWebhook(t *testing.T, c *caller, address, body string) (id, secret string) {
	t.Helper()
	made := c.post(address, "/admin/webhooks", body, "")
	require.Equal(t, http.StatusCreated, made.status, string(made.body))
	var webhook struct {
		Data struct {
			ID     string `json:"webhook_id"`
			Secret string
		}
	}
	require.NoError(t, json.Unmarshal(made.body, &webhook))
	return webhook.Data.ID, webhook.Data.Secret
}

// toInside lets the program call addresses inside.
func (g *ground) toInside() { g.env = append(g.env, "LOYALTY_WEBHOOKS_ALLOW=127.0.0.0/8") }

// drained waits until all events were sent, and gives how many there are.
func drained(t *testing.T, g *ground, most time.Duration) (events int) {
	t.Helper()
	raw := storetest.Raw(t, g.url)
	for until := time.Now().Add(most); ; time.Sleep(50 * time.Millisecond) {
		var waiting, behind, unnumbered int
		err := raw.QueryRow(`SELECT (SELECT count(*) FROM deliveries WHERE state <> 'sent'), (SELECT t.head - w.cursor FROM webhooks w CROSS JOIN tail_state t),
(SELECT count(*) FROM events) - (SELECT head FROM tail_state), (SELECT count(*) FROM events)`).Scan(&waiting, &behind, &unnumbered, &events)
		if err == nil && waiting == 0 && behind == 0 && unnumbered == 0 {
			return events
		}
		require.True(t, time.Now().Before(until), "%d wait, %d are behind, %d have no number: %v", waiting, behind, unnumbered, err)
	}
}

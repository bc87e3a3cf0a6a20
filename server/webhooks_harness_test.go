package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

// received is a message as a receiver has it.
type received struct {
	header             http.Header
	body               string
	Type               string
	ID                 string
	Sequence, Previous int64
	Version            string
	Customer           *struct{ ID string }
	Data               map[string]any
	Figures            map[string]any
	Postings           []map[string]any
}

// receiver is an address that takes messages. answer decides what it says; nil: 204.
type receiver struct {
	*httptest.Server
	t      *testing.T
	mu     sync.Mutex
	secret string // that must have signed; empty: it is not looked at
	taken  []received
	asked  int
	answer func(w http.ResponseWriter, m *received) (taken bool)
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	m := received{header: q.Header, body: string(body)}
	if err != nil || json.Unmarshal(body, &m) != nil {
		r.t.Errorf("%v: %s", err, body)
	}

	r.mu.Lock()
	secret, answer := r.secret, r.answer
	r.asked++
	r.mu.Unlock()
	if secret != "" {
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil || verifier.VerifyIgnoringTimestamp(body, q.Header) != nil {
			r.t.Errorf("the signature is not good: %v", q.Header)
		}
	}

	if answer != nil && !answer(w, &m) {
		return
	}

	r.mu.Lock()
	r.taken = append(r.taken, m)
	r.mu.Unlock()
	if answer == nil {
		w.WriteHeader(http.StatusNoContent)
	}
}

// says has the receiver answer in another way from now on.
func (r *receiver) says(answer func(w http.ResponseWriter, m *received) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// status has it answer with a status; what is not good is not taken.
func (r *receiver) status(status int, headers ...string) {
	r.says(func(w http.ResponseWriter, _ *received) bool {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte("said by the receiver"))
		return status < 300
	})
}

// all gives what was taken, and forgets it.
func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.taken
	r.taken = nil
	return taken
}

// courier sends what a house has to send, when the test says so.
type courier struct {
	*webhook.Deliverer
	h   *house
	mu  sync.Mutex
	off time.Duration // by which its clock is ahead
}

// courierEngine is the engine with the courier's clock.
type courierEngine struct {
	*engine.Engine
	c *courier
}

func (e courierEngine) Now() time.Time { return e.c.now() }

func (c *courier) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.off).UTC().Truncate(time.Millisecond)
}

// pass lets time go by.
func (c *courier) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
}

func (h *house) courier() *courier {
	c := &courier{h: h}
	c.Deliverer = webhook.New(webhook.Options{
		Store: h.store, Engine: courierEngine{h.engine, c}, Sender: h.Egress, Zone: func() *time.Location { return h.directory.Programme().Location },
		Renderer: administration.NewWebhookMessages(h.store, h.directory.Programme), Report: func(err error) { h.t.Error(err) },
	})
	return c
}

// go does one turn to its end: everything that is due was tried.
func (c *courier) run() {
	c.h.t.Helper()
	c.h.numbered()
	for range 3 { // what the first one makes due, such as a notice, goes with the next
		_, err := c.Turn(context.Background())
		require.NoError(c.h.t, err)
		c.Wait()
	}
}

// hook makes a webhook, and gives its id; more are further properties.
func (h *house) hook(r *receiver, types, more string) (id string) {
	h.t.Helper()
	a := h.post("/admin/webhooks", `{"url":"`+r.URL+`/hook","types":`+types+more+`}`)
	require.Equal(h.t, http.StatusCreated, a.status, "%s\n%s", a.body, h.log)
	d := data(h.t, a)
	r.mu.Lock()
	r.secret = d["secret"].(string)
	r.mu.Unlock()
	return d["webhook_id"].(string)
}

// deliveries lists those of a webhook, the newest first.
func (h *house) deliveries(id, query string) (list []map[string]any) {
	h.t.Helper()
	for target := "/admin/webhooks/" + id + "/deliveries" + query; target != ""; {
		a := h.sees(target)
		page := a.json(h.t)
		for _, d := range page["data"].([]any) {
			list = append(list, d.(map[string]any))
		}
		target, _ = page["next"].(string)
	}
	return list
}

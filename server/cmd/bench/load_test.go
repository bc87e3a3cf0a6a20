package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
)

var testAccess = access{
	scheme: signing.Default("test"),
	keys:   []signing.Credential{{KeyID: "one", Secret: "s1"}, {KeyID: "two", Secret: "s2"}},
}

// loaded starts a server and prepares n requests of a workload for it.
func loaded(t *testing.T, w workload, n int, handler http.HandlerFunc) (load, [][]byte) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	a := testAccess
	a.address = strings.TrimPrefix(server.URL, "http://")
	w = w.complete()
	requests, err := a.prepare(t.Context(), w, n, picker{customers: 50})
	require.NoError(t, err)
	require.Len(t, requests, n)
	return load{access: a, connections: w.connections, window: time.Minute, accept: w.accept}, requests
}

// What is sent is what signing accepts: every request arrives once, whole,
// signed by the keys in turn, and no purchase comes twice.
func TestLoadSendsSignedRequests(t *testing.T) {
	verifier, err := signing.NewVerifier(testAccess.scheme)
	require.NoError(t, err)
	var mu sync.Mutex
	keys, purchases := map[string]int{}, map[string]bool{}
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			var who signing.Verified
			who, err = verifier.Verify(signing.FromRequest(r, body), func(id string) ([]string, bool) {
				return map[string][]string{"one": {"s1"}, "two": {"s2"}}[id], true
			})
			var event struct {
				Customer, Action string
				Data             struct {
					TransactionID string `json:"transaction_id"`
					Items         []any
				}
			}

			if err == nil {
				err = json.Unmarshal(body, &event)
			}

			mu.Lock()
			defer mu.Unlock()
			keys[strings.Clone(who.KeyID)]++
			purchases[event.Data.TransactionID] = true
			if event.Action != "checkout" || len(event.Data.Items) != 3 || event.Customer != "1" {
				w.WriteHeader(http.StatusTeapot)
				return
			}
		}

		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}

		_, _ = w.Write(bytes.Repeat([]byte("x"), 3000)) // long enough to come in chunks
	}

	l, requests := loaded(t, workload{connections: 5, body: checkout, hot: true}, 201, handler)
	latencies, watch, err := l.run(t.Context(), requests)
	require.NoError(t, err)
	require.Len(t, latencies, 201)
	require.Len(t, purchases, 201)
	require.Equal(t, map[string]int{"one": 101, "two": 100}, keys)
	require.Positive(t, watch.took)
	require.NotContains(t, latencies, time.Duration(0))
}

func TestBulkBody(t *testing.T) {
	var b bytes.Buffer
	workload{events: 50}.complete().body(&b, picker{customers: 3})
	var bulk struct{ Events []naiveSubmission }
	require.NoError(t, json.Unmarshal(b.Bytes(), &bulk))
	require.Len(t, bulk.Events, 50)
	for _, e := range bulk.Events {
		require.Contains(t, []string{"1", "2", "3"}, e.Customer)
		require.Equal(t, "point_add", e.Action)
	}
}

func TestLoadFailsLoudly(t *testing.T) {
	answer := func(status int, body string, from int64) http.HandlerFunc {
		var n atomic.Int64
		return func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) < from {
				_, _ = io.WriteString(w, `{"errors":0}`)
				return
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}

	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		reason  string
	}{
		{"one refusal among many", answer(429, `{"error":{"message":"slow down"}}`, 40), "POST /events/bulk HTTP/1.1: status 429: {\"error\":{\"message\":\"slow down\"}}"},
		{"created is not recorded", answer(201, `{"errors":0}`, 1), "status 201"},
		{"an event of a bulk", answer(200, `{"errors":1}`, 40), "some events were refused"},
		{"a broken connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "reading an answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, requests := loaded(t, workload{connections: 3, events: 2}, 60, c.handler)
			_, _, err := l.run(t.Context(), requests)
			require.ErrorContains(t, err, c.reason)
		})
	}
}

// The window ends a measurement after one answer for each connection at least, and an
// interrupt does even while an answer is outstanding.
func TestLoadEnds(t *testing.T) {
	handler := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }
	l, requests := loaded(t, workload{connections: 2}, 100, handler)
	l.window = 0
	latencies, watch, err := l.run(t.Context(), requests)
	require.NoError(t, err)
	require.Len(t, latencies, 2)
	require.Positive(t, watch.sample(latencies, 1).rate)

	ctx, interrupt := context.WithCancel(t.Context())
	release := make(chan struct{})
	l, requests = loaded(t, workload{connections: 2}, 100, func(http.ResponseWriter, *http.Request) {
		interrupt()
		<-release
	})

	_, _, err = l.run(ctx, requests)
	require.ErrorIs(t, err, context.Canceled)
	close(release)
}

//go:build unix

package main

import (
	"encoding/hex"
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
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	v1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/loyalty-platform/loyalty/server/tracing"
)

// collected takes spans as a collector of OpenTelemetry does, and keeps them.
type collected struct {
	*httptest.Server
	mu       sync.Mutex
	raw      []byte
	services map[string]bool
	header   string
	spans    []*v1.Span
}

func newCollector(t *testing.T) *collected {
	c := &collected{services: map[string]bool{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
			t.Errorf("%s: not spans: %v", r.URL.Path, err)
			return
		}

		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw, c.header = append(c.raw, body...), r.Header.Get("X-Tenant")
		for _, resource := range sent.ResourceSpans {
			for _, a := range resource.Resource.Attributes {
				if a.Key == "service.name" {
					c.services[a.Value.GetStringValue()] = true
				}
			}
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}

		w.Header().Set("Content-Type", "application/x-protobuf")
	}))

	t.Cleanup(c.Close)
	return c
}

// find waits for the span of a name that fits.
func (c *collected) find(t *testing.T, name string, fits func(*v1.Span) bool) (found *v1.Span) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, s := range c.spans {
			if s.Name == name && fits(s) {
				found = s
				return true
			}
		}
		return false
	}, patience, 20*time.Millisecond, name)
	return found
}

// childOf fits the spans below another.
func childOf(parent *v1.Span) func(*v1.Span) bool {
	return func(s *v1.Span) bool {
		return string(s.ParentSpanId) == string(parent.SpanId) && string(s.TraceId) == string(parent.TraceId)
	}
}

// says is an attribute of a span.
func says(s *v1.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func counts(s *v1.Span, name string) int64 {
	for _, a := range s.Attributes {
		if a.Key == name {
			return a.Value.GetIntValue()
		}
	}
	return 0
}

// TestTraces: a caller's trace goes on through the request, the batch that decided it, its
// statements, and what a webhook is told of it. What no request led to is a trace of its own, whose
// id is the message's. Nothing in it names a customer.
func TestTraces(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		g.toInside()
		spans := newCollector(t)
		g.env = append(g.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+spans.URL, "OTEL_EXPORTER_OTLP_HEADERS=X-Tenant=shop", "OTEL_SERVICE_NAME=loyalty-test", "OTEL_BSP_SCHEDULE_DELAY=50", "LOYALTY_LOG=json,info")
		s, c := g.start(t), newCaller(t, g.key)
		becomesReady(t, s, c)
		enrol(t, c, s.address, "canary-member")
		var heard sync.Map
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			heard.Store(r.Header.Get("Webhook-Id"), r.Header.Get("Traceparent"))
			w.WriteHeader(http.StatusNoContent)
		}))

		t.Cleanup(receiver.Close)
		hook, _ := newWebhook(t, c, s.address, `{"url":"`+receiver.URL+`/hook","types":["event.point_add"]}`)

		const theirs, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
		send := func(method, path, body string) (status int, answer string) {
			r, err := http.NewRequest(method, s.address+path, strings.NewReader(body))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Traceparent", "00-"+theirs+"-"+parent+"-01")
			a, err := c.http.Do(r)
			require.NoError(t, err)
			defer func() { _ = a.Body.Close() }()
			text, err := io.ReadAll(a.Body)
			require.NoError(t, err)
			return a.StatusCode, string(text)
		}

		status, body := send(http.MethodPost, "/events", `{"customer":"canary-member","action":"point_add","data":{"points":7}}`)
		require.Equal(t, 200, status, body)
		var added struct {
			Data struct {
				ID string `json:"event_id"`
			}
		}

		require.NoError(t, json.Unmarshal([]byte(body), &added))
		status, body = send(http.MethodGet, "/admin/webhooks", "")
		require.Equal(t, 200, status, body)
		status, body = send(http.MethodPost, "/events", `{"customer":"canary-member","action":"point_spend","data":{"points":700}}`)
		require.Equal(t, 422, status, body)

		ofCaller := func(s *v1.Span) bool {
			return hex.EncodeToString(s.TraceId) == theirs && hex.EncodeToString(s.ParentSpanId) == parent
		}
		request := spans.find(t, "POST /events", func(s *v1.Span) bool { return ofCaller(s) && counts(s, "http.response.status_code") == 200 })
		require.Equal(t, "events", says(request, "loyalty.api"))
		require.Equal(t, v1.Span_SPAN_KIND_SERVER, request.Kind)
		batch := spans.find(t, "batch", childOf(request))
		require.Equal(t, "committed", says(batch, "loyalty.batch.outcome"))
		require.Equal(t, hex.EncodeToString(batch.SpanId), says(request, "loyalty.batch.id"))
		for _, name := range []string{"load", "decide", "write"} {
			part := spans.find(t, name, childOf(batch))
			require.LessOrEqual(t, part.StartTimeUnixNano, part.EndTimeUnixNano)
			require.GreaterOrEqual(t, part.StartTimeUnixNano, batch.StartTimeUnixNano)
			require.LessOrEqual(t, part.EndTimeUnixNano, batch.EndTimeUnixNano)
		}

		read := spans.find(t, "read", childOf(spans.find(t, "GET /admin/webhooks", ofCaller)))
		require.Contains(t, []string{"sqlite", "postgresql"}, says(read, "db.system.name"))
		refused := spans.find(t, "POST /events", func(s *v1.Span) bool { return ofCaller(s) && counts(s, "http.response.status_code") == 422 })
		require.NotEqual(t, v1.Status_STATUS_CODE_ERROR, refused.GetStatus().GetCode(), "a refusal is no fault of the server")
		spans.find(t, "change", func(s *v1.Span) bool { return len(s.ParentSpanId) > 0 })

		event := says(request, "loyalty.event.id")
		if added.Data.ID != "" {
			require.Equal(t, added.Data.ID, event)
		}

		told := spans.find(t, "webhook event.point_add", childOf(request))
		sent, _ := heard.Load(event)
		require.Contains(t, sent, theirs)
		require.Equal(t, "00-"+hex.EncodeToString(told.TraceId)+"-"+hex.EncodeToString(told.SpanId)+"-01", sent)
		tried := c.post(s.address, "/admin/webhooks/"+hook+"/test", "{}", "")
		require.Equal(t, http.StatusCreated, tried.status)
		var delivery struct {
			Data struct {
				Event string `json:"event_id"`
			}
		}

		require.NoError(t, json.Unmarshal(tried.body, &delivery))
		spans.find(t, "webhook webhook.test", func(s *v1.Span) bool {
			return hex.EncodeToString(s.TraceId) == strings.ReplaceAll(delivery.Data.Event, "-", "")
		})
		require.Contains(t, s.log(), hex.EncodeToString(request.SpanId), "the log names the span")
		require.Equal(t, 0, s.stop(terminate), s.log())
		spans.mu.Lock()
		defer spans.mu.Unlock()
		require.True(t, spans.services["loyalty-test"])
		require.Equal(t, "shop", spans.header)
		require.NotContains(t, string(spans.raw), "canary")
	})
}

// TestTracesShareABatch: the batch of several requests is a trace of its own, which they name
// and which names them.
func TestTracesShareABatch(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		spans := newCollector(t)
		g.env = append(g.env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+spans.URL+"/v1/traces", "OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_TRACES_SAMPLER=parentbased_always_off")
		s := g.start(t)
		becomesReady(t, s, newCaller(t, g.key))
		enrol(t, newCaller(t, g.key), s.address, "m-1")
		var wait sync.WaitGroup
		var found atomic.Bool // until then callers go on: that several come together is chance
		for range 16 {
			c := newCaller(t, g.key)
			wait.Go(func() {
				for range 400 {
					if found.Load() {
						return
					}
					r, err := http.NewRequest(http.MethodPost, s.address+"/events", strings.NewReader(`{"customer":"m-1","action":"point_add","data":{"points":1}}`))
					if err != nil {
						continue
					}
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
					if a, err := c.http.Do(r); err == nil {
						_ = a.Body.Close()
					}
				}
			})
		}

		batch := spans.find(t, "batch", func(s *v1.Span) bool { return len(s.Links) > 1 })
		found.Store(true)
		wait.Wait()
		require.Equal(t, 200, newCaller(t, g.key).get(s.address+"/customers/m-1").status, "and one that nobody follows")
		require.Empty(t, batch.ParentSpanId)
		require.NotEqual(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString(batch.TraceId))
		request := spans.find(t, "POST /events", func(s *v1.Span) bool { return string(s.SpanId) == string(batch.Links[1].SpanId) })
		named := false
		for _, l := range request.Links {
			named = named || string(l.SpanId) == string(batch.SpanId)
		}

		require.True(t, named)
		spans.find(t, "write", childOf(batch))
		require.Equal(t, 0, s.stop(terminate), s.log())
		spans.mu.Lock()
		defer spans.mu.Unlock()
		for _, s := range spans.spans {
			require.NotContains(t, s.Name, "/customers", "the sampler said no")
		}
	})
}

// TestTracesOff: without a collector nothing is followed, and what cannot be spoken is one
// clear line.
func TestTracesOff(t *testing.T) {
	for _, env := range [][]string{nil, {"OTEL_SDK_DISABLED", "true"}, {"OTEL_TRACES_EXPORTER", "none"}} {
		t.Run(strings.Join(env, "="), func(t *testing.T) {
			if env != nil {
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
				t.Setenv(env[0], env[1])
			}
			made, err := tracing.New(t.Context(), tracing.Options{})
			require.NoError(t, err)
			require.Nil(t, made)
			require.Nil(t, made.Reads())
			made.Close(t.Context())
		})
	}

	for _, wrong := range [][]string{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, {"OTEL_TRACES_EXPORTER", "zipkin"},
		{"OTEL_TRACES_SAMPLER", "jaeger_remote"}, {"OTEL_TRACES_SAMPLER_ARG", "110"},
	} {
		t.Run(wrong[0], func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
			t.Setenv(wrong[0], wrong[1])
			_, err := tracing.New(t.Context(), tracing.Options{})
			require.ErrorContains(t, err, wrong[0])
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

package tracing

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
)

// BenchmarkEvent is what following one event in a hundred costs each of them: the span of its
// request and, where it is followed, those of its batch. An event takes some 350 µs of the
// processors of server and database.
func BenchmarkEvent(b *testing.B) {
	for name, part := range map[string]string{"one in a hundred": "0.01", "each": "1"} {
		b.Run(name, func(b *testing.B) {
			collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
			defer collector.Close()
			b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
			b.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
			b.Setenv("OTEL_TRACES_SAMPLER_ARG", part)
			t, err := New(b.Context(), Options{Report: func(error) {}})
			if err != nil {
				b.Fatal(err)
			}
			defer t.Close(b.Context())

			o := &loyalty.Outcome{Events: []loyalty.Event{{Action: "point_add"}}}
			b.ResetTimer()
			for b.Loop() {
				ctx, traced := t.Begin(b.Context(), "")
				if caller := t.Caller(ctx); caller != nil {
					t.Batch([]any{caller}, traffic.Traced{Attempt: traffic.Attempt{Size: 1, Load: time.Millisecond, Decide: time.Microsecond, Write: time.Millisecond}, Began: time.Now(), Outcome: "committed"})
					t.Decided(caller, o)
				}
				traced.End(api.Answered{API: "events", Method: http.MethodPost, Route: "/events", Status: http.StatusOK, Took: 3 * time.Millisecond})
			}
		})
	}
}

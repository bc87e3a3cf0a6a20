package server_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// instantEngine answers at once, so that a benchmark measures this layer alone.
type instantEngine struct{ outcome loyalty.Outcome }

func (e instantEngine) Submit(context.Context, loyalty.Submission) (loyalty.Outcome, error) {
	return e.outcome, nil
}

func (e instantEngine) SubmitEach(_ context.Context, all []loyalty.Submission, told func(int, loyalty.Result)) {
	for i := range all {
		told(i, loyalty.Result{Outcome: e.outcome})
	}
}

func (e instantEngine) Preview(context.Context, loyalty.Submission) (loyalty.Outcome, error) {
	return e.outcome, nil
}

func (e instantEngine) PreviewAccepted(context.Context, loyalty.Submission) (loyalty.Outcome, *programme.Programme, error) {
	return e.outcome, &programme.Programme{}, nil
}

func (e instantEngine) Settle(context.Context, loyalty.ID) error { return nil }

func (e instantEngine) Now() time.Time { return time.Now() }

func (e instantEngine) View(context.Context, loyalty.CustomerNeeds, func(*engine.Run) error) error {
	return nil
}

// benchEvent is a purchase of about 300 bytes.
const benchEvent = `{"customer":"ada.kovacs@shop.test","action":"checkout","data":{"transaction_id":"T-1000417","total":99.99,` +
	`"currency":"EUR","channel":"online","items":[{"product_id":"p-501","product_name":"Espresso beans",` +
	`"product_url":"https://shop.test/p/501","quantity":2,"subtotal":60.00,"price":32.5,"discount":2.5}]}}`

// BenchmarkServer measures the whole HTTP layer, without a socket: from the
// request as net/http gives it to the written answer and its log line.
func BenchmarkServer(b *testing.B) {
	b.Run("event", func(b *testing.B) { benchmarkRequest(b, http.MethodPost, "/events", benchEvent, jsonType) })
	b.Run("points", func(b *testing.B) {
		benchmarkRequest(b, http.MethodPost, "/events", `{"customer":"ada","action":"point_add","data":{"points":5,"reason":"spring"}}`, jsonType)
	})
	b.Run("form", func(b *testing.B) {
		benchmarkRequest(b, http.MethodPost, "/events", "customer=ada&action=point_add&data[points]=5&data[reason]=spring", formType)
	})
	b.Run("bulk50", func(b *testing.B) {
		body := `{"events":[` + string(bytes.Repeat([]byte(benchEvent+","), 49)) + benchEvent + `]}`
		benchmarkRequest(b, http.MethodPost, "/events/bulk", body, jsonType)
	})

	b.Run("list", func(b *testing.B) {
		benchmarkRequest(b, http.MethodGet, "/customers?status=active&score.gte=10&limit=10", "", "")
	})
	b.Run("refused", func(b *testing.B) {
		benchmarkRequest(b, http.MethodPost, "/events", `{"customer":"ada","action":"point_add","data":{}}`, jsonType)
	})
}

func benchmarkRequest(b *testing.B, method, target, body, media string) {
	s, key := benchServer(b)
	r := httptest.NewRequest(method, "http://shop.test"+target, nil)
	r.RequestURI, r.ContentLength = target, int64(len(body))
	if media != "" {
		r.Header.Set("Content-Type", media)
	}

	require.NoError(b, signing.Default(region).Sign(r, []byte(body), key))
	reader := bytes.NewReader([]byte(body))
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset([]byte(body))
		again := *r
		address := *r.URL
		again.Body, again.URL, again.ContentLength = io.NopCloser(reader), &address, int64(len(body))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, &again)
		if w.Code == http.StatusUnauthorized || w.Code == http.StatusTooManyRequests {
			b.Fatal(w.Body.String())
		}
	}
}

func benchServer(b *testing.B) (*server.Server, signing.Credential) {
	h := servertest.Open(b, servertest.Options{
		Store: storetest.Open(b, storetest.SQLite(b)), Log: io.Discard, Server: []func(*server.Options){func(o *server.Options) { o.Engine = instantEngine{benchOutcome()} }},
	})
	return h.Server, h.Key
}

func benchOutcome() loyalty.Outcome {
	now, points := time.Now(), int64(60)
	c := loyalty.Customer{
		ID: loyalty.NewID(now, loyalty.ID{}), Name: "ada.kovacs@shop.test", Status: loyalty.Active, CreatedAt: now,
		Profile: loyalty.Profile{Email: "ada.kovacs@shop.test", FirstName: "Ada", Language: "hun"},
	}
	parent := loyalty.NewID(now, c.ID)
	return loyalty.Outcome{Customer: c, Events: []loyalty.Event{
		{ID: parent, Action: "checkout", Points: &points},
		{ID: loyalty.NewID(now, parent), Parent: parent, Action: "checkout_item", Points: &points, ExpDate: now},
	}}
}

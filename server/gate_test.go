package server

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
)

// TestGate: so many work, so many wait, and the next is told to come back; one key
// has half of the places at most, and who goes away frees theirs.
func TestGate(t *testing.T) {
	ctx := context.Background()
	g := newGate(2, 2)
	first, err := g.enter(ctx, "a")
	require.NoError(t, err)
	second, err := g.enter(ctx, "a")
	require.NoError(t, err)
	_, err = g.enter(ctx, "a")
	require.ErrorIs(t, err, errBusy, "half of four")

	entered := make(chan func())
	wait := func(ctx context.Context, key string) {
		leave, err := g.enter(ctx, key)
		if err != nil {
			leave = nil
		}
		entered <- leave
	}

	gone, leave := context.WithCancel(ctx)
	go wait(ctx, "b")
	go wait(gone, "c")
	require.Eventually(t, func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.count == 4 }, time.Minute, time.Millisecond)
	_, err = g.enter(ctx, "d")
	require.ErrorIs(t, err, errBusy, "all places are taken")
	leave()
	require.Nil(t, <-entered, "the one who went away")
	first()
	third := <-entered
	require.NotNil(t, third)
	second()
	third()
	require.Empty(t, g.inside)
	require.Zero(t, g.count)
	require.Empty(t, g.slots)
}

// Reads that add up whatever there is take turns: 200 of them at once, by a key that may only
// read, took a gigabyte.
func TestTotalsTakeTurns(t *testing.T) {
	on := programme.Programme{Location: time.UTC}
	api := administrationAPI{
		totals:     newGate(0, 0),
		statistics: statistics.New(statistics.Options{Programmes: unchanging{&on}}),
	}
	ctx := &gin.Context{Request: httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)}
	ctx.Set(requestKey{}, &request{key: &loyalty.AccessKey{}})
	_, err := api.GetStatistics(ctx, administration.GetStatisticsRequestObject{})
	require.ErrorIs(t, err, errBusy)
	dry, from := true, int64(1)
	_, err = api.ReplayWebhook(ctx, administration.ReplayWebhookRequestObject{Body: &administration.WebhookReplay{DryRun: &dry, FromSequence: &from}})
	require.ErrorIs(t, err, errBusy)
}

// TestTurnsComeBeforeBodies: nothing is made of a body that is dear to read before its turn
// came. 100 previews of 5,000 lines by a key that may only read took 1.6 GB: those who waited
// had been read and checked. And 40 senders of parts of a megabyte had events wait for 12 s.
func TestTurnsComeBeforeBodies(t *testing.T) {
	ginOnce()
	documents, err := contract.Documents()
	require.NoError(t, err)
	s := &Server{}
	s.operations, err = operationsOf(documents)
	require.NoError(t, err)
	require.NoError(t, s.useGates())
	catalogue, err := i18n.Load()
	require.NoError(t, err)
	taking := map[string]*operation{}
	for _, o := range s.operations {
		if o.turns != nil && o.body != nil {
			taking[o.route.Operation.OperationID] = o
		}
	}

	require.ElementsMatch(t, []string{"previewEvent", "previewCampaigns", "quoteOffers", "submitEvents", "addImportFile"}, slices.Collect(maps.Keys(taking)))
	require.Same(t, taking["previewEvent"].turns, taking["previewCampaigns"].turns)
	require.Same(t, taking["previewEvent"].turns, taking["quoteOffers"].turns)
	taking["a large body"] = s.operations[routeKey{http.MethodPost, "/events"}]
	for name, o := range taking {
		body, turns := []byte("{"), &o.turns
		switch {
		case o.turns == nil:
			body, turns = bytes.Repeat(body, largeBody+1), &s.large
		case o.light != nil:
			body = bytes.Repeat(body, lightBody+1)
		}

		bodies := newBodyMemory(16 << 20)
		ask := func() *request {
			r := &request{key: &loyalty.AccessKey{}, operation: o, body: body, memory: bodies.share(true), language: &tongue{catalogue: catalogue}}
			g := gin.New()
			g.POST("/", func(c *gin.Context) { c.Set(requestKey{}, r) }, s.takeTurn)
			in := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
			in.Header.Set("Content-Type", "application/json")
			g.ServeHTTP(httptest.NewRecorder(), in)
			return r
		}

		o.checked = nil // there is no path here
		open := *turns
		*turns = newGate(0, 0)
		require.ErrorIs(t, ask().err, errBusy, name)
		require.Zero(t, bodies.known.used.Load(), "%s: work is counted that has not begun", name)
		*turns = open
		r := ask()
		require.NotErrorIs(t, r.err, errBusy, name)
		require.Error(t, r.err, "%s: the body is broken", name)
		require.NotZero(t, bodies.known.used.Load(), name)
		require.Zero(t, open.count, "%s: the place is free again", name)
		if light := o.light; light != nil { // what a cart sends waits neither for large ones nor with them
			body, *turns = body[:lightBody], newGate(0, 0)
			require.NotErrorIs(t, ask().err, errBusy, name)
			o.light = newGate(0, 0)
			require.ErrorIs(t, ask().err, errBusy, name)
			*turns, o.light = open, light
		}
	}
}

// TestStatementsTakeTurns: a customer's lots are as many as were earned. 16 callers who asked
// for 50,000 of them as of an instant took a gigabyte, and had events wait for half a second.
func TestStatementsTakeTurns(t *testing.T) {
	documents, err := contract.Documents()
	require.NoError(t, err)
	s := &Server{}
	s.operations, err = operationsOf(documents)
	require.NoError(t, err)
	require.NoError(t, s.useGates())
	o := s.operations[routeKey{http.MethodGet, "/customers/:customer_id/points"}]
	now, past := s.turns(&request{operation: o}), s.turns(&request{operation: o, query: []list.Pair{{Name: "as_of", Value: "2026-01-01T00:00:00Z"}}})
	require.NotNil(t, now)
	require.Equal(t, lightAtOnce(), cap(now.slots))
	require.NotNil(t, past)
	require.Equal(t, previewsAtOnce(), cap(past.slots))
	require.NotSame(t, s.operations[routeKey{http.MethodPost, "/events/preview"}].light, now, "a till's preview does not wait for statements")
}

// unchanging is a programme that stays as it is.
type unchanging struct{ p *programme.Programme }

func (u unchanging) Programme() *programme.Programme { return u.p }

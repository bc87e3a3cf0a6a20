package server

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

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

		const memory = 16 << 20
		bodies := newBodyMemory(memory)
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
		all := bodies.share(true)
		require.True(t, all.take(memory-memory/4), "%s: work is counted that has not begun", name)
		all.release()
		open = newGate(1, 0)
		*turns = open
		r := ask()
		require.NotErrorIs(t, r.err, errBusy, name)
		require.Error(t, r.err, "%s: the body is broken", name)
		require.False(t, all.take(memory-memory/4), "%s: work is counted", name)
		leave, err := open.enter(t.Context(), "another")
		require.NoError(t, err, "%s: the place is free again", name)
		leave()
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
	require.Same(t, o.light, now)
	require.NotNil(t, past)
	require.Same(t, o.turns, past)
	require.NotSame(t, s.operations[routeKey{http.MethodPost, "/events/preview"}].light, now, "a till's preview does not wait for statements")
}

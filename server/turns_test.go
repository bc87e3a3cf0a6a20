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
	"github.com/loyalty-platform/loyalty/server/api"
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
	s.operations, err = api.OperationsOf(documents)
	require.NoError(t, err)
	require.NoError(t, s.useGates())
	catalogue, err := i18n.Load()
	require.NoError(t, err)
	taking := map[string]*api.Operation{}
	for _, o := range s.operations {
		if o.Turns != nil && o.Body != nil {
			taking[o.Route.Operation.OperationID] = o
		}
	}

	require.ElementsMatch(t, []string{"previewEvent", "previewCampaigns", "quoteOffers", "submitEvents", "addImportFile"}, slices.Collect(maps.Keys(taking)))
	require.Same(t, taking["previewEvent"].Turns, taking["previewCampaigns"].Turns)
	require.Same(t, taking["previewEvent"].Turns, taking["quoteOffers"].Turns)
	taking["a large body"] = s.operations[api.RouteKey{Method: http.MethodPost, Path: "/events"}]
	for name, o := range taking {
		body, turns := []byte("{"), &o.Turns
		switch {
		case o.Turns == nil:
			body, turns = bytes.Repeat(body, api.LargeBody+1), &s.large
		case o.Light != nil:
			body = bytes.Repeat(body, api.LightBody+1)
		}

		const memory = 16 << 20
		bodies := api.NewBodyMemory(memory)
		ask := func() *api.Request {
			r := &api.Request{Key: &loyalty.AccessKey{}, Operation: o, Body: body, Memory: bodies.Share(true), Language: &api.Localizer{Catalogue: catalogue}}
			g := gin.New()
			g.POST("/", func(c *gin.Context) { c.Set(api.RequestKey{}, r) }, s.takeTurn)
			in := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
			in.Header.Set("Content-Type", "application/json")
			g.ServeHTTP(httptest.NewRecorder(), in)
			return r
		}

		o.Checked = nil // there is no path here
		*turns = api.NewGate(0, 0)
		require.ErrorIs(t, ask().Err, api.ErrBusy, name)
		all := bodies.Share(true)
		require.True(t, all.Take(memory-memory/4), "%s: work is counted that has not begun", name)
		all.Release()
		open := api.NewGate(2, 0)
		*turns = open
		r := ask()
		require.NotErrorIs(t, r.Err, api.ErrBusy, name)
		require.Error(t, r.Err, "%s: the body is broken", name)
		require.False(t, all.Take(memory-memory/4), "%s: work is counted", name)
		for _, key := range []string{"one", "another"} { // they fill the gate
			leave, err := open.Enter(t.Context(), key)
			require.NoError(t, err, "%s: the place is free again", name)
			defer leave()
		}
		if light := o.Light; light != nil { // what a cart sends waits neither for large ones nor with them
			body, *turns = body[:api.LightBody], api.NewGate(0, 0)
			require.NotErrorIs(t, ask().Err, api.ErrBusy, name)
			o.Light = api.NewGate(0, 0)
			require.ErrorIs(t, ask().Err, api.ErrBusy, name)
			*turns, o.Light = open, light
		}
	}
}

// TestStatementsTakeTurns: a customer's lots are as many as were earned. 16 callers who asked
// for 50,000 of them as of an instant took a gigabyte, and had events wait for half a second.
func TestStatementsTakeTurns(t *testing.T) {
	documents, err := contract.Documents()
	require.NoError(t, err)
	s := &Server{}
	s.operations, err = api.OperationsOf(documents)
	require.NoError(t, err)
	require.NoError(t, s.useGates())
	o := s.operations[api.RouteKey{Method: http.MethodGet, Path: "/customers/:customer_id/points"}]
	now, past := s.turns(&api.Request{Operation: o}), s.turns(&api.Request{Operation: o, Query: []list.Pair{{Name: "as_of", Value: "2026-01-01T00:00:00Z"}}})
	require.NotNil(t, now)
	require.Same(t, o.Light, now)
	require.NotNil(t, past)
	require.Same(t, o.Turns, past)
	require.NotSame(t, s.operations[api.RouteKey{Method: http.MethodPost, Path: "/events/preview"}].Light, now, "a till's preview does not wait for statements")
}

package tracing

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TestPlacesAreBounded: the newest events are kept in mind, and no more than so many.
func TestPlacesAreBounded(t *testing.T) {
	var p places
	id := func(n int) (event loyalty.ID) {
		binary.BigEndian.PutUint64(event[8:], uint64(n)) //nolint:gosec // small
		return event
	}

	const all = 3*maxPlaces + 7
	for n := range all {
		p.keep(id(n), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(id(n + 1))}))
	}

	require.Len(t, p.of, maxPlaces)
	_, known := p.find(id(all - maxPlaces - 1))
	require.False(t, known)
	for n := all - maxPlaces; n < all; n++ {
		at, known := p.find(id(n))
		require.True(t, known)
		require.Equal(t, trace.TraceID(id(n+1)), at.TraceID())
	}
}

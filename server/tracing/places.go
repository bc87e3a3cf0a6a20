package tracing

import (
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// maxPlaces bounds the remembered events.
const maxPlaces = 8192

// places remembers the place in a trace of the newest events that followed from requests, so that deliveries to
// webhooks continue the trace. It lives in this process and drops the oldest.
type places struct {
	mu    sync.Mutex
	of    map[loyalty.ID]trace.SpanContext
	order []loyalty.ID // a ring when full
	next  int
}

func (p *places) keep(event loyalty.ID, at trace.SpanContext) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[loyalty.ID]trace.SpanContext{}
	}
	if len(p.order) < maxPlaces {
		p.order = append(p.order, event)
	} else {
		delete(p.of, p.order[p.next])
		p.order[p.next] = event
		p.next = (p.next + 1) % maxPlaces
	}
	p.of[event] = at
}

func (p *places) find(event loyalty.ID) (at trace.SpanContext, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, known = p.of[event]
	return at, known
}

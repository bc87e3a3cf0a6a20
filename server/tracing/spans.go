package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

var (
	_ api.Tracer     = (*Tracing)(nil)
	_ traffic.Tracer = (*Tracing)(nil)
	_ webhook.Tracer = (*Tracing)(nil)
)

// Begin begins the span of a request, as a part of the caller's trace if the caller sent one.
func (t *Tracing) Begin(ctx context.Context, parent string) (context.Context, api.Traced) {
	if parent != "" {
		ctx = trace.ContextWithRemoteSpanContext(ctx, placeOf(parent))
	}
	ctx, span := t.tracer.Start(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer))
	at := span.SpanContext()
	return ctx, api.Traced{Trace: at.TraceID().String(), Span: at.SpanID().String(), End: func(a api.Answered) {
		if span.IsRecording() {
			answered(span, &a)
		}
		span.End()
	}}
}

// answered adds the result of a request to its span. The span's name is the route's template, because paths and queries
// name customers.
func answered(span trace.Span, a *api.Answered) {
	name := a.Method
	if a.Route != "" {
		name += " " + a.Route
		span.SetAttributes(attribute.String("http.route", a.Route))
	}

	span.SetName(name)
	span.SetAttributes(attribute.String("http.request.method", a.Method),
		attribute.Int("http.response.status_code", a.Status))
	if a.API != "" {
		span.SetAttributes(attribute.String("loyalty.api", a.API))
	}
	if a.Code != 0 {
		span.SetAttributes(attribute.Int("loyalty.code", a.Code), attribute.String("error.type", a.Failure))
	}
	if a.Status >= 500 {
		span.SetStatus(codes.Error, a.Failure)
	}
}

// placeOf reads a valid traceparent.
func placeOf(parent string) trace.SpanContext {
	var c trace.SpanContextConfig
	c.TraceID, _ = trace.TraceIDFromHex(parent[3:35])
	c.SpanID, _ = trace.SpanIDFromHex(parent[36:52])
	var flags [1]byte
	if flags[0] = hex(parent[53])<<4 | hex(parent[54]); flags[0]&1 == 1 {
		c.TraceFlags = trace.FlagsSampled
	}
	return trace.NewSpanContext(c)
}

func hex(digit byte) byte {
	if digit >= 'a' {
		return digit - 'a' + 10
	}
	return digit - '0'
}

// Caller is the span of a caller that waits for a batch; nil if it is not recorded.
func (t *Tracing) Caller(ctx context.Context) any {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return span
	}
	return nil
}

// Decided records the events of a request, so that the messages about them continue its trace.
func (t *Tracing) Decided(caller any, o *loyalty.Outcome) {
	span := caller.(trace.Span)
	if len(o.Events) > 0 {
		span.SetAttributes(attribute.String("loyalty.event.id", o.Events[0].ID.String()))
	}
	for i := range o.Events {
		t.events.keep(o.Events[i].ID, span.SpanContext())
	}
}

// Batch makes the spans of a transaction. With a single caller it is a part of the caller's trace. With several it is a
// trace of its own, linked with theirs in both directions, because none of them alone is its parent.
func (t *Tracing) Batch(callers []any, b traffic.Traced) {
	var ctx context.Context
	options := []trace.SpanStartOption{trace.WithTimestamp(b.Began),
		trace.WithAttributes(attribute.Int("loyalty.batch.size", b.Size))}
	if len(callers) == 1 {
		ctx = trace.ContextWithSpan(context.Background(), callers[0].(trace.Span))
	} else {
		ctx = context.WithValue(context.Background(), followed{}, true)
		for _, c := range callers {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: c.(trace.Span).SpanContext()}))
		}
	}

	ctx, span := t.tracer.Start(ctx, "batch", options...)
	for _, c := range callers {
		caller := c.(trace.Span)
		caller.SetAttributes(attribute.String("loyalty.batch.id", span.SpanContext().SpanID().String()))
		if len(callers) > 1 {
			caller.AddLink(trace.Link{SpanContext: span.SpanContext()})
		}
	}

	loaded := b.Began.Add(b.Load)
	decided := loaded.Add(b.Decide)
	ended := decided.Add(b.Write)
	t.statements(ctx, "load", b.Began, loaded)
	if b.Decide > 0 {
		_, child := t.tracer.Start(ctx, "decide", trace.WithTimestamp(loaded))
		child.End(trace.WithTimestamp(decided))
	}

	if b.Write > 0 {
		t.statements(ctx, "write", decided, ended)
	}

	span.SetAttributes(attribute.String("loyalty.batch.outcome", b.Outcome))
	if b.Outcome == traffic.TracedFailed {
		span.SetStatus(codes.Error, "")
	}

	span.End(trace.WithTimestamp(ended))
}

// statements makes the span of statements of a kind, without their texts and values.
func (t *Tracing) statements(ctx context.Context, kind string, from, to time.Time) {
	_, span := t.tracer.Start(ctx, kind, trace.WithTimestamp(from), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", t.database), attribute.String("db.operation.name", kind)))
	span.End(trace.WithTimestamp(to))
}

// asked makes the span of a database query by a recorded request.
func (t *Tracing) asked(ctx context.Context, kind string, began time.Time) {
	if trace.SpanFromContext(ctx).IsRecording() {
		t.statements(ctx, kind, began, time.Now())
	}
}

// Attempt begins the span of an attempt to deliver an event, below the request that led to it. If that is unknown, for
// example on another node, all attempts to deliver one event, to any webhook, form one trace, whose id is the event's.
func (t *Tracing) Attempt(event, hook loyalty.ID, kind string) (place string, end func(*webhook.Answer)) {
	ctx := context.WithValue(context.Background(), given{}, trace.TraceID(event))
	if request, known := t.events.find(event); known {
		ctx = trace.ContextWithRemoteSpanContext(context.Background(), request)
	}

	_, span := t.tracer.Start(ctx, "webhook "+kind, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
		attribute.String("loyalty.webhook.id", hook.String()), attribute.String("loyalty.event.id", event.String())))
	at := span.SpanContext()
	return "00-" + at.TraceID().String() + "-" + at.SpanID().String() + "-" + at.TraceFlags().String(),
		func(a *webhook.Answer) {
			if a.Status != 0 {
				span.SetAttributes(attribute.Int("http.response.status_code", a.Status))
			}
			if a.Fault != "" {
				span.SetAttributes(attribute.String("error.type", a.Fault))
			}
			if a.Status < 200 || a.Status > 299 {
				span.SetStatus(codes.Error, a.Fault)
			}
			span.End()
		}
}

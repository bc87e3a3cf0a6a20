package api

import (
	"context"
	"time"
)

// Observer receives requests, for metrics. Each request waits for it, so it must be quick.
type Observer interface {
	// Began is called when a request has arrived.
	Began()
	// Answered is called when the request has been answered.
	Answered(a Answered)
}

// Answered is an answered request, without any data of its caller.
type Answered struct {
	API    string // the document; empty outside the contract
	Method string // a verb of HTTP, or -
	// Route is the template of an operation with a known caller, or of a page without a signature; otherwise empty, so
	// that strangers cannot create new values to count.
	Route   string
	Status  int
	Code    int    // of the failure; 0: none
	Failure string // its name
	Took    time.Duration
}

// Tracer traces requests, to show where their time goes.
type Tracer interface {
	// Begin starts tracing a request. parent is the caller's place in a trace, a valid traceparent, or empty. Work with
	// the returned context is traced too.
	Begin(ctx context.Context, parent string) (context.Context, Traced)
}

// Traced is a traced request: its place in a trace in hexadecimal digits, and what is called when
// it has ended.
type Traced struct {
	Trace, Span string
	End         func(Answered)
}

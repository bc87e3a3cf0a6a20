package server

import (
	"context"
	"time"
)

// Observer is told of requests, for metrics. Each request waits for it: it must be quick.
type Observer interface {
	// Began is called when a request has arrived.
	Began()
	// Answered is called with how it ended.
	Answered(a Answered)
}

// Answered is a request that was answered, without anything of its caller's.
type Answered struct {
	API    string // the document; empty outside of the contract
	Method string // a verb of HTTP, or -
	// Route is the template of an operation whose caller was known, or of a page that needs
	// no signature; else empty: strangers choose nothing that is counted apart.
	Route   string
	Status  int
	Code    int    // of the failure; 0: none
	Failure string // its name
	Took    time.Duration
}

// Tracer follows requests, to show where their time goes.
type Tracer interface {
	// Begin begins to follow a request; parent is its caller's place in a trace, a
	// traceparent by the letter, or empty. What is done with the context is followed too.
	Begin(ctx context.Context, parent string) (context.Context, Traced)
}

// Traced is a traced request: its place in a trace in hexadecimal digits, and what is called when
// it has ended.
type Traced struct {
	Trace, Span string
	End         func(Answered)
}

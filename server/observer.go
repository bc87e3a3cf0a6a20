package server

import (
	"context"
	"time"
)

// Observer hears of requests, for whoever counts them. Each request waits for it: it must
// be quick.
type Observer interface {
	// Began hears that a request arrived.
	Began()
	// Answered hears how it ended.
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

// Tracer follows requests, for whoever wants to see where their time goes.
type Tracer interface {
	// Begin begins to follow a request; parent is its caller's place in a trace, a
	// traceparent by the letter, or empty. What is done with the context is followed too.
	Begin(ctx context.Context, parent string) (context.Context, Traced)
}

// Traced is a request that is followed: its place in a trace in hexadecimal digits, and who
// hears how it ended.
type Traced struct {
	Trace, Span string
	End         func(Answered)
}

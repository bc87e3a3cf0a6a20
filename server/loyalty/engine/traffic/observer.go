package traffic

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Observer is told of each transaction, for metrics. Workers wait for it, and several call it at once: it must be
// quick and safe for concurrent use.
type Observer interface {
	// Tried is called for each transaction that was tried, except for previews. An attempt that ends because more must
	// be loaded counts as part of the next one.
	Tried(a Attempt)
}

// Attempt is one try of a batch.
type Attempt struct {
	Size int // submissions
	// Load, Decide and Write are how long loading, deciding and writing took; writing includes the commit. A phase that
	// was not reached is zero.
	Load, Decide, Write time.Duration
	Err                 error // nil: it was committed
}

// watch times an attempt: loading until work begins, deciding until it has ended, writing until the
// transaction has.
type watch struct{ began, loaded, decided time.Time }

func (w *watch) attempt(size int, err error) Attempt {
	a, end := Attempt{Size: size, Err: err}, time.Now()
	switch {
	case w.loaded.IsZero():
		a.Load = end.Sub(w.began)
		return a
	case w.decided.IsZero():
		a.Decide = end.Sub(w.loaded)
	default:
		a.Decide, a.Write = w.decided.Sub(w.loaded), end.Sub(w.decided)
	}
	a.Load = w.loaded.Sub(w.began)
	return a
}

// Tracer follows the batches of callers that are traced. Workers wait for it: it must be quick.
type Tracer interface {
	// Caller identifies the caller of a batch to the tracer; nil if the caller is not traced.
	Caller(ctx context.Context) any
	// Batch is called for each transaction that was tried with traced callers.
	Batch(callers []any, b Traced)
	// Decided is called with the outcome of a traced caller's submission.
	Decided(caller any, o *loyalty.Outcome)
}

// Traced is one try of a batch, for the tracer.
type Traced struct {
	Attempt
	Began   time.Time
	Outcome string
}

// The outcomes of a try: committed, a preview, more must be loaded, another writer was faster,
// anything else.
const (
	tracedCommitted  = "committed"
	tracedPreview    = "preview"
	tracedIncomplete = "incomplete"
	tracedConflict   = "conflict"
	TracedFailed     = "failed"
)

package engine

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Observer hears what the engine does, for whoever counts it. Workers wait for it, several
// at once: it must be quick.
type Observer interface {
	// Tried hears of each transaction that was tried. Previews are none, and one that ends
	// because more must be loaded is part of the next.
	Tried(a Attempt)
	// Ended hears what became of a submission, once; action is what was submitted, empty
	// where only what is due was applied. It may be any text.
	Ended(action string, r *loyalty.Result)
}

// Attempt is one try of a batch.
type Attempt struct {
	Size int // submissions
	// How long loading, deciding and writing took; the commit is part of writing. What was
	// not come to is zero.
	Load, Decide, Write time.Duration
	Err                 error // nil: it was committed
}

// unobserved is the Observer where there is none.
type unobserved struct{}

func (unobserved) Tried(Attempt)                 {}
func (unobserved) Ended(string, *loyalty.Result) {}

// watch times an attempt: load until work begins, decide until it ended, write until the
// transaction did.
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

// Tracer follows batches for those of their callers who are followed. Workers wait for it: it
// must be quick.
type Tracer interface {
	// Caller is what is known of who waits for a batch; nil: they are not followed.
	Caller(ctx context.Context) any
	// Batch hears of each transaction that was tried with callers who are followed.
	Batch(callers []any, b Traced)
	// Decided hears what became of what a caller submitted.
	Decided(caller any, o *loyalty.Outcome)
}

// Traced is one try of a batch, as it is followed.
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

package condition

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrBudget says that a condition was given up because it took more than its
// steps. It tells of a condition that is too heavy for the event's data.
var ErrBudget = errors.New("the condition takes too many steps")

// budget is how much one run may do. A step is a comparison, a calculation, an
// element of a list that is looked at, textStep bytes of text or decodeStep
// bytes of JSON. As nothing is copied without steps, they bound memory as well
// as time.
const (
	budget     = 200_000
	textStep   = 64
	decodeStep = 8
)

// frame is one run of a condition.
type frame struct {
	facts   *Facts
	steps   int
	err     error
	element value // of the innermost list function
	choices []choice
	when    time.Time
}

// frames are used again: a programme judges many conditions for each event.
var frames = sync.Pool{New: func() any { return new(frame) }}

// local is the event's time on the programme's clocks.
func (f *frame) local() time.Time {
	if f.when.IsZero() {
		f.when = f.facts.Event.Timestamp.In(f.location())
	}
	return f.when
}

func (f *frame) location() *time.Location {
	if f.facts.Location == nil {
		return time.UTC
	}
	return f.facts.Location
}

// step pays for n steps. False: the run has ended.
func (f *frame) step(n int) bool {
	f.steps += n
	if f.steps > budget && f.err == nil {
		f.err = ErrBudget
	}
	return f.err == nil
}

// fail ends the run with its first failure.
func (f *frame) fail(format string, args ...any) value {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
	return nothing
}

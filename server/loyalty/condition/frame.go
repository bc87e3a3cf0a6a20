package condition

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrBudget is the failure of a condition that took more than its steps: it is too heavy for the event's data.
var ErrBudget = errors.New("the condition takes too many steps")

// budget is how many steps one run may take. A step is a comparison, a calculation, an element of a list, textStep
// bytes of text or decodeStep bytes of JSON. Nothing is copied without steps, so they bound memory as well as time.
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

// frames are reused: a programme evaluates many conditions for each event.
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

package engine

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// maxEffort is how many steps the rules may take over one submission, all conditions
// and reactions together. A step is one of a condition (see condition.ErrBudget), some
// tens of nanoseconds; what else rules do is counted in them. A purchase of 5,000
// lines under a few campaigns takes a tenth of it.
const maxEffort = 5_000_000

// What rules do besides judging conditions, in steps.
const (
	StepsToLook  = 10  // at an occurrence, by one rule
	stepsToWrite = 200 // an event
)

// Effort counts steps of the submission. It fails with ErrRulesTooHeavy once they are
// more than it may take: then nothing of it is done, because a purchase whose last
// lines no rule looked at would have wrong points. What was due before it is not
// counted: nobody can send less of it. It fails with the error of the batch's context
// once that has ended.
func (r *Run) Effort(steps int) error {
	w := r.work
	w.effort += steps + stepsToWrite*max(0, len(w.events)-w.paid)
	w.paid = len(w.events)
	if w.effort > maxEffort && w.counted {
		return loyalty.ErrRulesTooHeavy.With("action", w.submitted())
	}
	if w.effort < w.looked {
		return nil
	}
	w.looked = w.effort + maxEffort/100
	if r.batch.ctx == nil {
		return nil
	}
	return r.batch.ctx.Err()
}

// countFrom begins to count, at the submission's own event.
func (w *work) countFrom() { w.effort, w.looked, w.paid, w.counted = 0, 0, len(w.events), true }

// submitted is the action that the submission began with.
func (w *work) submitted() string {
	if len(w.runs) > 0 && w.runs[0].Event != nil {
		return w.runs[0].Event.Action
	}
	return ""
}

package engine

import (
	"errors"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// refusedAtOnce explains the refusals that depend on no customer: a module that is off, and an
// action that cannot be submitted.
func refusedAtOnce(err error) []loyalty.Verdict {
	reason := ""
	switch {
	case errors.Is(err, loyalty.ErrActionOff), errors.Is(err, loyalty.ErrModuleOff):
		reason = "reason.module_is_off"
	case errors.Is(err, loyalty.ErrInternalAction):
		reason = "reason.internal_action"
	default:
		return nil
	}
	return []loyalty.Verdict{{Rule: "module", Verdict: "refused", Reason: reason, Input: loyalty.AsError(err).Args}}
}

// outcomeOf is what the caller is told of a run.
func outcomeOf(r *Run) loyalty.Outcome {
	o := loyalty.Outcome{Customer: *r.Customer, Trace: r.work.trace, Value: r.Value, Events: make([]loyalty.Event, len(r.work.events))}
	for i, e := range r.work.events {
		o.Events[i] = *e
	}
	return o
}

// touchedLots lists the lots that a run would change, for a preview, in the order in which they would be spent:
// a book has them as the database gave them.
func touchedLots(r *Run, original *account) []loyalty.LotChange {
	before := map[loyalty.ID]int64{}
	for _, l := range original.lots {
		before[l.ID] = l.Remaining
	}
	var changes []loyalty.LotChange
	for _, l := range r.Book.Lots() {
		if was := before[l.ID]; was != l.Remaining {
			changes = append(changes, loyalty.LotChange{Lot: *l, Before: was})
		}
	}
	slices.SortFunc(changes, func(a, b loyalty.LotChange) int {
		return points.SpendingOrder(&a.Lot, &b.Lot, r.Book.LastActivity, r.Book.Zone)
	})
	return changes
}

// Try applies an effect to copies that are thrown away, and returns the points it would bring. The
// verdicts of its rules stay, for a preview.
func Try(r *Run, apply func(*Run) error) (gained int64, err error) {
	trial := newTrial(r)
	err = apply(trial)
	r.work.trace = append(r.work.trace, trial.work.trace...)
	return trial.Book.Figures.Score - r.Book.Figures.Score, err
}

// newTrial makes a run on copies of everything that this one works on.
func newTrial(r *Run) *Run {
	now := *r.account
	now.customer.Figures, now.lots = r.Book.Figures, r.Book.Lots()
	w := &work{claims: slices.Clone(r.work.claims), coupons: make(map[string]*loyalty.Coupon, len(r.work.coupons)), tallies: maps.Clone(r.work.tallies), tracing: r.work.tracing, unseen: r.work.unseen}
	for code, c := range r.work.coupons {
		w.coupons[code] = c.Clone()
	}
	t := r.batch.openRun(r.Programme, &now, w)
	t.At, t.Data, t.stored = r.At, r.Data, r.stored
	event := *r.Event
	if event.Effects != nil { // of an event that is dated earlier
		own := *event.Effects
		event.Effects = &own
	}
	t.Event = &event
	w.events = []*loyalty.Event{t.Event}
	return t
}

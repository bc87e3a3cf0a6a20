package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// settleDue applies what came due before the event: expired lots and purchases
// whose acceptance date has come, in the order of their instants, by the same
// events that the job writes for idle customers.
func (r *Run) settleDue() error {
	due := r.Customer.DueAt
	if due.IsZero() || due.After(r.Now) || errors.Is(r.batch.engine.trusted(), loyalty.ErrClockOff) {
		return nil
	}
	for {
		at, apply := r.nextDue()
		if apply == nil {
			break
		}
		if err := r.onTime(at, apply); err != nil {
			return err
		}
	}
	if err := r.expireDue(r.Now, nil); err != nil {
		return err
	}
	if err := r.react(); err != nil {
		return err
	}
	r.Customer.DueAt = r.account.nextDue(r.Book, r.full)
	return nil
}

// nextDue is what came due first besides expiry, and how it is applied; nil:
// nothing did.
func (r *Run) nextDue() (at time.Time, apply func() error) {
	t, s := r.nextAcceptance(), r.nextProgress()
	switch {
	case t == nil && s == nil:
		return time.Time{}, nil
	case s == nil || (t != nil && !s.DueAt.Before(t.AutoAccept)):
		return t.AutoAccept, func() error { return r.decide(t) }
	}
	return s.DueAt, func() error { return r.batch.engine.feature(s.Kind).Due(r, s) }
}

// onTime applies what came due at its own instant, with the reactions to it, as
// if somebody had been there then.
func (r *Run) onTime(at time.Time, apply func() error) error {
	if err := r.expireDue(at, nil); err != nil {
		return err
	}
	was := r.At
	r.At = at
	defer func() { r.At = was }()
	if err := apply(); err != nil {
		return err
	}
	if err := r.react(); err != nil {
		return err
	}
	r.settle()
	return nil
}

// nextAcceptance is the pending purchase whose date came first; nil: none did.
func (r *Run) nextAcceptance() *loyalty.Transaction {
	var next *loyalty.Transaction
	for _, t := range r.account.transactions {
		if t.State != loyalty.Pending || t.AutoAccept.IsZero() || t.AutoAccept.After(r.Now) {
			continue
		}
		if next == nil || t.AutoAccept.Before(next.AutoAccept) || (t.AutoAccept.Equal(next.AutoAccept) && t.Name < next.Name) {
			next = t
		}
	}
	return next
}

// expireDue lets the free points of lots expire whose time has come, oldest
// instant first: one point_expire event an instant.
func (r *Run) expireDue(now time.Time, parent *loyalty.Event) error {
	r.settle() // debt comes before expiry
	due := r.Book.Due(now)
	for len(due) > 0 {
		at := due[0].Expiry(r.Book.LastActivity)
		n := slices.IndexFunc(due, func(l *points.Lot) bool { return !l.Expiry(r.Book.LastActivity).Equal(at) })
		if n < 0 {
			n = len(due)
		}
		r.expire(due[:n], at, parent)
		due = due[n:]
	}
	return nil
}

func (r *Run) expire(lots []*points.Lot, at time.Time, parent *loyalty.Event) {
	e := r.Append("point_expire", at)
	if parent != nil {
		e.Parent = parent.ID
	}
	portions := make([]points.Portion, len(lots))
	for i, l := range lots {
		portions[i] = points.Portion{Lot: l.ID, Points: r.Book.Expire(e.ID, l)}
	}
	total := points.Total(portions)
	e.Shown(-total)
	e.Data = loyalty.JSON(expiredPoints{total, portions})
	r.TraceInput(loyalty.Verdict{Rule: "expiry", Verdict: "applied", Reason: "reason.expired", Input: expiredOn(at, len(lots)), Points: -total})
}

// expiredPoints are the attributes of point_expire.
type expiredPoints struct {
	Points int64            `json:"points"`
	Lots   []points.Portion `json:"lots"`
}

package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// settleDue applies what came due before the event: expired lots and purchases whose acceptance date has passed, in the
// order of their dates. It writes the same events as the job that settles idle customers: they have no sender, although
// they are written with a request.
func settleDue(r *Run) error {
	due := r.Customer.DueAt
	if due.IsZero() || due.After(r.Now) || errors.Is(r.batch.rules.trusted(), loyalty.ErrClockOff) {
		return nil
	}

	sender := r.work.sender
	r.work.sender = ""
	defer func() { r.work.sender = sender }()
	for {
		at, apply := nextDue(r)
		if apply == nil {
			break
		}
		if err := onTime(r, at, apply); err != nil {
			return err
		}
	}

	if err := expireDue(r, r.Now, nil); err != nil {
		return err
	}
	if err := r.work.react(); err != nil {
		return err
	}

	r.Customer.DueAt = r.account.nextDue(r.Book, r.full)
	return nil
}

// nextDue returns the earliest due effect besides expiry, and the function that applies it; apply is nil if nothing is
// due.
func nextDue(r *Run) (at time.Time, apply func() error) {
	t, s := r.account.nextAcceptance(r.Now), r.account.nextProgress(r.Now)
	switch {
	case t == nil && s == nil:
		return time.Time{}, nil
	case s == nil || (t != nil && !s.DueAt.Before(t.AutoAccept)):
		return t.AutoAccept, func() error { return decidePending(r, t) }
	}
	return s.DueAt, func() error { return r.batch.rules.feature(s.Kind).Due(r, s) }
}

// onTime applies a due effect at its own instant, with the reactions to it, as if the customer had been settled then.
func onTime(r *Run, at time.Time, apply func() error) error {
	if err := expireDue(r, at, nil); err != nil {
		return err
	}

	was := r.At
	r.At = at
	defer func() { r.At = was }()
	if err := apply(); err != nil {
		return err
	}
	if err := r.work.react(); err != nil {
		return err
	}

	// Points that were given back to expired lots must not be there for the next due effect.
	return expireDue(r, at, nil)
}

// expireDue expires the free points of lots whose time has come, oldest instant first, with one
// point_expire event for each instant.
func expireDue(r *Run, now time.Time, parent *loyalty.Event) error {
	payDebt(r.Book) // debt is paid before points expire
	due := r.Book.Due(now)
	for len(due) > 0 {
		at := due[0].At
		n := slices.IndexFunc(due, func(l points.Expiring) bool { return !l.At.Equal(at) })
		if n < 0 {
			n = len(due)
		}
		expire(r, due[:n], at, parent)
		due = due[n:]
	}
	return nil
}

// expire writes one event for all lots that expire at an instant, because the customer sees one expiry. The portions
// tell the lots apart.
func expire(r *Run, lots []points.Expiring, at time.Time, parent *loyalty.Event) {
	e := r.Append("point_expire", at)
	if parent != nil {
		e.Parent = parent.ID
	}
	portions := make([]points.Portion, len(lots))
	for i, l := range lots {
		portions[i] = points.Portion{Lot: l.ID, Points: r.Book.Expire(e.ID, l.Lot)}
	}
	total := points.Total(portions)
	e.Shown(-total)
	e.Data = loyalty.JSON(expiredPoints{total, portions})
	r.TraceInput(loyalty.Verdict{Rule: "expiry", Verdict: "applied", Reason: "reason.expired",
		Input: expiredOn(at, len(lots)), Points: -total})
}

// expiredPoints are the attributes of point_expire.
type expiredPoints struct {
	Points int64            `json:"points"`
	Lots   []points.Portion `json:"lots"`
}

// expiredOn is the input of the expiry rule that a preview shows.
func expiredOn(at time.Time, lots int) map[string]any {
	return map[string]any{"expired_at": at.Format("2006-01-02T15:04:05.000Z07:00"), "lots": lots}
}

// payDebt pays debt from the points that a run brought, under its last posting.
func payDebt(b *points.Book) {
	if n := len(b.Postings); n > 0 {
		b.Settle(b.Postings[n-1].Event)
	}
}

package engine

import (
	"context"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Remind lets a rule look at customers without an event of theirs, and what reacts to the
// events that it writes. It is no activity of theirs. done is for how many it wrote some.
func (e *Engine) Remind(ctx context.Context, customers []loyalty.ID, rule func(*Run) error) (done int, failed []error, err error) {
	release, err := e.hold()
	if err != nil {
		return 0, nil, err
	}
	defer release()
	tickets := make([]*Ticket, len(customers))
	for i, id := range customers {
		t := e.Task(func(r *Run) error {
			if err := rule(r); err != nil {
				return err
			}
			return r.work.react()
		})
		t.needs = loyalty.CustomerNeeds{
			ID: id, Key: true, Lots: loyalty.OpenLots, Codes: true,
			Progress: loyalty.Kinds(loyalty.ProgressReminder, loyalty.ProgressTier, loyalty.ProgressChallenge),
		}
		tickets[i] = t
	}
	if err := e.process(ctx, tickets); err != nil && !repeatable(err) {
		return 0, nil, err
	}
	e.ended(tickets)
	for i, t := range tickets {
		switch err := t.result.Err; {
		case err != nil:
			failed = append(failed, fmt.Errorf("reminding %s: %w", customers[i], err))
		case len(t.result.Outcome.Events) > 0:
			done++
		}
	}
	return done, failed, nil
}

package engine

import (
	"context"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Remind runs a rule on customers without a submitted event, and the reactions to the events that
// the rule writes. It does not count as the customers' activity. done is the number of customers
// for whom it wrote any event.
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

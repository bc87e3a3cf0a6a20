package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Recalculate has a structure looked at again for some customers, for each of them once
// in a pass.
func (e *Engine) Recalculate(ctx context.Context, structure string, pass loyalty.ID, customers []loyalty.ID) (done int, failed []error, err error) {
	release, err := e.hold()
	if err != nil {
		return 0, nil, err
	}
	defer release()
	tickets := make([]*Ticket, len(customers))
	for i, id := range customers {
		key := loyalty.AnswerKey{AccessKey: jobKey, Key: "tier_recalculation/" + pass.String() + "/" + id.String()}
		t := e.Prepare(loyalty.Submission{
			Operation: true, Action: "tier_recalculation", Data: loyalty.JSON(map[string]string{"structure": structure}),
			Idempotency: &loyalty.Idempotency{AnswerKey: key, Render: func(loyalty.Outcome, error) (int, []byte) { return 0, nil }},
		})
		t.needs.ID, t.needs.Ref = id, loyalty.Name{}
		tickets[i] = t
	}
	if err := e.process(ctx, tickets); err != nil && !repeatable(err) {
		return 0, nil, err
	}
	for i, t := range tickets {
		switch err := t.result.Err; {
		case err == nil:
			done++
		case loyalty.AsError(err).Kind != loyalty.Refused && !errors.Is(err, loyalty.ErrCustomerNotFound): // who is not enrolled has no tiers
			failed = append(failed, fmt.Errorf("recalculating %s: %w", customers[i], err))
		}
	}
	return done, failed, nil
}

// jobKey stands for an access key where a job makes itself repeatable.
const jobKey = "job"

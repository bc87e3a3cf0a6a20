package job

import (
	"context"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/reminder"
)

// remindPage is how many customers are read at a time.
const remindPage = 500

// remind looks at all customers, page by page, and lets the rules write the reminders that are due. A written reminder
// is kept with its customer, so that neither a run after a kill nor another node repeats it.
func remind(ctx context.Context, j *Jobs, s *shift) error {
	p := j.engine.Programme()
	if p.Reminders.None() {
		return nil
	}

	var after loyalty.ID
	for ctx.Err() == nil {
		page, err := j.store.Remindable(ctx, after, remindPage)
		if err != nil || len(page) == 0 {
			return err
		}

		after = page[len(page)-1].Customer
		var wanted []loyalty.ID
		for i := range page {
			due, err := reminder.Wanted(p, j.engine.Now(), &page[i])
			if err != nil {
				s.count(0, fmt.Errorf("reminding %s: %w", page[i].Customer, err))
			}
			if due {
				wanted = append(wanted, page[i].Customer)
			}
		}

		for len(wanted) > 0 && ctx.Err() == nil {
			err := j.engine.InBackground(ctx, func(most int) (int, error) {
				some := wanted[:min(len(wanted), most)]
				wanted = wanted[len(some):]
				done, failed, err := j.engine.Remind(ctx, some, reminder.Remind)
				s.count(done, failed...)
				return len(some), err
			})
			if err != nil {
				return err
			}
		}
	}

	return ctx.Err()
}

package job

import (
	"context"
	"time"
)

// Turn is one look of the background at a job, for tests that turn the clock
// themselves: it does the job if it is due, and says how long to sleep then.
func (j *Jobs) Turn(ctx context.Context, name string) time.Duration { return j.turn(ctx, name, false) }

package job

import (
	"context"
)

// settle applies what is due for customers that nobody touches.
func settle(ctx context.Context, j *Jobs, s *shift) error { return j.engine.SettleAll(ctx, s.count) }

package job

import (
	"context"
)

// settle applies what is due for customers without events of their own.
func settle(ctx context.Context, j *Jobs, s *shift) error { return j.engine.SettleAll(ctx, s.count) }

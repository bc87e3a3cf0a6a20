package job

import (
	"context"
)

// anchor stores an anchor of the ledger and reports it.
func anchor(ctx context.Context, j *Jobs, s *shift) error {
	a, err := j.store.Anchor(ctx, j.engine.Now())
	if err == nil {
		j.anchored(a)
	}
	return s.once(err)
}

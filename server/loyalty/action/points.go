package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// notEnough refuses to take more points than can be spent.
func notEnough(r *engine.Run, n int64) error {
	return r.NotEnough(n).At("data.points")
}

// outOfRange names the property when points leave the range that a balance can
// hold.
func outOfRange(err error) error {
	if err == nil {
		return nil
	}
	return loyalty.ErrTooLarge.With("property", "points").At("data.points").Because(err)
}

// earnOptional gives the points that a visit or a video may carry. It refuses them for an inactive customer, who is not
// enrolled.
func earnOptional(r *engine.Run, n *int64) error {
	if n == nil {
		return nil
	}
	// checked here and not by the action's standing, because the visit itself is recorded for inactive customers too
	if r.Customer.Status == loyalty.Inactive {
		return loyalty.ErrWrongStatus.With("status", string(r.Customer.Status)).With("action", r.Event.Action).
			At("data.points")
	}
	return r.Earn(r.Event, *n, "")
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

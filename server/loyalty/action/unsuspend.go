package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// unsuspend lets a suspended customer spend again.
var unsuspend = loyalty.Action[events.UnsuspendData]{
	Name:  "unsuspend",
	Apply: func(r *loyalty.Run, _ events.UnsuspendData) error { return r.Move("unsuspend") },
}

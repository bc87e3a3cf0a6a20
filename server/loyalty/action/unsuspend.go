package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// unsuspend lets a suspended customer spend again.
var unsuspend = engine.Action[events.UnsuspendData]{
	Name:  "unsuspend",
	Apply: func(r *engine.Run, _ events.UnsuspendData) error { return r.Move("unsuspend") },
}

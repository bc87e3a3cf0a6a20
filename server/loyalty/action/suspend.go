package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// suspend stops an active customer from spending; earning goes on.
var suspend = engine.Action[events.SuspendData]{
	Name:  "suspend",
	Apply: func(r *engine.Run, _ events.SuspendData) error { return r.Move("suspend") },
}

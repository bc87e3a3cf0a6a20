package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// suspend stops an active customer from spending; earning goes on.
var suspend = loyalty.Action[events.SuspendData]{
	Name:  "suspend",
	Apply: func(r *loyalty.Run, _ events.SuspendData) error { return r.Move("suspend") },
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// pending_invalidate drops a held event: it never happens, and a purchase is
// rejected.
var pendingInvalidate = loyalty.Action[events.PendingInvalidateData]{
	Name: "pending_invalidate",
	Needs: func(_ events.PendingInvalidateData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Progress = loyalty.HeldLots, loyalty.Kinds(loyalty.ProgressHeld)
	},
	Apply: func(r *loyalty.Run, d events.PendingInvalidateData) error { return r.InvalidateHeld(d.Event) },
}

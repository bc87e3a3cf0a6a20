package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// pending_invalidate drops a held event, which then never happens; a purchase is rejected.
var pendingInvalidate = engine.Action[events.PendingInvalidateData]{
	Name: "pending_invalidate",
	Needs: func(_ events.PendingInvalidateData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Progress = loyalty.HeldLots, loyalty.Kinds(loyalty.ProgressHeld)
	},
	Apply: func(r *engine.Run, d events.PendingInvalidateData) error { return purchase.InvalidateHeld(r, d.Event) },
}

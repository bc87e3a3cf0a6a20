package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// pending_expired drops pending points of held events, the oldest first. The platform writes the same event when a held
// event was not decided in time.
var pendingExpired = engine.Action[events.PendingExpiredData]{
	Name: "pending_expired",
	Needs: func(_ events.PendingExpiredData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Progress = loyalty.HeldLots, loyalty.Kinds(loyalty.ProgressHeld)
	},
	Apply: func(r *engine.Run, d events.PendingExpiredData) error { return purchase.ExpirePending(r, d.Points) },
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// pending_expired drops pending points of held events, the oldest first. The
// platform writes the same event when a held event was not decided in time.
var pendingExpired = loyalty.Action[events.PendingExpiredData]{
	Name: "pending_expired",
	Needs: func(_ events.PendingExpiredData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Progress = loyalty.HeldLots, loyalty.Kinds(loyalty.ProgressHeld)
	},
	Apply: func(r *loyalty.Run, d events.PendingExpiredData) error { return r.ExpirePending(d.Points) },
}

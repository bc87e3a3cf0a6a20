package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// pending_validate applies a held event now; a purchase becomes accepted. The gates of the held action decide whether
// the customer may do it.
var pendingValidate = engine.Action[events.PendingValidateData]{
	Name: "pending_validate",
	Needs: func(_ events.PendingValidateData, n *loyalty.CustomerNeeds) {
		// the key opens the held attributes, which are sealed
		n.Lots, n.Key, n.Progress = loyalty.HeldLots, true, loyalty.Kinds(loyalty.ProgressHeld)
	},
	Apply: func(r *engine.Run, d events.PendingValidateData) error { return purchase.ValidateHeld(r, d.Event) },
}

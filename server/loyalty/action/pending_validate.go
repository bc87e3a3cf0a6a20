package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// pending_validate lets a held event happen, now: a purchase becomes accepted.
// Whether the customer may do it is asked of the held action.
var pendingValidate = engine.Action[events.PendingValidateData]{
	Name: "pending_validate",
	Needs: func(_ events.PendingValidateData, n *loyalty.CustomerNeeds) {
		// the key: what was held is sealed, and is opened to be decided
		n.Lots, n.Key, n.Progress = loyalty.HeldLots, true, loyalty.Kinds(loyalty.ProgressHeld)
	},
	Apply: func(r *engine.Run, d events.PendingValidateData) error { return purchase.ValidateHeld(r, d.Event) },
}

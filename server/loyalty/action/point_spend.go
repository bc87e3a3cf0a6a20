package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// point_spend takes points from the balance; the score stays.
var pointSpend = engine.Action[events.PointSpendData]{
	Name: "point_spend", Standing: engine.Spender,
	// all open lots: those that expire first are spent first
	Needs: func(_ events.PointSpendData, n *loyalty.CustomerNeeds) { n.Lots = loyalty.OpenLots },
	Apply: func(r *engine.Run, d events.PointSpendData) error {
		if _, err := r.Book.Spend(r.Event.ID, d.Points); err != nil {
			return notEnough(r, d.Points)
		}
		r.Event.Shown(-d.Points)
		r.Trace("spend", "applied", "reason.spent", -d.Points)
		return nil
	},
}

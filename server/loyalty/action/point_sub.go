package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// point_sub takes points away: from the balance and from the score. It is a
// correction, so it may leave a debt unless the programme refuses that.
var pointSub = engine.Action[events.PointSubData]{
	Name: "point_sub", Standing: engine.Earner,
	Needs: func(_ events.PointSubData, n *loyalty.CustomerNeeds) { n.Lots = loyalty.OpenLots },
	Apply: func(r *engine.Run, d events.PointSubData) error {
		// only here: point_spend always needs the points
		if r.Programme.Economy.NegativeRefuse && d.Points > r.Book.Figures.Spendable() {
			return loyalty.ErrNegativeRefused.At("data.points")
		}
		r.Event.Shown(-d.Points)
		r.Trace("take", "applied", "reason.taken", -d.Points)
		return outOfRange(r.Book.Take(r.Event.ID, d.Points))
	},
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// point_unspend gives spent points back to the lots they came from; the score stays. Points of a lot that has expired
// meanwhile expire at once.
var pointUnspend = engine.Action[events.PointUnspendData]{
	Name: "point_unspend", Standing: engine.Earner,
	// used-up lots too: they are the ones that were spent
	Needs: func(_ events.PointUnspendData, n *loyalty.CustomerNeeds) { n.Lots = loyalty.UsedLots },
	Apply: func(r *engine.Run, d events.PointUnspendData) error {
		spent := r.Book.Figures.Spent
		if err := r.Book.Unspend(r.Event.ID, d.Points); err != nil {
			return loyalty.ErrUnspendTooMuch.With("spent", spent).At("data.points")
		}
		r.Event.Shown(d.Points)
		r.Trace("unspend", "applied", "reason.unspent", d.Points)
		return nil
	},
}

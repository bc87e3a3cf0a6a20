package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// point_add gives points: they add to the balance and to the all-time score.
var pointAdd = engine.Action[events.PointAddData]{
	// no lots are needed: what is earned is a lot of its own, and the figures tell the debt that it pays
	Name: "point_add", Standing: engine.Earner,
	Apply: func(r *engine.Run, d events.PointAddData) error {
		return r.Earn(r.Event, d.Points, "")
	},
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// point_add gives points: they add to the balance and to the all-time score.
var pointAdd = engine.Action[events.PointAddData]{
	// no lots are needed: the points are a new lot, and the figures show the debt that it pays
	Name: "point_add", Standing: engine.Earner,
	Apply: func(r *engine.Run, d events.PointAddData) error {
		return r.Earn(r.Event, d.Points, "")
	},
}

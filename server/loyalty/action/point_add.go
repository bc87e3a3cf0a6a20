package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// point_add gives points: they add to the balance and to the all-time score.
var pointAdd = loyalty.Action[events.PointAddData]{
	Name: "point_add", Standing: loyalty.Earner,
	Apply: func(r *loyalty.Run, d events.PointAddData) error {
		return r.Earn(r.Event, d.Points, "")
	},
}

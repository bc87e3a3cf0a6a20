package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// visit records that the customer visited a page; it may carry points.
var visit = engine.Action[events.VisitData]{
	Name:  "visit",
	Apply: func(r *engine.Run, d events.VisitData) error { return earnOptional(r, d.Points) },
}

package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// video records that the customer watched a video; it may carry points.
var video = engine.Action[events.VideoData]{
	Name:  "video",
	Apply: func(r *engine.Run, d events.VideoData) error { return earnOptional(r, d.Points) },
}

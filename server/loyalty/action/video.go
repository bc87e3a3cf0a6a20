package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// video records that the customer watched a video; it may carry points.
var video = loyalty.Action[events.VideoData]{
	Name:  "video",
	Apply: func(r *loyalty.Run, d events.VideoData) error { return earnOptional(r, d.Points) },
}

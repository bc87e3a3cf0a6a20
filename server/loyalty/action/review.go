package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// review records a review in the older form, without its text. Campaigns and
// challenges may reward it.
var review = engine.Action[events.ReviewData]{
	Name:  "review",
	Apply: func(*engine.Run, events.ReviewData) error { return nil },
}

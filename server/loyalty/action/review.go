package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// review records a review in the older form, without its text. Campaigns and
// challenges may reward it.
var review = loyalty.Action[events.ReviewData]{
	Name:  "review",
	Apply: func(*loyalty.Run, events.ReviewData) error { return nil },
}

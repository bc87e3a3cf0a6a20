package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// review_submit records a review of a product; its text is personal. Campaigns
// and challenges may reward it.
var reviewSubmit = engine.Action[events.ReviewSubmitData]{
	Name:  "review_submit",
	Apply: func(*engine.Run, events.ReviewSubmitData) error { return nil },
}

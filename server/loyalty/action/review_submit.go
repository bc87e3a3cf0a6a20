package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// review_submit records a review of a product; its text is personal. Campaigns
// and challenges may reward it.
var reviewSubmit = loyalty.Action[events.ReviewSubmitData]{
	Name:  "review_submit",
	Apply: func(*loyalty.Run, events.ReviewSubmitData) error { return nil },
}

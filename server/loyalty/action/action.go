// Package action holds the actions of the Events API, one file each. An action
// declares what it needs, reads it from the run, decides, and records effects;
// it writes nothing itself.
package action

import "github.com/loyalty-platform/loyalty/server/loyalty"

// All lists the submittable actions by name. A test holds the list against the
// Events document in both directions.
func All() []loyalty.Rule {
	return []loyalty.Rule{
		checkout,
		checkoutAccept,
		checkoutReject,
		checkoutUpdate,
		optIn,
		optOut,
		partialRefund,
		pointAdd,
		pointSpend,
		pointSub,
		pointUnspend,
		profile,
		refund,
		refundItem,
		releasePoints,
		reservePoints,
		subscribe,
		suspend,
		unsuspend,
		video,
		visit,
	}
}

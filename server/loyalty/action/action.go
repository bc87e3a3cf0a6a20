// Package action holds the actions of the Events API, one file each. An action
// declares what it needs, reads it from the run, decides, and records effects;
// it writes nothing itself.
package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// All lists the submittable actions by name. A test compares the list with the Events document in both directions.
func All() []engine.Rule {
	return []engine.Rule{
		balanceImport,
		challengeReset,
		checkout,
		checkoutAccept,
		checkoutClaim,
		checkoutReject,
		checkoutUpdate,
		contestEnter,
		contestEntryRevoke,
		giftCoupon,
		couponCreate,
		couponInvalidate,
		couponRedeem,
		couponTransfer,
		couponUnredeem,
		merge,
		offerClaim,
		offerRedeem,
		offerUnredeem,
		offlineTreasureCodeFound,
		offlineTreasureFound,
		optIn,
		optOut,
		partialRefund,
		pendingExpired,
		pendingInvalidate,
		pendingValidate,
		pointAdd,
		pointSpend,
		pointSub,
		pointUnspend,
		prizeWheelSpin,
		profile,
		profileAnswer,
		quizAnswer,
		refund,
		refundItem,
		releasePoints,
		reservePoints,
		review,
		reviewSubmit,
		rewardClaim,
		rewardRedeem,
		rewardRevoke,
		rewardTransfer,
		subscribe,
		suspend,
		tierChange,
		tierRecalculation,
		treasureFound,
		unassignCoupon,
		unsuspend,
		verifyCustomer,
		video,
		visit,
		visualSearch,
	}
}

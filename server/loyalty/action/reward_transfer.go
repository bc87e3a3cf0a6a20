package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// reward_transfer passes the newest claim of a reward on, with its coupon.
var rewardTransfer = engine.Action[events.RewardTransferData]{
	Name: "reward_transfer", Standing: engine.Spender,
	Needs: func(_ events.RewardTransferData, n *loyalty.CustomerNeeds) {
		n.Key = true // the event is sealed anew, without the receiver
		n.Claims, n.Progress = true, loyalty.Kinds(loyalty.ProgressReward)
	},
	Check: func(d events.RewardTransferData) error { return checkAddressee(d.Target, d.Email) },
	Apply: func(r *engine.Run, d events.RewardTransferData) error {
		return reward.Transfer(r, deref(d.Reward), coupon.Addressee{Target: deref(d.Target), Email: deref(d.Email)})
	},
}

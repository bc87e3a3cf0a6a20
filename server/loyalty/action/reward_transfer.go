package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// reward_transfer passes the newest claim of a reward on, with its coupon.
var rewardTransfer = loyalty.Action[events.RewardTransferData]{
	Name: "reward_transfer", Standing: loyalty.Spender,
	Needs: func(_ events.RewardTransferData, n *loyalty.CustomerNeeds) {
		n.Key = true // the event is sealed anew, without the receiver
		n.Claims, n.Progress = true, loyalty.Kinds(loyalty.ProgressReward)
	},
	Check: func(d events.RewardTransferData) error { return checkAddressee(d.Target, d.Email) },
	Apply: func(r *loyalty.Run, d events.RewardTransferData) error {
		return r.TransferReward(deref(d.Reward), loyalty.Addressee{Target: deref(d.Target), Email: deref(d.Email)})
	},
}

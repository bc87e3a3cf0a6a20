package loyalty

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// ClaimState is where a claimed reward stands.
type ClaimState string

// The states of a claimed reward.
const (
	ClaimClaimed     ClaimState = "claimed"
	ClaimRedeemed    ClaimState = "redeemed"    // handed out
	ClaimRevoked     ClaimState = "revoked"     // points back, coupon invalid
	ClaimTransferred ClaimState = "transferred" // another customer has it now
)

// RewardClaim is a reward that a customer took. Its id is that of the event
// that records the claim.
type RewardClaim struct {
	ID        ID
	Customer  ID // of the row: who claimed or received it
	Reward    string
	State     ClaimState
	Points    int64  // what it cost
	Award     int64  // points it gave
	Coupon    string // the code it gave; empty: none
	ClaimedAt time.Time
	UpdatedAt time.Time
	Burn      []points.Portion // the lots that paid, less what came back

	Dirty bool
}

// ClaimMoves is the table of states of a claimed reward: trigger, state before,
// state after.
var ClaimMoves = map[string]map[ClaimState]ClaimState{
	"redeem":   {ClaimClaimed: ClaimRedeemed},
	"revoke":   {ClaimClaimed: ClaimRevoked, ClaimRedeemed: ClaimRevoked},
	"transfer": {ClaimClaimed: ClaimTransferred},
}

// Move leads the claim along the table of states, or refuses with
// ErrForbiddenState naming both states.
func (c *RewardClaim) Move(trigger string) error {
	next, ok := ClaimMoves[trigger][c.State]
	if !ok {
		aims := map[string]ClaimState{"redeem": ClaimRedeemed, "revoke": ClaimRevoked, "transfer": ClaimTransferred}
		return ErrForbiddenState.With("from", string(c.State)).With("to", string(aims[trigger])).At("data.event")
	}
	c.State = next
	return nil
}

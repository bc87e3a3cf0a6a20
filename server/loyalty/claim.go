package loyalty

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// ClaimState is the state of a claimed reward.
type ClaimState string

// The states of a claimed reward.
const (
	ClaimClaimed     ClaimState = "claimed"
	ClaimRedeemed    ClaimState = "redeemed"    // handed out
	ClaimRevoked     ClaimState = "revoked"     // points back, coupon invalid
	ClaimTransferred ClaimState = "transferred" // another customer has it now
)

// RewardClaim is a reward that a customer took. Its id is that of the event that records the claim. As JSON it is the
// effect of an event: the complete claim after the event.
type RewardClaim struct {
	ID        ID               `json:"id"`
	Customer  ID               `json:"customer"` // of the row: the customer who claimed or received it
	Reward    string           `json:"reward"`
	State     ClaimState       `json:"state"`
	Points    int64            `json:"points,omitempty"` // what it cost
	Award     int64            `json:"award,omitempty"`  // points it gave
	Coupon    string           `json:"coupon,omitempty"` // the code it gave; empty: none
	ClaimedAt time.Time        `json:"claimed_at"`
	UpdatedAt time.Time        `json:"-"`              // when its last event was recorded
	Burn      []points.Portion `json:"burn,omitempty"` // the lots that paid, less what came back

	Dirty bool `json:"-"`
}

// ClaimMoves is the table of states of a claimed reward: trigger, state before,
// state after.
var ClaimMoves = map[string]map[ClaimState]ClaimState{
	"redeem":   {ClaimClaimed: ClaimRedeemed},
	"revoke":   {ClaimClaimed: ClaimRevoked, ClaimRedeemed: ClaimRevoked},
	"transfer": {ClaimClaimed: ClaimTransferred},
}

// Move changes the state by the table. It fails with ErrForbiddenState, which names both states.
func (c *RewardClaim) Move(trigger string) error {
	next, ok := ClaimMoves[trigger][c.State]
	if !ok {
		aims := map[string]ClaimState{"redeem": ClaimRedeemed, "revoke": ClaimRevoked, "transfer": ClaimTransferred}
		return ErrForbiddenState.With("from", string(c.State)).With("to", string(aims[trigger])).At("data.event")
	}
	c.State = next
	return nil
}

// Tally is a count that all customers share, such as how often a reward was
// claimed in all. As JSON it is the effect of an event: what the event added.
type Tally struct {
	Key   string `json:"key"`
	Count int64  `json:"n"`
}

// The keys of tallies: what is counted, then the entity's id.
const (
	TallyReward   = "reward/"   // claims that stand
	TallyCampaign = "campaign/" // how often it gave
	TallyOffer    = "offer/"    // redemptions that stand
)

// CustomerListType is the entity type of customer lists.
const CustomerListType = "core/customer-list"

// RewardType is the type of rewards, which customers claim.
const RewardType = "rewards/reward"

// ProductType is the type of products. The programme keeps no stock and no price of them.
const ProductType = "products/product"

// Membership puts a customer on a list, or takes them off it. Lists have nothing to do with points and are no part of
// the journal.
type Membership struct {
	List     string
	Customer ID
	Gone     bool
}

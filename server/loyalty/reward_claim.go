package loyalty

import (
	"errors"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// claimMoves is the table of states of a claimed reward: trigger, state before,
// state after.
var claimMoves = map[string]map[ClaimState]ClaimState{
	"redeem":   {ClaimClaimed: ClaimRedeemed},
	"revoke":   {ClaimClaimed: ClaimRevoked, ClaimRedeemed: ClaimRevoked},
	"transfer": {ClaimClaimed: ClaimTransferred},
}

// Move leads the claim along the table of states, or refuses with
// ErrForbiddenState naming both states.
func (c *RewardClaim) Move(trigger string) error {
	next, ok := claimMoves[trigger][c.State]
	if !ok {
		aims := map[string]ClaimState{"redeem": ClaimRedeemed, "revoke": ClaimRevoked, "transfer": ClaimTransferred}
		return ErrForbiddenState.With("from", string(c.State)).With("to", string(aims[trigger])).At("data.event")
	}
	c.State = next
	return nil
}

// RewardStanding is a customer's progress with one reward (ProgressReward).
type RewardStanding struct {
	// Claims of theirs that stand: what max_claims counts. A claim that was passed
	// on still counts, one that was received does not.
	Claims        int64     `json:"claims"`
	LastClaimedAt time.Time `json:"last_claimed_at"`
	// Received are claims that another customer made.
	Received []ID `json:"received,omitempty"`
	// Coupons are codes of this reward that came alone, by coupon_transfer.
	Coupons []string `json:"coupons,omitempty"`
}

// Merge adds what another account of the same person stands for.
func (s *RewardStanding) Merge(o RewardStanding) {
	s.Claims += o.Claims
	if o.LastClaimedAt.After(s.LastClaimedAt) {
		s.LastClaimedAt = o.LastClaimedAt
	}
	s.Received = append(slices.Clip(s.Received), o.Received...)
	s.Coupons = append(slices.Clip(s.Coupons), o.Coupons...)
}

// RewardStanding reads the customer's progress with a reward; zero where there is
// none.
func (r *Run) RewardStanding(reward string) (s RewardStanding, err error) {
	_, err = r.Progress(ProgressReward, reward, &s)
	return s, err
}

func (r *Run) setRewardStanding(e *Event, reward string, s RewardStanding) error {
	if s.Claims == 0 && len(s.Received) == 0 && len(s.Coupons) == 0 {
		return r.SetProgress(e, ProgressKey{ProgressReward, reward}, nil, time.Time{})
	}
	return r.SetProgress(e, ProgressKey{ProgressReward, reward}, s, time.Time{})
}

// ClaimResult is what a claim gave, as the claim endpoint answers it.
type ClaimResult struct {
	ID            ID        `json:"id"` // of the claim, and of the event reward_claim
	Reward        string    `json:"reward"`
	Spent         int64     `json:"spent"` // points it cost
	Award         int64     `json:"award"` // points it gave; only of the type points
	LastClaimedAt time.Time `json:"last_claimed_at"`
	Coupon        *Coupon   `json:"coupon"` // nil: it gives none
}

// rewardClaimed are the attributes of reward_claim.
type rewardClaimed struct {
	Reward string `json:"reward"`
}

// ClaimReward gives this customer a reward for cost points: stock, points, coupon
// and event in one. parent is the event that brings it, such as a spin, whose
// child reward_claim becomes; nil: the claim itself was submitted. It fails with
// ErrRewardInactive (160321), ErrRewardLimit (120211), ErrRewardStock or
// ErrPoolEmpty (120212), ErrRewardSegment (120213), ErrRewardPoints (120241), in
// this order.
func (r *Run) ClaimReward(reward *Reward, cost int64, parent *Event) (*ClaimResult, error) {
	standing, err := r.mayClaim(reward, cost)
	if err != nil {
		return nil, err
	}
	e := r.Event
	if parent != nil {
		e = r.Derive(parent, "reward_claim", rewardClaimed{reward.ID})
	}
	claim := &RewardClaim{ID: e.ID, Customer: r.Customer.ID, Reward: reward.ID, State: ClaimClaimed, Points: cost, ClaimedAt: r.At}
	if claim.Burn, err = r.payReward(e, cost); err != nil {
		return nil, err
	}
	result := &ClaimResult{ID: e.ID, Reward: reward.ID, Spent: cost, LastClaimedAt: r.At}
	if err := r.give(e, reward, claim, result); err != nil {
		return nil, err
	}
	standing.Claims, standing.LastClaimedAt = standing.Claims+1, r.At
	if err := r.setRewardStanding(e, reward.ID, standing); err != nil {
		return nil, err
	}
	r.ChangedClaim(e, claim)
	r.Trace("reward", "applied", "reason.claimed", result.Award-cost)
	return result, r.Count(e, TallyReward+reward.ID, 1)
}

// mayClaim holds a claim against the programme's rules, in the order in which the
// contract lists them.
func (r *Run) mayClaim(reward *Reward, cost int64) (RewardStanding, error) {
	needs := CustomerNeeds{Progress: Kinds(ProgressReward), Tallies: []string{TallyReward + reward.ID}}
	if cost > 0 {
		needs.Lots = OpenLots
	}
	if err := r.require(needs); err != nil {
		return RewardStanding{}, err
	}
	standing, err := r.RewardStanding(reward.ID)
	if err != nil {
		return standing, err
	}
	given, err := r.Tally(TallyReward + reward.ID)
	if err != nil {
		return standing, err
	}
	switch {
	case reward.Status(r.At) != StatusActive:
		return standing, r.refuseReward(reward, "reason.not_active", ErrRewardInactive)
	case reward.MaxClaims != nil && standing.Claims >= *reward.MaxClaims:
		return standing, r.refuseReward(reward, "reason.limit", ErrRewardLimit.With("limit", *reward.MaxClaims))
	case reward.Stock != nil && given >= *reward.Stock:
		return standing, r.refuseReward(reward, "reason.stock", ErrRewardStock)
	}
	member, err := r.memberOfAny(reward.Segments)
	switch {
	case err != nil:
		return standing, err
	case !member:
		return standing, r.refuseReward(reward, "reason.segment", ErrRewardSegment)
	case cost > max(0, r.Book.Figures.Spendable()): // what is free needs no balance, nor that it is not below zero
		return standing, r.refuseReward(reward, "reason.not_enough", ErrRewardPoints.With("points", cost))
	}
	return standing, nil
}

func (r *Run) refuseReward(reward *Reward, reason string, err error) error {
	r.TraceInput(Verdict{Rule: "reward", Verdict: "refused", Reason: reason, Input: map[string]any{"reward": reward.ID}})
	return err
}

// memberOfAny says whether the customer is in one of the segments; everybody is
// where there are none.
func (r *Run) memberOfAny(segments []string) (bool, error) {
	for _, id := range segments {
		s := Segments.Of(r.Programme)[id]
		if s == nil {
			continue
		}
		if in, err := r.member(s); in || err != nil {
			return in, err
		}
	}
	return len(segments) == 0, nil
}

// payReward spends the price on the claim's own event and says which lots paid.
func (r *Run) payReward(e *Event, cost int64) ([]points.Portion, error) {
	if cost == 0 {
		return nil, nil
	}
	e.Shown(-cost)
	burn, err := r.Book.Spend(e.ID, cost)
	if errors.Is(err, points.ErrInsufficient) {
		err = ErrRewardPoints.With("points", cost)
	}
	return burn, err
}

// give hands out what the type of the reward says.
func (r *Run) give(e *Event, reward *Reward, claim *RewardClaim, result *ClaimResult) (err error) {
	switch reward.Type {
	case RewardPoints:
		if err = r.Earn(e, reward.Award, ""); err == nil {
			result.Award, claim.Award = reward.Award, reward.Award
			e.Shown(reward.Award - claim.Points)
		}
	case RewardCoupon:
		if result.Coupon, err = r.IssueCoupon(e, reward.source()); err == nil {
			claim.Coupon = result.Coupon.Code
		}
	}
	return err
}

// RewardFeature is the module rewards.
var RewardFeature = Feature{
	Name: "rewards", Progress: ProgressReward, Join: JoinBy(func(a *RewardStanding, b RewardStanding) { a.Merge(b) }),
}

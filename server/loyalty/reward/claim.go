package reward

import (
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// ClaimResult is the outcome of a claim, as the claim endpoint returns it.
type ClaimResult struct {
	ID            loyalty.ID      `json:"id"` // of the claim, and of the event reward_claim
	Reward        string          `json:"reward"`
	Spent         int64           `json:"spent"` // points it cost
	Award         int64           `json:"award"` // points that it gave, if the type is points
	LastClaimedAt time.Time       `json:"last_claimed_at"`
	Coupon        *loyalty.Coupon `json:"coupon"` // nil: it gives none
}

// rewardClaimed are the attributes of reward_claim.
type rewardClaimed struct {
	Reward string `json:"reward"`
}

// Claim gives this customer a reward for cost points, taking stock, points and coupon in one step. parent is the event
// that led to it, such as a spin, and becomes the parent of reward_claim; it is nil if the claim itself was submitted.
// It fails with ErrRewardInactive (160321), ErrRewardLimit (120211), ErrRewardStock or ErrPoolEmpty (120212),
// ErrRewardSegment (120213), ErrRewardPoints (120241), in this order.
func Claim(r *engine.Run, reward *Reward, cost int64, parent *loyalty.Event) (*ClaimResult, error) {
	if cost > 0 { // the price is spent lot by lot
		if err := r.Require(loyalty.CustomerNeeds{Lots: loyalty.OpenLots}); err != nil {
			return nil, err
		}
	}

	standing, err := MayClaim(r, reward, cost)
	if err != nil {
		return nil, err
	}

	e := r.Event
	if parent != nil {
		e = r.Derive(parent, "reward_claim", rewardClaimed{reward.ID})
	}

	// the claim keeps its price and the lots that paid it, so that a revocation returns exactly those, even if the
	// reward costs something else by then
	claim := &loyalty.RewardClaim{ID: e.ID, Customer: r.Customer.ID, Reward: reward.ID, State: loyalty.ClaimClaimed,
		Points: cost, ClaimedAt: r.At}
	if claim.Burn, err = payReward(r, e, cost); err != nil {
		return nil, err
	}

	result := &ClaimResult{ID: e.ID, Reward: reward.ID, Spent: cost, LastClaimedAt: r.At}
	if err := give(r, e, reward, claim, result); err != nil {
		return nil, err
	}

	standing.Claims, standing.LastClaimedAt = standing.Claims+1, r.At
	if err := r.Claims().SetStanding(e, reward.ID, standing); err != nil {
		return nil, err
	}

	r.Claims().Changed(e, claim)
	r.Trace("reward", "applied", "reason.claimed", result.Award-cost)
	return result, r.Tallies().Add(e, loyalty.TallyReward+reward.ID, 1)
}

// MayClaim checks a claim against the programme's rules, in the order in which the contract lists
// their errors. Previews and the lists of rewards call it too, so it must not change anything.
func MayClaim(r *engine.Run, reward *Reward, cost int64) (engine.RewardStanding, error) {
	needs := loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressReward),
		Tallies: []string{loyalty.TallyReward + reward.ID}}
	if err := r.Require(needs); err != nil {
		return engine.RewardStanding{}, err
	}

	standing, err := r.Claims().Standing(reward.ID)
	if err != nil {
		return standing, err
	}

	given, err := r.Tallies().Of(loyalty.TallyReward + reward.ID)
	if err != nil {
		return standing, err
	}

	switch {
	case reward.Status(r.At) != loyalty.StatusActive:
		return standing, refuseReward(r, reward, "reason.not_active", loyalty.ErrRewardInactive)
	case reward.MaxClaims != nil && standing.Claims >= *reward.MaxClaims:
		return standing, refuseReward(r, reward, "reason.limit", loyalty.ErrRewardLimit.With("limit", *reward.MaxClaims))
	// of two claims of the last piece at once, the guard of the count decides: one begins again and is refused here
	case reward.Stock != nil && given >= *reward.Stock:
		return standing, refuseReward(r, reward, "reason.stock", loyalty.ErrRewardStock)
	}

	// nearly last, because it may evaluate conditions on facts that have to be loaded
	member, err := r.MemberOfAny(reward.Segments)
	switch {
	case err != nil:
		return standing, err
	case !member:
		return standing, refuseReward(r, reward, "reason.segment", loyalty.ErrRewardSegment)
	case cost > max(0, r.Book.Figures.Spendable()): // a free reward needs no balance, not even one of 0 or more
		return standing, refuseReward(r, reward, "reason.not_enough", loyalty.ErrRewardPoints.With("points", cost))
	}

	return standing, nil
}

func refuseReward(r *engine.Run, reward *Reward, reason string, err error) error {
	r.TraceInput(loyalty.Verdict{Rule: "reward", Verdict: "refused", Reason: reason,
		Input: map[string]any{"reward": reward.ID}})
	return err
}

// payReward spends the price on the claim's own event and returns the lots that paid, because a revoked claim gives the
// points back to them.
func payReward(r *engine.Run, e *loyalty.Event, cost int64) ([]points.Portion, error) {
	if cost == 0 {
		return nil, nil
	}
	e.Shown(-cost)
	burn, err := r.Book.Spend(e.ID, cost)
	if errors.Is(err, points.ErrInsufficient) {
		err = loyalty.ErrRewardPoints.With("points", cost)
	}
	return burn, err
}

// give hands out what the type of the reward gives.
func give(
	r *engine.Run, e *loyalty.Event, reward *Reward, claim *loyalty.RewardClaim, result *ClaimResult,
) (err error) {
	switch reward.Type {
	case RewardPoints:
		// the lot belongs to no purchase: no refund takes it, only the claim's own revocation
		if r.Earn(e, reward.Award, "") != nil {
			return engine.TooMany("the reward " + reward.ID)
		}
		result.Award, claim.Award = reward.Award, reward.Award
		e.Shown(reward.Award - claim.Points)
	case RewardCoupon:
		if result.Coupon, err = coupon.Issue(r, e, reward.Source()); err == nil {
			claim.Coupon = result.Coupon.Code
		}
	}

	return err
}

// RewardFeature is the module rewards.
var RewardFeature = engine.Feature{
	Name: "rewards", Progress: loyalty.ProgressReward,
	Join: engine.JoinBy(func(a *engine.RewardStanding, b engine.RewardStanding) { a.Merge(b) }),
}

package reward

import (
	"errors"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// Transfer passes the newest claim of a reward that this customer can pass on to another customer, with the coupon that
// it issued, on the submitted event. A claim that was handed out, revoked or passed on before, or whose coupon is used
// or gone, cannot be passed on. Without a reward, the only reward with such a claim is meant. It fails with
// ErrRewardNotFound (160320) if there is none, with ErrSeveral, and as Receiver does.
func Transfer(r *engine.Run, reward string, to coupon.Addressee) (err error) {
	left := reward == ""
	if left {
		if reward, err = onlyReward(r); err != nil {
			return err
		}
	}

	claim, c, err := claimToPass(r, reward)
	if err != nil {
		return err
	}

	// no invitation by e-mail: a reward is for customers that the programme knows
	other, err := coupon.ReceiverOf(r, to, false)
	if err != nil {
		return err
	}

	email := to.Email
	// an address by which they were not found is not added to the receiver
	if to.Target != "" {
		email = ""
	}

	e, err := coupon.Receive(other, r, "reward_receive", coupon.Received{Reward: reward}, email)
	if err != nil {
		return err
	}

	if left {
		// the journal names the reward: later it cannot be told which one was the only one
		if err := r.FillIn("reward", reward); err != nil {
			return err
		}
	}

	if c != nil {
		c.PassTo(other.Customer.ID, r.At)
		other.Coupons().Changed(e, c)
	}

	if err := claim.Move("transfer"); err != nil {
		return err
	}

	r.Claims().Changed(r.Event, claim)
	// a claim of their own at no price: the paid one stays with the giver
	other.Claims().Changed(e, &loyalty.RewardClaim{
		ID: e.ID, Customer: other.Customer.ID, Reward: reward, State: loyalty.ClaimClaimed,
		Coupon: claim.Coupon, ClaimedAt: r.At,
	})
	r.Trace("reward", "applied", "reason.transferred", 0)
	return holdReward(other, e, reward)
}

// holdReward records that a claim was received, so that it counts towards the limit of the
// customer who made it and not towards the receiver's.
func holdReward(r *engine.Run, e *loyalty.Event, reward string) error {
	standing, err := r.Claims().Standing(reward)
	if err != nil {
		return err
	}
	standing.Received = append(standing.Received, e.ID)
	return r.Claims().SetStanding(e, reward, standing)
}

// claimToPass finds the newest claim of a reward that can be passed on, and its coupon; the coupon is nil if the claim
// has none.
func claimToPass(r *engine.Run, reward string) (*loyalty.RewardClaim, *loyalty.Coupon, error) {
	codes, err := coupon.RewardCodes(r, reward)
	if err != nil {
		return nil, nil, err
	}
	// all at once: otherwise the batch would be decided again for each
	if err := r.Require(loyalty.CustomerNeeds{Coupons: codes}); err != nil {
		return nil, nil, err
	}

	claims, err := r.Claims().All()
	if err != nil {
		return nil, nil, err
	}

	for i := len(claims) - 1; i >= 0; i-- {
		claim := claims[i]
		if claim.Reward != reward || loyalty.ClaimMoves["transfer"][claim.State] == "" {
			continue
		}
		if claim.Coupon == "" {
			return claim, nil, nil
		}

		c, err := coupon.Own(r, claim.Coupon)
		if errors.Is(err, loyalty.ErrCouponNotFound) {
			continue // it was passed on alone
		}
		if err != nil {
			return nil, nil, err
		}
		// by its present state: an expired coupon cannot be passed on, although its row still says claimed
		if _, free := loyalty.CouponMoves["transfer"][c.StateAt(r.At)]; free {
			return claim, c, nil
		}
	}

	return nil, nil, loyalty.ErrRewardNotFound.At("data.reward")
}

// onlyReward is the only reward with a claim that the customer can pass on. It fails with ErrRewardNotFound (160320),
// and with ErrSeveral.
func onlyReward(r *engine.Run) (string, error) {
	claims, err := r.Claims().All()
	if err != nil {
		return "", err
	}

	var rewards, codes, passable []string
	for _, c := range claims {
		if loyalty.ClaimMoves["transfer"][c.State] == "" || slices.Contains(rewards, c.Reward) {
			continue
		}
		own, err := coupon.RewardCodes(r, c.Reward)
		if err != nil {
			return "", err
		}
		rewards, codes = append(rewards, c.Reward), append(codes, own...)
	}

	if err := r.Require(loyalty.CustomerNeeds{Coupons: codes}); err != nil {
		return "", err
	}

	for _, reward := range rewards {
		_, _, err := claimToPass(r, reward)
		if err == nil {
			passable = append(passable, reward)
		} else if !errors.Is(err, loyalty.ErrRewardNotFound) {
			return "", err
		}
	}

	// in a fixed order, so that every node's refusal names several alike
	slices.Sort(passable)
	return engine.OnlyOne("reward", passable, loyalty.ErrRewardNotFound)
}

package histories_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// plainClaim is a claimed reward.
type plainClaim struct {
	serial, owner int
	reward        string
	state         loyalty.ClaimState
	cost          int64
	burn          []plainPart
	coupon        string
	award         int // the number of the lot that it gave
}

func (w *plainWorld) reward(c *plainCustomer, e *said, t *told) error {
	switch e.action {
	case "reward_claim":
		return w.claimReward(c, e.thing, t)
	case "reward_revoke":
		return w.revokeReward(c, e.ref, t)
	}
	return w.transferReward(c, e)
}

func (w *plainWorld) claimReward(c *plainCustomer, id string, t *told) error {
	x := w.rules.rewards[id]
	switch {
	case x == nil:
		return loyalty.ErrRewardNotFound
	case !x.ends.IsZero() && !c.at.Before(x.ends):
		return loyalty.ErrRewardInactive
	case x.maxClaims != nil && c.claimed[id] >= *x.maxClaims:
		return loyalty.ErrRewardLimit
	case x.stock != nil && w.counts["reward "+id] >= *x.stock:
		return loyalty.ErrRewardStock
	case x.cost > 0 && x.cost > c.spendable():
		return loyalty.ErrRewardPoints
	}

	claim := &plainClaim{serial: w.next(), owner: c.index, reward: id, state: loyalty.ClaimClaimed, cost: x.cost}
	claim.burn = c.draw(x.cost, func(l *plainLot) { l.spent++ })
	if x.kind == reward.RewardCoupon {
		k, err := w.issue(c, x.pool, t)
		if err != nil {
			return err
		}

		k.reward, claim.coupon = id, k.code
		if !x.pool {
			k.kind, k.value = x.coupon, 100_000
		}
		if k.kind == loyalty.CouponGiftCard {
			k.balance = k.value
		}
		if x.validDays > 0 {
			k.expires = c.at.In(w.rules.zone).AddDate(0, 0, x.validDays)
		}
	}

	claim.award = w.earn(t, x.award, "")
	t.points, t.claim = x.award-x.cost, claim.serial
	w.claims[claim.serial] = claim
	c.claimed[id]++
	w.counts["reward "+id]++
	return nil
}

// issue gives a coupon: the next code of the pool, or one that the platform makes
// up, which has a name of the model's until the platform told it.
func (w *plainWorld) issue(c *plainCustomer, pool bool, t *told) (*modelCoupon, error) {
	if !w.rules.on(programme.ModuleCoupons) {
		return nil, loyalty.ErrActionOff
	}

	k := &modelCoupon{serial: w.next()}
	k.code = fmt.Sprint("$", k.serial)
	if pool {
		if k = w.free(); k == nil {
			return nil, loyalty.ErrPoolEmpty
		}
		k.expires = time.Time{}
	} else {
		t.made = k.code
	}

	w.coupons[k.code] = k
	k.state, k.owner, k.claimed, k.redeemed, k.reward = loyalty.CouponClaimed, c.index, c.at, time.Time{}, ""
	return k, nil
}

// free is the next code of the pool; nil: there is none.
func (w *plainWorld) free() *modelCoupon {
	for _, code := range w.rules.codes {
		if k := w.coupons[code]; k.state == loyalty.CouponCreated {
			return k
		}
	}
	return nil
}

func (w *plainWorld) revokeReward(c *plainCustomer, ref int, t *told) error {
	claim := w.claims[ref]
	switch {
	case claim == nil || w.survivor(claim.owner) != c:
		return loyalty.ErrClaimNotFound
	case claim.state != loyalty.ClaimClaimed && claim.state != loyalty.ClaimRedeemed: // what was handed out may come back
		return loyalty.ErrForbiddenState
	}

	if claim.coupon != "" {
		// A code that was taken from its holder and given anew is not the claim's.
		if k := w.coupons[claim.coupon]; k.reward == claim.reward {
			if k.state == loyalty.CouponRedeemed || k.state == loyalty.CouponPartiallyRedeemed {
				return loyalty.ErrCouponUsed
			}
			k.state = loyalty.CouponInvalidated
		}
	}

	back := c.restorable(claim.burn)
	claim.burn = c.restore(claim.burn, back)
	t.points = back
	if claim.award > 0 {
		award := w.rules.rewards[claim.reward].award
		before := c.spendable()
		c.takeBack("", award, claim.award)
		t.points -= award
		if w.rules.refuseNegative && c.spendable() < min(0, before) {
			return loyalty.ErrNegativeRefused
		}
	}

	claim.state = loyalty.ClaimRevoked
	if i := slices.Index(c.received[claim.reward], ref); i >= 0 {
		c.received[claim.reward] = slices.Delete(c.received[claim.reward], i, i+1)
	} else {
		c.claimed[claim.reward]--
	}

	w.counts["reward "+claim.reward]--
	return nil
}

// transferReward passes the newest claim of a reward on that can be.
func (w *plainWorld) transferReward(c *plainCustomer, e *said) error {
	var newest *plainClaim
	for _, claim := range w.claims {
		if claim.reward != e.thing || w.survivor(claim.owner) != c || claim.state != loyalty.ClaimClaimed || (newest != nil && claim.serial < newest.serial) {
			continue
		}
		if claim.coupon != "" {
			k := w.coupons[claim.coupon]
			state := k.stands(c.at)
			if k.owner != c.index || (state != loyalty.CouponClaimed && state != loyalty.CouponPartiallyRedeemed) {
				continue
			}
		}
		newest = claim
	}

	if newest == nil {
		return loyalty.ErrRewardNotFound
	}

	o, err := w.receiver(c, e, false)
	if err != nil {
		return err
	}

	t := w.tell(o, "reward_receive", 0)
	if k := w.coupons[newest.coupon]; k != nil {
		k.pass(o.index, c.at)
	}

	newest.state = loyalty.ClaimTransferred
	got := &plainClaim{serial: w.next(), owner: o.index, reward: newest.reward, state: loyalty.ClaimClaimed, coupon: newest.coupon}
	w.claims[got.serial] = got
	t.claim = got.serial
	o.received[got.reward] = append(o.received[got.reward], got.serial)
	return nil
}

package reward

import (
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// RevokeResult is what a revoked claim gave back.
type RevokeResult struct {
	Claim  loyalty.ID `json:"claim"`
	Reward string     `json:"reward"`
	Points int64      `json:"points"` // that came back
}

// Revoke undoes a claim of this customer on an event: the points it cost return to their lots, points it gave are taken
// back, its coupon becomes invalid, and it no longer counts for limit and stock. A reward that was received gives no
// points back, because the other customer paid. It fails with ErrClaimNotFound, ErrForbiddenState for a claim that was
// revoked or passed on before, and ErrCouponUsed for one whose coupon is redeemed.
func Revoke(r *engine.Run, e *loyalty.Event, id loyalty.ID) (*RevokeResult, error) {
	claim, err := r.Claims().Of(id)
	if err != nil {
		return nil, err
	}
	if claim == nil {
		return nil, loyalty.ErrClaimNotFound.With("event", id.String()).At("data.event")
	}
	if err := requireRevoke(r, claim); err != nil {
		return nil, err
	}
	if err := claim.Move("revoke"); err != nil {
		return nil, err
	}
	// before the points: a coupon that was used refuses the whole revocation
	if err := revokeCoupon(r, e, claim); err != nil {
		return nil, err
	}

	back, err := refundReward(r, e, claim)
	if err != nil {
		return nil, err
	}
	if err := uncount(r, e, claim); err != nil {
		return nil, err
	}

	r.Claims().Changed(e, claim)
	r.Trace("reward", "applied", "reason.revoked", back)
	return &RevokeResult{Claim: claim.ID, Reward: claim.Reward, Points: back}, nil
}

// requireRevoke asks for everything that the claim changed. The lot of awarded points may have expired, and expired
// lots are loaded only with the customer's whole history.
func requireRevoke(r *engine.Run, claim *loyalty.RewardClaim) error {
	needs := loyalty.CustomerNeeds{
		Claims: true, Progress: loyalty.Kinds(loyalty.ProgressReward),
		Tallies: []string{loyalty.TallyReward + claim.Reward}, Lots: loyalty.UsedLots,
	}
	if claim.Coupon != "" {
		needs.Coupons = []string{claim.Coupon}
	}
	if claim.Award > 0 {
		needs.Everything = true
	}
	return r.Require(needs)
}

// revokeCoupon makes the coupon of a claim worthless, even if another customer holds it by now.
func revokeCoupon(r *engine.Run, e *loyalty.Event, claim *loyalty.RewardClaim) error {
	if claim.Coupon == "" {
		return nil
	}

	c, err := r.Coupons().Find(claim.Coupon)
	if err != nil {
		return err
	}
	if c.Reward != claim.Reward {
		return nil // it was taken from its holder, and its code given anew
	}

	// part of it was used, so returned points would pay for it twice
	if c.State == loyalty.CouponRedeemed || c.State == loyalty.CouponPartiallyRedeemed {
		coupon.Trace(r, "refused", "reason.coupon", c)
		return loyalty.ErrCouponUsed.With("code", c.Code).At("data.event")
	}

	if err := c.Move("invalidate", r.At); err != nil {
		return err
	}

	r.Coupons().Changed(e, c)
	return nil
}

// refundReward gives the price back, less what point_unspend returned meanwhile,
// and takes awarded points back.
func refundReward(r *engine.Run, e *loyalty.Event, claim *loyalty.RewardClaim) (back int64, err error) {
	back = r.Book.Restorable(claim.Burn)
	if claim.Burn, err = r.Book.Restore(e.ID, claim.Burn, back); err != nil {
		return 0, err
	}

	shown := back
	if claim.Award > 0 { // even if nothing of their lot is left, because it paid a debt
		before := r.Book.Figures.Spendable()
		if err := r.Book.TakeBack(e.ID, "", claim.Award, points.ID(claim.ID)); err != nil {
			return 0, loyalty.ErrTooLarge.With("property", "points").Because(err)
		}
		if r.Programme.Economy.NegativeRefuse && r.Book.Figures.Spendable() < min(0, before) {
			return 0, loyalty.ErrNegativeRefused.At("data.event")
		}
		shown -= claim.Award
	}

	e.Shown(shown)
	return back, nil
}

// uncount removes a claim from the counts.
func uncount(r *engine.Run, e *loyalty.Event, claim *loyalty.RewardClaim) error {
	standing, err := r.Claims().Standing(claim.Reward)
	if err != nil {
		return err
	}

	// It counts for the customer who claimed it, even after it was passed on; the receiver only has it in their list.
	if i := slices.Index(standing.Received, claim.ID); i >= 0 {
		standing.Received = slices.Delete(slices.Clone(standing.Received), i, i+1)
	} else {
		standing.Claims--
		if standing.LastClaimedAt, err = lastClaim(r, claim, standing.Received); err != nil {
			return err
		}
	}

	if err := r.Claims().SetStanding(e, claim.Reward, standing); err != nil {
		return err
	}

	return r.Tallies().Add(e, loyalty.TallyReward+claim.Reward, -1)
}

// lastClaim is when the customer last claimed the reward, leaving the revoked claim out. Customers
// are shown this date, and a revoked claim counts as if it had never been made.
func lastClaim(r *engine.Run, revoked *loyalty.RewardClaim, received []loyalty.ID) (at time.Time, err error) {
	claims, err := r.Claims().All()
	for _, c := range claims {
		own := c.Reward == revoked.Reward && c.ID != revoked.ID && c.State != loyalty.ClaimRevoked &&
			!slices.Contains(received, c.ID)
		if own && c.ClaimedAt.After(at) {
			at = c.ClaimedAt
		}
	}
	return at, err
}

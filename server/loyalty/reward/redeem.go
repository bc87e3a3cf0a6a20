package reward

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// Redeemed is the outcome of handing out a claimed reward.
type Redeemed struct {
	ID     loyalty.ID          // the event that records it
	Claim  loyalty.RewardClaim // as it is now
	Coupon *loyalty.Coupon     // its coupon as it is now; nil: it has none
}

// redeemedClaim are the attributes of reward_redeem, as they are recorded.
type redeemedClaim struct {
	Claim         string `json:"claim"`
	Reward        string `json:"reward"`
	TransactionID string `json:"transaction_id,omitempty"`
}

// handedOut are the attributes of the coupon_redeem of a reward that is handed out.
type handedOut struct {
	Code          string `json:"code"`
	TransactionID string `json:"transaction_id,omitempty"`
}

// Redeem hands out a reward that this customer claimed or received, on the submitted event, once. Its coupon is used up
// with it, by an event of its own; a gift card is handed over with its balance. It fails with ErrClaimNotFound; with
// ErrForbiddenState for a claim that was handed out, revoked or passed on before; with ErrClaimCouponUsed (190220) if
// the customer used the coupon already; with ErrCouponNotFound (1601) if the coupon is gone; and with ErrActionOff if
// it has one and the module coupons is off.
func Redeem(r *engine.Run, id loyalty.ID) (*Redeemed, error) {
	claim, err := r.Claims().Of(id)
	if err != nil {
		return nil, err
	}
	if claim == nil {
		return nil, loyalty.ErrClaimNotFound.With("event", id.String()).At("data.claim")
	}

	if claim.Coupon != "" {
		if err := r.Require(loyalty.CustomerNeeds{Coupons: []string{claim.Coupon}}); err != nil {
			return nil, err
		}
	}

	// the state decides first: a reward is handed out once, whatever state its coupon is in
	if err := claim.Move("redeem"); err != nil {
		return nil, loyalty.AtField(err, "data.claim")
	}

	e := r.Event
	coupon, err := handOut(r, e, claim)
	if err != nil {
		return nil, loyalty.AtField(err, "data.claim")
	}

	r.Claims().Changed(e, claim)
	r.Record(redeemedClaim{Claim: claim.ID.String(), Reward: claim.Reward, TransactionID: e.Transaction})
	r.Trace("reward", "applied", "reason.handed_out", 0)
	return &Redeemed{ID: e.ID, Claim: *claim, Coupon: coupon}, nil
}

// handOut uses up the coupon of a claim and returns it, or nil if the claim has none.
func handOut(r *engine.Run, e *loyalty.Event, claim *loyalty.RewardClaim) (*loyalty.Coupon, error) {
	if claim.Coupon == "" {
		return nil, nil
	}
	if err := coupon.CouponsOn(r, e.Action); err != nil {
		return nil, err
	}

	c, err := r.Coupons().Find(claim.Coupon)
	switch {
	case err != nil:
		return nil, err
	case c.Reward != claim.Reward || c.Customer != r.Customer.ID:
		return nil, loyalty.ErrCouponNotFound // it was passed on alone, or taken from its holder
	case c.State == loyalty.CouponRedeemed || c.State == loyalty.CouponPartiallyRedeemed:
		coupon.Trace(r, "refused", "reason.coupon", c)
		return nil, loyalty.ErrClaimCouponUsed.With("code", c.Code)
	}

	// a gift card is money in the customer's hands: using it up here would take its balance
	if c, err = coupon.Redeemable(r, c.Code); err != nil || c.Type == loyalty.CouponGiftCard {
		return c, err
	}

	used := r.Derive(e, "coupon_redeem", handedOut{c.Code, e.Transaction})
	return c, coupon.Use(r, used, c, coupon.Redemption{Code: c.Code})
}

package loyalty

// Redeemed is what came of handing a claimed reward out.
type Redeemed struct {
	ID     ID          // the event that records it
	Claim  RewardClaim // as it stands now
	Coupon *Coupon     // its coupon as it stands now; nil: it has none
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

// RedeemClaim hands out a reward that this customer claimed or received, in the name
// of the submitted event: once. Its coupon is used up with it, by an event of its
// own; a gift card is handed over with its balance. It fails with ErrClaimNotFound,
// ErrForbiddenState for a claim that was handed out, revoked or passed on before,
// ErrClaimCouponUsed (190220) where the customer used the coupon already,
// ErrCouponNotFound (1601) where it is gone, and ErrActionOff where it has one and
// the module coupons is off.
func (r *Run) RedeemClaim(id ID) (*Redeemed, error) {
	claim, err := r.RewardClaim(id)
	if err != nil {
		return nil, err
	}
	if claim == nil {
		return nil, ErrClaimNotFound.With("event", id.String()).At("data.claim")
	}
	if claim.Coupon != "" {
		if err := r.require(CustomerNeeds{Coupons: []string{claim.Coupon}}); err != nil {
			return nil, err
		}
	}
	if err := claim.Move("redeem"); err != nil {
		return nil, at(err, "data.claim")
	}
	e := r.Event
	coupon, err := r.handOut(e, claim)
	if err != nil {
		return nil, at(err, "data.claim")
	}
	r.ChangedClaim(e, claim)
	r.Record(redeemedClaim{Claim: claim.ID.String(), Reward: claim.Reward, TransactionID: e.Transaction})
	r.Trace("reward", "applied", "reason.handed_out", 0)
	return &Redeemed{ID: e.ID, Claim: *claim, Coupon: coupon}, nil
}

// handOut uses the coupon of a claim up; nil: it has none.
func (r *Run) handOut(e *Event, claim *RewardClaim) (*Coupon, error) {
	if claim.Coupon == "" {
		return nil, nil
	}
	if err := r.couponsOn(e.Action); err != nil {
		return nil, err
	}
	c, err := r.Coupon(claim.Coupon)
	switch {
	case err != nil:
		return nil, err
	case c.Reward != claim.Reward || c.Customer != r.Customer.ID:
		return nil, ErrCouponNotFound // it was passed on alone, or taken from its holder
	case c.State == CouponRedeemed || c.State == CouponPartiallyRedeemed:
		r.traceCoupon("refused", "reason.coupon", c)
		return nil, ErrClaimCouponUsed.With("code", c.Code)
	}
	if c, err = r.redeemable(c.Code); err != nil || c.Type == CouponGiftCard {
		return c, err
	}
	used := r.Derive(e, "coupon_redeem", handedOut{c.Code, e.Transaction})
	return c, r.redeem(used, c, Redemption{Code: c.Code})
}

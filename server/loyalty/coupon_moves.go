package loyalty

import (
	"time"
)

// beforeRedemption stands in the table of states for the state that a coupon had
// before it was redeemed.
const beforeRedemption CouponState = ""

// CouponMoves is the specification's table of states as decisions 6 completes it:
// trigger, state before, state after. redeem_part is the redemption of a gift
// card that leaves some of its balance, and of nothing at all.
var CouponMoves = map[string]map[CouponState]CouponState{
	"claim": {CouponCreated: CouponClaimed, CouponUnassigned: CouponClaimed},
	"redeem": {
		CouponCreated: CouponRedeemed, CouponClaimed: CouponRedeemed, CouponUnassigned: CouponRedeemed,
		CouponPartiallyRedeemed: CouponRedeemed,
	},
	"redeem_part": {
		CouponCreated: CouponPartiallyRedeemed, CouponClaimed: CouponPartiallyRedeemed, CouponUnassigned: CouponPartiallyRedeemed,
		CouponPartiallyRedeemed: CouponPartiallyRedeemed,
	},
	"unredeem": {CouponRedeemed: beforeRedemption, CouponPartiallyRedeemed: beforeRedemption},
	"unassign": {CouponClaimed: CouponUnassigned},
	"transfer": {CouponClaimed: CouponClaimed, CouponPartiallyRedeemed: CouponPartiallyRedeemed},
	"invalidate": {
		CouponCreated: CouponInvalidated, CouponClaimed: CouponInvalidated, CouponUnassigned: CouponInvalidated,
		CouponRedeemed: CouponInvalidated, CouponPartiallyRedeemed: CouponInvalidated,
		CouponInvalidated: CouponInvalidated, CouponExpired: CouponInvalidated,
	},
	"expire": {
		CouponCreated: CouponExpired, CouponClaimed: CouponExpired, CouponUnassigned: CouponExpired,
		CouponPartiallyRedeemed: CouponExpired,
	},
}

// couponAims names the state a trigger leads to, for the message of a refusal.
var couponAims = map[string]CouponState{
	"claim": CouponClaimed, "unredeem": CouponClaimed, "unassign": CouponUnassigned, "transfer": CouponClaimed,
	"invalidate": CouponInvalidated, "expire": CouponExpired,
}

// StateAt is where the coupon stands at an instant: one that could still be
// redeemed is expired from its ExpiresAt on, although nothing was recorded then.
func (c *Coupon) StateAt(at time.Time) CouponState {
	if !c.ExpiresAt.IsZero() && !at.Before(c.ExpiresAt) {
		if expired, open := CouponMoves["expire"][c.State]; open {
			return expired
		}
	}
	return c.State
}

// Move leads the coupon along the table of states, as it stands at an instant.
// One that cannot be redeemed is as good as none (ErrCouponNotFound, 1601); any
// other move that is not in the table is refused with ErrForbiddenState, which
// names both states.
func (c *Coupon) Move(trigger string, at time.Time) error {
	from := c.StateAt(at)
	next, ok := CouponMoves[trigger][from]
	switch {
	case ok && next == beforeRedemption:
		return nil // undo knows it
	case ok:
		c.State = next
		return nil
	case trigger == "redeem" || trigger == "redeem_part":
		return ErrCouponNotFound.At("data.code")
	}
	return ErrForbiddenState.With("from", string(from)).With("to", string(couponAims[trigger])).At("data.code")
}

package loyalty

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Every trigger in every state of a coupon, as decisions 6 has it: the state after,
// or the failure. The table is written out a second time, state by state.
func TestCouponStates(t *testing.T) {
	type cell struct {
		after CouponState
		err   error
	}

	to := func(s CouponState) cell { return cell{after: s} }
	refused, unknown := cell{err: ErrForbiddenState}, cell{err: ErrCouponNotFound}
	columns := []string{"claim", "redeem", "redeem_part", "unredeem", "unassign", "transfer", "invalidate", "expire"}
	table := map[CouponState][]cell{
		CouponCreated: {to(CouponClaimed), to(CouponRedeemed), to(CouponPartiallyRedeemed), refused, refused, refused,
			to(CouponInvalidated), to(CouponExpired)},
		CouponClaimed: {refused, to(CouponRedeemed), to(CouponPartiallyRedeemed), refused, to(CouponUnassigned), to(CouponClaimed),
			to(CouponInvalidated), to(CouponExpired)},
		CouponUnassigned: {to(CouponClaimed), to(CouponRedeemed), to(CouponPartiallyRedeemed), refused, refused, refused,
			to(CouponInvalidated), to(CouponExpired)},
		CouponRedeemed: {refused, unknown, unknown, to(CouponClaimed), refused, refused, to(CouponInvalidated), refused},
		CouponPartiallyRedeemed: {refused, to(CouponRedeemed), to(CouponPartiallyRedeemed), to(CouponClaimed), refused,
			to(CouponPartiallyRedeemed), to(CouponInvalidated), to(CouponExpired)},
		CouponInvalidated: {refused, unknown, unknown, refused, refused, refused, to(CouponInvalidated), refused},
		CouponExpired:     {refused, unknown, unknown, refused, refused, refused, to(CouponInvalidated), refused},
	}

	require.Len(t, table, len(CouponStates))
	require.Len(t, CouponMoves, len(columns), "every trigger has a column")
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, state := range CouponStates {
		require.Len(t, table[state], len(columns), state)
		for i, trigger := range columns {
			t.Run(string(state)+"/"+trigger, func(t *testing.T) {
				c := Coupon{State: state, Uses: []CouponUse{{Before: CouponClaimed}}}
				err := c.Move(trigger, at)
				want := table[state][i]
				if want.err != nil {
					require.ErrorIs(t, err, want.err)
					require.Equal(t, state, c.State)
					return
				}
				require.NoError(t, err)
				if trigger == "unredeem" {
					c.Undo(0)
				}
				require.Equal(t, want.after, c.State)
			})
		}
	}
}

// A refusal names where the coupon stands and where it was to go.
func TestCouponRefusalNamesBothStates(t *testing.T) {
	for trigger, aim := range couponAims {
		c := Coupon{State: CouponRedeemed}
		if trigger == "unredeem" {
			c.State = CouponClaimed
		}
		if trigger == "invalidate" {
			continue // legal from everywhere
		}
		e := AsError(c.Move(trigger, time.Time{}))
		require.Equal(t, map[string]any{"from": string(c.State), "to": string(aim)}, e.Args, trigger)
	}
}

// From its ExpiresAt on, a coupon that could still be redeemed is expired, and no
// other.
func TestCouponExpires(t *testing.T) {
	end := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	for _, state := range CouponStates {
		c := Coupon{State: state, ExpiresAt: end}
		require.Equal(t, state, c.StateAt(end.Add(-time.Millisecond)), state)
		want := state
		if _, open := CouponMoves["redeem"][state]; open {
			want = CouponExpired
		}
		require.Equal(t, want, c.StateAt(end), state)
		c.ExpiresAt = time.Time{}
		require.Equal(t, state, c.StateAt(end), "no end")
	}
}

// Whatever uses of a gift card are taken back, in whatever order, balance and
// redemptions together are its value, and the last one back leaves it as it was.
func TestUndoKeepsTheBalance(t *testing.T) {
	for _, order := range [][]int{{2, 1, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 0, 0}} {
		c := Coupon{State: CouponRedeemed, Type: CouponGiftCard, Value: 600, Uses: []CouponUse{
			{Amount: 100, Before: CouponClaimed}, {Amount: 200, Before: CouponPartiallyRedeemed}, {Amount: 300, Before: CouponPartiallyRedeemed},
		}}
		for _, i := range order {
			c.Undo(i)
			left := c.Value
			for _, u := range c.Uses {
				left -= money.Parts(u.Amount)
			}
			require.Equal(t, left, c.Balance, order)
			if len(c.Uses) > 0 {
				require.Equal(t, CouponPartiallyRedeemed, c.State, order)
				require.Equal(t, CouponClaimed, c.Uses[0].Before, order)
			}
		}

		require.Equal(t, CouponClaimed, c.State, order)
	}
}

// Every trigger in every state of a claimed reward.
func TestClaimStates(t *testing.T) {
	table := map[ClaimState]map[string]ClaimState{
		ClaimClaimed:     {"redeem": ClaimRedeemed, "revoke": ClaimRevoked, "transfer": ClaimTransferred},
		ClaimRedeemed:    {"revoke": ClaimRevoked},
		ClaimRevoked:     {},
		ClaimTransferred: {},
	}

	for state, moves := range table {
		for trigger := range ClaimMoves {
			c := RewardClaim{State: state}
			err := c.Move(trigger)
			if after, ok := moves[trigger]; ok {
				require.NoError(t, err)
				require.Equal(t, after, c.State, "%s %s", state, trigger)
				continue
			}
			require.ErrorIs(t, err, ErrForbiddenState, "%s %s", state, trigger)
			require.Equal(t, state, c.State)
		}
	}
}

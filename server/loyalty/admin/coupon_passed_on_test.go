package admin_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

const giftCards = `{"name":"Cards","source":"uploaded","coupon":{"type":"gift_card","value":50,"currency":"EUR"}}`

// A gift card of a pool that was used once and then passed on stays with its receiver when that use is taken back, by
// any customer and any event: before the use it had no holder, and now it is the receiver's.
func TestUseTakenBackOfACardThatWasPassedOn(t *testing.T) {
	const first, second = "member-1001", "member-1002"
	bought := `{"transaction_id":"T1","total":10,"coupon_code":"CARD-1"}`
	for name, c := range map[string]struct {
		uses, takesBack [][3]string // customer, action, data
		pending         bool
	}{
		"rejected": {
			uses: [][3]string{{first, "checkout", bought}}, pending: true,
			takesBack: [][3]string{{first, "checkout_reject", `{"transaction_id":"T1"}`}},
		},
		"refunded": {
			uses:      [][3]string{{first, "checkout", bought}},
			takesBack: [][3]string{{first, "refund", `{"transaction_id":"T1"}`}},
		},
		"by hand": {
			uses:      [][3]string{{first, "coupon_redeem", `{"code":"CARD-1","amount":10}`}},
			takesBack: [][3]string{{second, "coupon_unredeem", `{"code":"CARD-1"}`}},
		},
		"the receiver's own after it": {
			uses: [][3]string{{first, "checkout", bought}},
			takesBack: [][3]string{
				{second, "coupon_redeem", `{"code":"CARD-1","amount":5}`},
				{first, "refund", `{"transaction_id":"T1"}`}, {second, "coupon_unredeem", `{"code":"CARD-1"}`},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachDesk(t, 1, func(t *testing.T, d *desk) {
				_, err := d.SetModule(t.Context(), loyaltytest.Caller, "checkout_accept", admin.ModuleChange{Enabled: &c.pending})
				require.NoError(t, err)
				d.Entity("coupons/pool", "cards", giftCards)
				_, err = d.AddCodes(t.Context(), loyaltytest.Caller, "cards", []string{"CARD-1"}, 0)
				require.NoError(t, err)
				d.Enrol(2)
				for _, e := range c.uses {
					d.Send(e[0], e[1], e[2])
				}

				receiver := d.Send(first, "coupon_transfer", `{"code":"CARD-1","target":"member-1002"}`).Events[1].Customer
				for _, e := range c.takesBack {
					d.Send(e[0], e[1], e[2])
				}

				card, _, err := d.Store.Coupon(t.Context(), "CARD-1")
				require.NoError(t, err)
				require.Equal(t, receiver, card.Customer, "whose it is")
				require.Equal(t, loyalty.CouponClaimed, card.State)
				require.EqualValues(t, 50*10_000, card.Balance)
				loyaltytest.Proven(t, d.Store)
			})
		})
	}
}

// TestNewestOfOneInstant: of coupons that a customer claimed in one bulk, and so in one millisecond, a
// transfer by reward passes on the one that was claimed last.
func TestNewestOfOneInstant(t *testing.T) {
	eachDesk(t, 1, func(t *testing.T, d *desk) {
		d.Entity("rewards/reward", "cap", `{"title":{"en":"A"},"type":"coupon","points":0,"stock":null,"max_claims":null,"coupon":{"type":"amount","value":5}}`)
		names := d.Enrol(13)
		receiver, names := names[12], names[:12] // chance would be right for all of them once in 4,096 times
		for _, name := range names {
			results := d.Engines[0].SubmitAll(t.Context(), []loyalty.Submission{loyaltytest.ClaimOf(name, "cap"), loyaltytest.ClaimOf(name, "cap")})
			for _, r := range results {
				require.NoError(t, r.Err)
			}

			o := d.Send(name, "coupon_transfer", fmt.Sprintf(`{"reward_id":"cap","target":%q}`, receiver))
			code := func(o loyalty.Outcome) string {
				for _, e := range o.Events {
					if e.Effects != nil && len(e.Effects.Coupons) > 0 {
						return e.Effects.Coupons[0].Code
					}
				}
				return ""
			}

			require.NotEmpty(t, code(o))
			require.Equal(t, code(results[1].Outcome), code(o), name)
		}
	})
}

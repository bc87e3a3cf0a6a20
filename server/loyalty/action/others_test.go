package action_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// What a guest's purchase needs may be held too, and be validated when nothing of the purchase is
// loaded: another node decides, or this one has forgotten the guest.
func TestHeldRefundOfAGuest(t *testing.T) {
	eachShop(t, modules{"pending_events": `{"actions":["refund"],"days":30}`}, func(t *testing.T, s *shop) {
		s.GuestBuys("")
		held := s.Must("guest-1", "refund", `{"transaction_id":"T-1"}`).Events[0].ID.String()
		require.EqualValues(t, 50, s.Customer("guest-1").Figures.Score)
		other := s.Node(func(*engine.EngineOptions) {})
		_, err := other.Submit(ctx, loyalty.Submission{Customer: "guest-1", Action: "pending_validate", Data: json.RawMessage(`{"event":"` + held + `"}`)})
		require.NoError(t, err)
		require.Zero(t, s.Customer("guest-1").Figures.Score)
		s.Verify()
	})
}

// Pending purchases are decided together, however many there are: for a customer whose purchases come due at one time,
// and for one who drops pending points. Each purchase has a coupon, which comes back.
func TestManyPurchasesThatWait(t *testing.T) {
	const many = 300
	for name, m := range map[string]modules{
		"held": {"pending_events": `{"actions":["checkout"],"days":1}`}, "to be rejected": {"checkout_accept": `{"type":"reject","pending_days":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			eachShop(t, m, func(t *testing.T, s *shop) {
				s.Enrol("ada")
				for i := range many {
					s.Must("ada", "coupon_create", fmt.Sprintf(`{"code":"C-%d","value":1}`, i))
					s.Must("ada", "checkout", fmt.Sprintf(`{"transaction_id":"T-%d","total":50,"coupons":["C-%d"],"items":%s}`, i, i, loyaltytest.OneLine))
				}

				cold := s.Node(func(*engine.EngineOptions) {})
				if name == "held" {
					_, err := cold.Submit(ctx, loyalty.Submission{Customer: "ada", Action: "pending_expired", Data: json.RawMessage(`{"points":1}`)})
					require.NoError(t, err)
				}

				require.Positive(t, s.Customer("ada").Figures.Pending)
				s.Wait(2 * 24 * time.Hour)
				_, err := s.Node(func(*engine.EngineOptions) {}).Submit(ctx, loyalty.Submission{Customer: "ada", Action: "point_add", Data: json.RawMessage(`{"points":1}`)})
				require.NoError(t, err)
				require.Zero(t, s.Customer("ada").Figures.Pending)
				s.Must("ada", "coupon_redeem", `{"code":"C-299"}`)
				s.Verify()
			})
		})
	}
}

// What is due for the other customer comes before the event, also before the
// reactions to it: they see the event's whole effect.
func TestReactionsWaitForTheEvent(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(modules{"points_economy": `{"expiry":{"policy":"rolling","days":10}}`}, things{
			loyaltytest.AnyCampaign("joined", `"trigger":"merge","condition":"customer.score >= 100","effects":[{"type":"points","points":7}]`),
		})
		s.Enrol("ada", "ben")
		s.Must("ben", "point_add", `{"points":100}`)
		s.Wait(11 * 24 * time.Hour)
		o := s.Operate("ada", "merge", `{"source":"ben"}`)
		require.EqualValues(t, 107, o.Customer.Figures.Score)
		s.FoldsBack()
	})
}

// A purchase that comes due pays the referrer at its own instant. Who sends and who
// receives something in the event at hand does so now, whichever of them it was.
func TestDueWorkKeepsTheInstantOfTheEvent(t *testing.T) {
	m := modules{"checkout_accept": `{"type":"accept","pending_days":3}`, "friend_referral": `{"referrer_points":5,"friend_points":0}`}
	for sender, receiver := range map[string]string{"ada": "ben", "ben": "ada"} {
		t.Run(sender+" to "+receiver, func(t *testing.T) {
			eachShop(t, nil, func(t *testing.T, s *shop) {
				s.Make(m, things{loyaltytest.AnyCampaign("giver", `"trigger":"coupon_transfer","effects":[{"type":"points","points":7}]`)})
				s.Enrol("ada")
				s.Must("ben", "opt_in", `{"email":"ben@shop.test","referrer":"ada"}`)
				s.Must(sender, "coupon_create", `{"code":"C-1","value":1}`)
				s.Must("ben", "checkout", `{"transaction_id":"T-1","total":50,"items":`+loyaltytest.OneLine+`}`)
				s.Wait(10 * 24 * time.Hour)
				at := map[string]time.Time{}
				for _, e := range s.Must(sender, "coupon_transfer", `{"code":"C-1","target":"`+receiver+`"}`).Events {
					at[e.Action] = e.At
				}

				due := loyaltytest.ShopOpens.AddDate(0, 0, 3)
				require.Equal(t, map[string]time.Time{
					"checkout_accept": due, "checkout_accept_item": due, "referral_bonus": due,
					"coupon_transfer": s.Clock(), "coupon_receive": s.Clock(), "point_add": s.Clock(),
				}, at)

				s.FoldsBack()
			})
		})
	}
}

// The source's purchase comes due with the merge, pays the target for bringing the
// source, and moves what both have progress with.
func TestMergeOfAFriendWithSomethingDue(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(modules{"checkout_accept": `{"type":"accept","pending_days":3}`, "friend_referral": `{"referrer_points":50,"friend_points":50}`}, things{
			{"challenges/challenge", "c", `{"title":{"en":"C"},"criteria":[{"action":"referral_bonus","threshold":5}]}`},
			{"tiers/structure", "main", `{"name":"Main","base":"points","window":{"kind":"rolling","days":100},"downgrade":"none"}`},
			{"tiers/tier", "gold", `{"structure":"main","name":{"en":"Gold"},"threshold":50}`},
			loyaltytest.AnyCampaign("bonus", `"trigger":"referral_bonus","effects":[{"type":"points","points":7}],"limit":{"per_customer":3}`),
		})

		s.Enrol("ada")
		s.Must("ben", "opt_in", `{"email":"ben@shop.test","referrer":"ada"}`)
		s.Must("ben", "checkout", `{"transaction_id":"T-1","total":50,"items":`+loyaltytest.OneLine+`}`)
		s.Wait(10 * 24 * time.Hour)
		s.Operate("ada", "merge", `{"source":"ben"}`)
		s.Wait(time.Second)
		require.NoError(t, s.SettleDue(ctx))
		require.EqualValues(t, 164, s.Customer("ada").Figures.Score)
		s.FoldsBack()
	})
}

// The date on which a claimed purchase is accepted is the claimer's, also where they
// enrolled in the same transaction or had something due themselves.
func TestClaimedPurchaseStaysDue(t *testing.T) {
	m := modules{
		"customer_id_validation": "{}", "checkout_accept": `{"type":"accept","pending_days":3}`, "points_economy": `{"expiry":{"policy":"rolling","days":1}}`,
	}

	for name, claim := range map[string]func(s *shop){
		"enrolled just now": func(s *shop) {
			require.Equal(s.T, []error{nil, nil}, s.All(loyaltytest.Event("ada", "opt_in", `{"email":"ada@shop.test"}`), loyaltytest.Event("ada", "checkout_claim", `{"transaction_id":"T-1"}`)))
		},
		"points expire": func(s *shop) {
			s.Enrol("ada")
			s.Must("ada", "point_add", `{"points":5}`)
			s.Wait(36 * time.Hour)
			s.Must("ada", "checkout_claim", `{"transaction_id":"T-1"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachShop(t, m, func(t *testing.T, s *shop) {
				s.GuestBuys("")
				claim(s)
				require.Equal(t, loyaltytest.ShopOpens.AddDate(0, 0, 3), s.Customer("ada").DueAt.UTC())
				s.Wait(4 * 24 * time.Hour)
				require.NoError(t, s.SettleDue(ctx))
				require.Equal(t, loyalty.Accepted, s.Transaction("ada", "T-1").State)
				s.FoldsBack()
			})
		})
	}
}

// The uses of offers go with a purchase that is claimed, so that its rejection gives
// them back.
func TestOffersOfAClaimedPurchaseComeBack(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(modules{"customer_id_validation": "{}", "checkout_accept": `{}`}, things{
			{"offers/offer", "o", `{"name":{"en":"O"},"type":"cart","discount":{"type":"fixed_discount","value":1},"max_redemptions":1}`},
		})
		s.GuestBuys(`,"offers":["o"]`)
		s.Enrol("ada")
		s.Must("ada", "checkout_claim", `{"transaction_id":"T-1"}`)
		s.Refused(loyalty.ErrOfferUsedUp, "ada", "offer_redeem", `{"offer":"o"}`)
		s.Must("ada", "checkout_reject", `{"transaction_id":"T-1"}`)
		s.Must("ada", "offer_redeem", `{"offer":"o"}`)
		s.FoldsBack()
	})
}

// A purchase that changed hands comes home: its claimer becomes part of who was the
// guest. What the guest did with it before does not count any more.
func TestClaimedPurchaseComesHome(t *testing.T) {
	eachShop(t, modules{"customer_id_validation": "{}", "pending_events": `{"actions":["checkout"],"days":9}`}, func(t *testing.T, s *shop) {
		s.GuestBuys("")
		s.Must("guest-1", "pending_expired", `{"points":20}`)
		s.Wait(time.Second)
		s.Enrol("ada")
		s.Must("ada", "checkout_claim", `{"transaction_id":"T-1"}`)
		s.Wait(time.Second)
		s.Must("guest-1", "opt_in", `{"email":"guest@shop.test"}`)
		s.Operate("guest-1", "merge", `{"source":"ada"}`)
		require.EqualValues(t, 30, s.Transaction("guest-1", "T-1").Earned)
		s.FoldsBack()
	})
}

// There may be more merged accounts than a rule may ask one after the other.
func TestManyMerged(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Enrol("ada", "ben")
		for i := range 70 {
			name := fmt.Sprint("guest-", i)
			s.Must(name, "subscribe", `{"handler":"g"}`)
			s.Operate("ada", "merge", `{"source":"`+name+`"}`)
		}
		s.Operate("ben", "merge", `{"source":"ada"}`)
		require.Equal(t, s.Customer("ben").ID, s.Customer("guest-69").ID)
		s.Must("ben", "opt_out", `{}`)
		s.FoldsBack()
	})
}

// A transfer to a customer's old name goes to the customer under the present name.
func TestTransferToTheOldName(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Enrol("ada", "ben", "cili")
		s.Operate("ben", "merge", `{"source":"cili"}`)
		s.Must("ada", "coupon_create", `{"code":"C-1","value":1}`)
		require.Equal(t, []error{nil, nil}, s.All(loyaltytest.Event("ada", "coupon_transfer", `{"code":"C-1","target":"cili"}`), loyaltytest.Event("ben", "coupon_redeem", `{"code":"C-1"}`)))
		s.FoldsBack()
	})
}

// A held event that its sender dated earlier is weighed and leaves no trace but its
// promise.
func TestHeldLateEventHasNoEffect(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(modules{"pending_events": `{"actions":["coupon_create","treasure_found"]}`}, things{
			{"treasure-hunt/treasure", "bean", `{"title":{"en":"Bean"},"kind":"online","points":3}`},
		})
		s.Enrol("ada")
		late := fmt.Sprint(`"effective_timestamp":`, loyaltytest.ShopOpens.Add(-time.Hour).Unix())
		s.Must("ada", "treasure_found", `{"treasure_id":"bean",`+late+`}`)
		s.Must("ada", "coupon_create", `{"code":"C-1","value":1,`+late+`}`)
		require.EqualValues(t, 3, s.Customer("ada").Figures.Pending)
		s.FoldsBack()
	})
}

// Lines that are given back one by one restore of the burned points what they would together.
func TestLinesRestoreBurnedPointsTogether(t *testing.T) {
	for rounding, back := range map[string][]int64{"floor": {0, 1, 1, 2, 2, 3, 3, 4, 4, 5}, "ceil": {1, 1, 2, 2, 3, 3, 4, 4, 5, 5}} {
		t.Run(rounding, func(t *testing.T) {
			eachShop(t, modules{"incentivized_purchase": `{"rate":1,"rounding":"` + rounding + `"}`}, func(t *testing.T, s *shop) {
				s.Enrol("ada")
				s.Must("ada", "point_add", `{"points":5}`)
				lines := make([]string, len(back))
				for i := range lines {
					lines[i] = fmt.Sprintf(`{"product_id":"p-%d","product_name":"n","product_url":"https://shop.test/p","quantity":1,"subtotal":10}`, i)
				}
				s.Must("ada", "checkout", `{"transaction_id":"T-1","total":100,"points_burned":5,"items":[`+strings.Join(lines, ",")+`]}`)
				for i, want := range back {
					s.Must("ada", "refund_item", fmt.Sprintf(`{"transaction_id":"T-1","product_id":"p-%d"}`, i))
					require.Equal(t, 5-want, s.Customer("ada").Figures.Spent, "%d lines", i+1)
				}
				s.Verify()
			})
		})
	}
}

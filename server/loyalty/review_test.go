package loyalty_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

var _ = json.Marshal

// T1
func TestReviewReplayAfterMerge(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.must("ben", "opt_in", `{"email":"ben@shop.test","external_ids":{"crm":"77"}}`)
		before, err := s.once("ben", "point_add", `{"points":1}`, "k0")
		require.NoError(t, err)
		require.Nil(t, before.Replayed)
		_, err = s.Submit(ctx, operation("ada", "merge", `{"source":"ben"}`))
		require.NoError(t, err)
		again, err := s.once("ben", "point_add", `{"points":1}`, "k0")
		require.NoError(t, err)
		require.NotNil(t, again.Replayed)
		first, err := s.once("ben", "point_add", `{"points":10}`, "k1")
		require.NoError(t, err)
		require.Nil(t, first.Replayed)
		again, err = s.once("ben", "point_add", `{"points":10}`, "k1")
		require.NoError(t, err)
		require.NotNil(t, again.Replayed)
	})
}

// T2
func TestReviewClaimedPendingPurchaseStaysDue(t *testing.T) {
	eachShop(t, modules{"customer_id_validation": "{}", "checkout_accept": `{"type":"accept","pending_days":3}`}, func(t *testing.T, s *shop) {
		o, err := s.Submit(ctx, loyalty.Submission{Customer: "guest-1", Guest: true, Action: "checkout", Data: json.RawMessage(`{"transaction_id":"T-1","total":50,"items":` + oneLine + `}`)})
		require.NoError(t, err)
		_ = o
		results := s.SubmitAll(ctx, []loyalty.Submission{
			event("ada", "opt_in", `{"email":"ada@shop.test"}`),
			event("ada", "checkout_claim", `{"transaction_id":"T-1"}`),
		})
		for _, r := range results {
			require.NoError(t, r.Err)
		}
		require.Equal(t, shopOpens.AddDate(0, 0, 3), s.customer("ada").DueAt.UTC())
		s.wait(4 * 24 * time.Hour)
		require.NoError(t, s.SettleDue(ctx))
		require.Equal(t, int64(50), s.customer("ada").Figures.Score)
	})
}

// T3
func TestReviewReactionToMergeSeesTheMerge(t *testing.T) {
	eachShop(t, modules{"points_economy": `{"expiry":{"policy":"rolling","days":10}}`}, func(t *testing.T, s *shop) {
		s.make(modules{"points_economy": `{"expiry":{"policy":"rolling","days":10}}`}, things{campaign("m", `"trigger":"merge","condition":"customer.score >= 100","effects":[{"type":"points","points":7}]`)})
		for _, n := range []string{"ada", "ben", "cili"} {
			s.must(n, "opt_in", `{"email":"`+n+`@shop.test"}`)
		}
		s.must("ben", "point_add", `{"points":100}`)
		s.wait(11 * 24 * time.Hour)
		o, err := s.Submit(ctx, operation("ada", "merge", `{"source":"ben"}`))
		require.NoError(t, err)
		for _, e := range o.Events {
			t.Log(e.Action, e.Customer, e.Points)
		}
		require.Equal(t, int64(107), s.customer("ada").Figures.Score)
	})
}

// T4
func TestReviewRevokedAwardThatPaidADebt(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.make(nil, things{{"rewards/reward", "gift", `{"title":{"en":"G"},"type":"points","points":0,"award":50}`}})
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.must("ada", "point_sub", `{"points":50}`)
		o, err := s.Submit(ctx, operation("ada", "reward_claim", `{"reward":"gift"}`))
		require.NoError(t, err)
		require.Equal(t, int64(0), s.customer("ada").Figures.Spendable())
		s.must("ada", "reward_revoke", `{"event":"`+o.Events[0].ID.String()+`"}`)
		require.Equal(t, int64(-50), s.customer("ada").Figures.Spendable())
		s.verify()
	})
}

// T4b
func TestReviewRevokedAwardWhoseLotIsGone(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.make(nil, things{{"rewards/reward", "gift", `{"title":{"en":"G"},"type":"points","points":0,"award":50}`}})
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		o, err := s.Submit(ctx, operation("ada", "reward_claim", `{"reward":"gift"}`))
		require.NoError(t, err)
		s.must("ada", "point_sub", `{"points":50}`)
		s.must("ada", "reward_revoke", `{"event":"`+o.Events[0].ID.String()+`"}`)
		require.Equal(t, int64(-50), s.customer("ada").Figures.Spendable())
		s.verify()
	})
}

// T7
func TestReviewOptOutOfManyMerged(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		for i := range 70 {
			n := fmt.Sprint("g", i)
			s.must(n, "subscribe", `{"handler":"x"}`)
			_, err := s.Submit(ctx, operation("ada", "merge", `{"source":"`+n+`"}`))
			require.NoError(t, err)
		}
		s.must("ben", "opt_in", `{"email":"ben@shop.test"}`)
		_, err := s.Submit(ctx, operation("ben", "merge", `{"source":"ada"}`))
		require.NoError(t, err)
		s.must("ben", "opt_out", `{}`)
	})
}

// T5
func TestReviewDueOfAReceiverLeavesTheSendersTime(t *testing.T) {
	m := modules{"checkout_accept": `{"type":"accept","pending_days":3}`, "friend_referral": `{"referrer_points":5,"friend_points":0}`,
		"points_economy": `{"expiry":{"policy":"rolling","days":30}}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		s.make(m, things{campaign("m", `"trigger":"coupon_transfer","effects":[{"type":"points","points":7}]`)})
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.must("ben", "opt_in", `{"email":"ben@shop.test","referrer":"ada"}`)
		s.must("ada", "coupon_create", `{"code":"C-1","value":1}`)
		s.must("ben", "checkout", `{"transaction_id":"T-1","total":50,"items":`+oneLine+`}`)
		s.wait(10 * 24 * time.Hour)
		o := s.must("ada", "coupon_transfer", `{"code":"C-1","target":"ben"}`)
		for _, e := range o.Events {
			t.Log(e.Action, e.Customer, e.At, e.ExpDate)
			if e.Action == "point_add" {
				require.Equal(t, s.clock().UTC(), e.At.UTC())
			}
			if e.Action == "coupon_receive" {
				require.Equal(t, s.clock().UTC(), e.At.UTC())
			}
		}
		s.verify()
	})
}

// T5b: the other way round: the referrer receives.
func TestReviewDueOfASenderLeavesTheReceiversTime(t *testing.T) {
	m := modules{"checkout_accept": `{"type":"accept","pending_days":3}`, "friend_referral": `{"referrer_points":5,"friend_points":0}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.must("ben", "opt_in", `{"email":"ben@shop.test","referrer":"ada"}`)
		s.must("ben", "coupon_create", `{"code":"C-1","value":1}`)
		s.must("ben", "checkout", `{"transaction_id":"T-1","total":50,"items":`+oneLine+`}`)
		s.wait(10 * 24 * time.Hour)
		o := s.must("ben", "coupon_transfer", `{"code":"C-1","target":"ada"}`)
		for _, e := range o.Events {
			if e.Action == "coupon_receive" {
				require.Equal(t, s.clock().UTC(), e.At.UTC())
			}
		}
	})
}

// T6
func TestReviewOffersOfAClaimedPurchaseComeBack(t *testing.T) {
	m := modules{"customer_id_validation": "{}", "checkout_accept": `{}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		s.make(m, things{{"offers/offer", "o", `{"name":{"en":"O"},"type":"cart","discount":{"type":"fixed_discount","value":1},"max_redemptions":1}`}})
		_, err := s.Submit(ctx, loyalty.Submission{Customer: "guest-1", Guest: true, Action: "checkout", Data: json.RawMessage(`{"transaction_id":"T-1","total":50,"offers":["o"],"items":` + oneLine + `}`)})
		require.NoError(t, err)
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.must("ada", "checkout_claim", `{"transaction_id":"T-1"}`)
		s.must("ada", "checkout_reject", `{"transaction_id":"T-1"}`)
		s.must("ada", "offer_redeem", `{"offer":"o"}`)
	})
}

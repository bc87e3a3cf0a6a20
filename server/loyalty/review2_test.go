package loyalty_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

func (s *shop) rebuilt() {
	s.t.Helper()
	require.NoError(s.t, s.db.VerifyRebuild(ctx, func(d loyalty.Difference) { s.t.Errorf("%+v", d) }, func(store.RebuildProgress) {}))
}

// T17
func TestReview2MergeOfAFriendWithSomethingDue(t *testing.T) {
	m := modules{"checkout_accept": `{"type":"accept","pending_days":3}`, "friend_referral": `{"referrer_points":50,"friend_points":50}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		s.make(m, things{
			{"challenges/challenge", "c", `{"title":{"en":"C"},"criteria":[{"action":"referral_bonus","threshold":5}]}`},
			{"tiers/structure", "main", `{"name":"Main","base":"points","window":{"kind":"rolling","days":100},"downgrade":"none"}`},
			{"tiers/tier", "gold", `{"structure":"main","name":{"en":"Gold"},"threshold":50}`},
			campaign("m", `"trigger":"referral_bonus","effects":[{"type":"points","points":7}],"limit":{"per_customer":3}`),
		})
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.must("ben", "opt_in", `{"email":"ben@shop.test","referrer":"ada"}`)
		s.must("ben", "checkout", `{"transaction_id":"T-1","total":50,"items":`+oneLine+`}`)
		s.wait(10 * 24 * time.Hour)
		o, err := s.Submit(ctx, operation("ada", "merge", `{"source":"ben"}`))
		require.NoError(t, err)
		for _, e := range o.Events {
			t.Log(e.Action, e.Customer, e.ID, e.At)
		}
		s.wait(time.Second)
		require.NoError(t, s.SettleDue(ctx))
		t.Log(s.customer("ada").Figures)
		s.verify()
		s.rebuilt()
	})
}

// T15
func TestReview2ReplayAfterTheExternalIDWent(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.must("ada", "opt_in", `{"email":"ada@shop.test","external_ids":{"crm":"1"}}`)
		e := loyalty.Submission{Customer: "1", ExternalID: "crm", Action: "profile", Data: json.RawMessage(`{"external_ids":{"crm":null}}`)}
		_, err := s.Submit(ctx, keyed(e, "k"))
		require.NoError(t, err)
		o, err := s.Submit(ctx, keyed(e, "k"))
		require.NoError(t, err)
		require.NotNil(t, o.Replayed)
		require.Equal(t, "ada score 0", string(o.Replayed.Body))
	})
}

// T21: a claim of a pending purchase by somebody with something due.
func TestReview2ClaimByOneWithSomethingDue(t *testing.T) {
	m := modules{"customer_id_validation": "{}", "checkout_accept": `{"type":"accept","pending_days":3}`, "points_economy": `{"expiry":{"policy":"rolling","days":1}}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.must("ada", "point_add", `{"points":5}`)
		_, err := s.Submit(ctx, loyalty.Submission{Customer: "guest-1", Guest: true, Action: "checkout", Data: json.RawMessage(`{"transaction_id":"T-1","total":50,"items":` + oneLine + `}`)})
		require.NoError(t, err)
		s.wait(36 * time.Hour)
		s.must("ada", "checkout_claim", `{"transaction_id":"T-1"}`)
		s.wait(36 * time.Hour)
		require.NoError(t, s.SettleDue(ctx))
		require.Equal(t, int64(55), s.customer("ada").Figures.Score)
		s.rebuilt()
	})
}

// T22: gift card spent by a merged purchase etc.
func TestReview2PurchaseOfAMergedGuestCanBeRejected(t *testing.T) {
	m := modules{"checkout_accept": `{}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		s.make(m, things{{"offers/offer", "o", `{"name":{"en":"O"},"type":"cart","discount":{"type":"fixed_discount","value":1},"max_redemptions":1}`}})
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.must("ben", "opt_in", `{"email":"ben@shop.test"}`)
		s.must("ben", "point_add", `{"points":40}`)
		s.must("ben", "reserve_points", `{"points":10,"transaction_id":"T-2"}`)
		s.must("ben", "coupon_create", `{"code":"C-1","value":1,"amount":10}`)
		s.must("ben", "checkout", `{"transaction_id":"T-1","total":50,"points_burned":20,"coupon_code":"C-1","offers":["o"],"items":`+oneLine+`}`)
		_, err := s.Submit(ctx, operation("ada", "merge", `{"source":"ben"}`))
		require.NoError(t, err)
		s.must("ada", "release_points", `{"transaction_id":"T-2","points":3}`)
		s.must("ada", "checkout_reject", `{"transaction_id":"T-1"}`)
		s.must("ada", "offer_redeem", `{"offer":"o"}`)
		s.must("ada", "coupon_redeem", `{"code":"C-1"}`)
		s.must("ada", "point_spend", `{"points":33}`)
		s.must("ada", "opt_out", `{}`)
		s.verify()
		s.rebuilt()
	})
}

// T23: suspended referrer etc, transfer to a merged customer, by their old name.
func TestReview2TransferToTheOldName(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		for _, n := range []string{"ada", "ben", "cili"} {
			s.must(n, "opt_in", `{"email":"`+n+`@shop.test"}`)
		}
		_, err := s.Submit(ctx, operation("ben", "merge", `{"source":"cili"}`))
		require.NoError(t, err)
		s.must("ada", "coupon_create", `{"code":"C-1","value":1}`)
		errs := s.all(event("ada", "coupon_transfer", `{"code":"C-1","target":"cili"}`), event("ben", "coupon_redeem", `{"code":"C-1"}`))
		require.Equal(t, []error{nil, nil}, errs)
		s.rebuilt()
	})
}

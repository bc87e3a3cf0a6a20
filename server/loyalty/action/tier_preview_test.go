package action_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// TestPreviewTellsTiersAndChallenges: each rule that spoke tells what it looked at
// and what it gave, and nothing is kept.
func TestPreviewTellsTiersAndChallenges(t *testing.T) {
	eachShop(t, modules{}, func(t *testing.T, s *shop) {
		s.Make(nil, things{
			{"tiers/structure", "club", `{"name":"Club","base":"points","window":{"kind":"rolling","days":30}}`},
			{"tiers/tier", "gold", `{"structure":"club","name":{"en":"Gold"},"threshold":100}`},
			{"challenges/challenge", "once", `{"title":{"en":"Once"},"criteria":[{"action":"point_add","threshold":1}],"points":7}`},
			{"challenges/challenge", "twice", `{"title":{"en":"Twice"},"criteria":[{"action":"point_add","threshold":2}],"points":9}`},
		})

		s.Must("member-1001", "opt_in", `{"email":"member-1001@shop.test"}`)
		before := s.Rows()
		o, err := s.Preview(context.Background(), loyaltytest.Event("member-1001", "point_add", `{"points":93}`))
		require.NoError(t, err)
		require.Equal(t, before, s.Rows())
		require.EqualValues(t, 100, o.Customer.Figures.Score)
		var said []loyalty.Verdict
		for _, v := range o.Trace {
			if v.Rule == "tier" || v.Rule == "challenge" {
				said = append(said, v)
			}
		}

		require.Equal(t, []loyalty.Verdict{
			{Rule: "challenge", Verdict: "applied", Reason: "reason.challenge_completed", Points: 7, Input: map[string]any{"challenge": "once"}},
			{Rule: "challenge", Verdict: "applied", Reason: "reason.challenge_progress", Input: map[string]any{"challenge": "twice"}},
			{Rule: "tier", Verdict: "applied", Reason: "reason.tier_up", Input: map[string]any{"structure": "club", "tier": "gold", "before": "", "figure": int64(100)}},
		}, said)

		require.Empty(t, s.Progress(o.Customer.ID)[loyalty.ProgressKey{Kind: loyalty.ProgressChallenge, Key: "once"}])

		s.Must("member-1001", "point_add", `{"points":1}`)
		o, err = s.Preview(context.Background(), loyaltytest.Event("member-1001", "point_add", `{"points":1}`))
		require.NoError(t, err)
		require.Contains(t, o.Trace, loyalty.Verdict{Rule: "challenge", Verdict: "skipped", Reason: "reason.challenge_full", Input: map[string]any{"challenge": "once"}})
	})
}

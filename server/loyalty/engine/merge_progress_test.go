package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
	"github.com/loyalty-platform/loyalty/server/loyalty/referral"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// TestJoins: how two accounts of one person add up, kind by kind.
func TestJoins(t *testing.T) {
	r := &engine.Run{Programme: &programme.Programme{}}
	tier.Structures.Put(r.Programme, "main", &tier.Structure{Tiers: []*tier.Tier{{ID: "silver"}, {ID: "gold"}}})
	challenge.Challenges.Put(r.Programme, "three", &challenge.Challenge{})
	features := map[loyalty.ProgressKind]engine.Feature{}
	for _, f := range []engine.Feature{
		purchase.PendingFeature, reward.RewardFeature, offer.OfferFeature, campaign.CampaignFeature, challenge.ChallengeFeature, tier.TierFeature, referral.ReferralFeature, game.ContestFeature, game.WheelFeature,
		game.TreasureFeature, game.QuizFeature, game.FlowFeature,
	} {
		features[f.Progress] = f
	}

	join := func(kind loyalty.ProgressKind, key, mine, theirs string) (any, error) {
		if features[kind].Join == nil {
			return json.RawMessage(mine), nil
		}
		return features[kind].Join(r, key, json.RawMessage(mine), json.RawMessage(theirs))
	}

	seen := map[loyalty.ProgressKind]bool{}
	for _, c := range []struct {
		name               string
		kind               loyalty.ProgressKind
		key                string
		mine, theirs, want string
	}{
		{"the higher tier", loyalty.ProgressTier, "main", `{"tier":"silver","earned":"silver","of":"x","buckets":{"2026-03-01":5}}`,
			`{"tier":"gold","since":"2026-03-01T00:00:00Z","earned":"gold","grace_until":"2026-04-01T00:00:00Z"}`,
			`{"tier":"gold","since":"2026-03-01T00:00:00Z","earned":"gold","grace_until":"2026-04-01T00:00:00Z"}`},
		{"the longer of two given tiers", loyalty.ProgressTier, "main", `{"tier":"gold","manual":"gold","manual_until":"2026-04-01T00:00:00Z"}`,
			`{"tier":"gold","manual":"gold","manual_until":"2026-05-01T00:00:00Z"}`,
			`{"tier":"gold","manual":"gold","manual_until":"2026-05-01T00:00:00Z"}`},
		{"one without an end is the longest", loyalty.ProgressTier, "main", `{"tier":"gold","manual":"gold"}`,
			`{"tier":"gold","manual":"gold","manual_until":"2026-05-01T00:00:00Z"}`,
			`{"tier":"gold","manual":"gold"}`},
		{"of an archived structure this one's stays", loyalty.ProgressTier, "gone", `{"tier":"silver"}`, `{"tier":"gold"}`, `{"tier":"silver"}`},
		{"challenges add up", loyalty.ProgressChallenge, "three", `{"of":"","completions":1,"criteria":[2,3],"started":"2026-03-02T00:00:00Z","completed":"2026-03-01T00:00:00Z"}`,
			`{"of":"","completions":2,"criteria":[1,0],"started":"2026-03-01T00:00:00Z","completed":"2026-02-01T00:00:00Z"}`,
			`{"of":"","completions":3,"criteria":[3,3],"started":"2026-03-01T00:00:00Z","completed":"2026-03-01T00:00:00Z"}`},
		{"day by day", loyalty.ProgressChallenge, "three", `{"of":"","completions":0,"criteria":[2],"days":[{"2026-03-01":2}]}`,
			`{"of":"","completions":0,"criteria":[3],"days":[{"2026-03-01":1,"2026-03-02":2}]}`, `{"of":"","completions":0,"criteria":[5],"days":[{"2026-03-01":3,"2026-03-02":2}]}`},
		{"counts towards old criteria are gone", loyalty.ProgressChallenge, "three", `{"of":"then","completions":1,"criteria":[2]}`,
			`{"of":"","completions":1,"criteria":[1,1]}`, `{"of":"","completions":2,"criteria":[1,1]}`},
		{"what refunds can undo comes along", loyalty.ProgressChallenge, "three",
			`{"of":"","completions":1,"criteria":[1],"parts":["00000000-0000-0000-0000-00000000000a"],"sole":"00000000-0000-0000-0000-0000000000aa","kept":[{"for":null,"of":"","event":"00000000-0000-0000-0000-00000000000e","criteria":[3],"needs":[3],"at":"2026-03-01T00:00:00Z"}]}`,
			`{"of":"","completions":1,"criteria":[1],"parts":["00000000-0000-0000-0000-00000000000b"],"kept":[{"for":null,"of":"","event":"00000000-0000-0000-0000-00000000000f","criteria":[3],"needs":[3],"at":"2026-03-02T00:00:00Z"}]}`,
			`{"of":"","completions":2,"criteria":[2],"parts":["00000000-0000-0000-0000-00000000000a","00000000-0000-0000-0000-00000000000b"],"kept":[{"for":null,"of":"","event":"00000000-0000-0000-0000-00000000000f","criteria":[3],"needs":[3],"at":"2026-03-02T00:00:00Z"},{"for":null,"of":"","event":"00000000-0000-0000-0000-00000000000e","criteria":[3],"needs":[3],"at":"2026-03-01T00:00:00Z"}]}`},
		{"rewards", loyalty.ProgressReward, "mug", `{"claims":1,"last_claimed_at":"2026-03-01T00:00:00Z","coupons":["A"]}`,
			`{"claims":2,"last_claimed_at":"2026-03-02T00:00:00Z","coupons":["B"]}`, `{"claims":3,"last_claimed_at":"2026-03-02T00:00:00Z","coupons":["A","B"]}`},
		{"entries", loyalty.ProgressContest, "spring", `{"entries":1,"paid":[{"count":1,"points":5}]}`, `{"entries":2,"paid":[{"count":2,"points":3}]}`,
			`{"entries":3,"paid":[{"count":1,"points":5},{"count":2,"points":3}]}`},
		{"spins of one week", loyalty.ProgressWheel, "w", `{"period":"week 2026-03-02","spins":1,"total":4}`, `{"period":"week 2026-03-02","spins":2,"total":2}`,
			`{"period":"week 2026-03-02","spins":3,"total":6}`},
		{"spins of a later week", loyalty.ProgressWheel, "w", `{"period":"week 2026-03-02","spins":1,"total":4}`, `{"period":"week 2026-03-09","spins":2,"total":2}`,
			`{"period":"week 2026-03-09","spins":2,"total":6}`},
		{"the first find", loyalty.ProgressTreasure, "t", `{"found_at":"2026-03-02T00:00:00Z"}`, `{"found_at":"2026-03-01T00:00:00Z"}`, `{"found_at":"2026-03-01T00:00:00Z"}`},
		{"offers", loyalty.ProgressOffer, "o", `{"redeemed":1,"last":["A"]}`, `{"claimed_at":"2026-03-01T00:00:00Z","claim":"00000000-0000-0000-0000-00000000000a","redeemed":2,"last":["B","C"]}`,
			`{"claimed_at":"2026-03-01T00:00:00Z","claim":"00000000-0000-0000-0000-00000000000a","redeemed":3,"last":["B","C","A"]}`},
		{"campaigns", loyalty.ProgressCampaign, "c", `{"count":1}`, `{"count":2}`, `{"count":3}`},
		{"the first answer", loyalty.ProgressQuiz, "q", `{"answer":"b","correct":false,"answered_at":"2026-03-02T00:00:00Z"}`,
			`{"answer":"a","correct":true,"answered_at":"2026-03-01T00:00:00Z"}`, `{"answer":"a","correct":true,"answered_at":"2026-03-01T00:00:00Z"}`},
		{"answers", loyalty.ProgressFlow, "f", `{"answered":["x"],"rewarded":false}`, `{"answered":["y","x"],"rewarded":true}`, `{"answered":["x","y"],"rewarded":true}`},
		{"held events have ids of their own", loyalty.ProgressHeld, "h", `{"action":"visit"}`, `{"action":"video"}`, `{"action":"visit"}`},
		{"one bonus", loyalty.ProgressReferral, "bonus", `{"on":"checkout"}`, `{"on":"opt_in"}`, `{"on":"checkout"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen[c.kind] = true
			sum, err := join(c.kind, c.key, c.mine, c.theirs)
			require.NoError(t, err)
			require.JSONEq(t, c.want, marshalled(t, sum))
			if marshalled(t, sum) != c.mine { // mine as it was needs no reading
				_, err = join(c.kind, c.key, c.mine, `{"tier":1,"criteria":1,"claims":"","entries":"","spins":"","found_at":1,"redeemed":"","count":"","answer":1,"answered":1}`)
				require.Error(t, err, "a document of another form is not joined")
			}
		})
	}

	for kind := loyalty.ProgressTier; kind <= loyalty.ProgressReferral; kind++ {
		require.True(t, seen[kind], "kind %d", kind)
	}

	require.Len(t, features, len(seen))
}

func marshalled(t *testing.T, v any) string {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

package action_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// TestManyCompletionsComeBack: a purchase whose every line completed a challenge, long
// after its points expired, and purchases beyond the completions that are kept.
func TestManyCompletionsComeBack(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(modules{"points_economy": `{"expiry":{"policy":"rolling","days":1}}`, "challenges": "{}", "incentivized_purchase": "off"}, things{
			{"challenges/challenge", "line", `{"title":{"en":"L"},"criteria":[{"action":"checkout_item","threshold":1}],"points":1,"max_completions":100000}`},
			{"challenges/challenge", "pair", `{"title":{"en":"P"},"criteria":[{"action":"checkout","threshold":2}],"points":1000,"max_completions":100000}`},
		})

		s.Enrol("ada")
		const lines = 300
		s.Must("ada", "checkout", `{"transaction_id":"T-0","total":1,"items":`+loyaltytest.Basket(lines, "")+`}`)
		score := func() int64 { return s.Customer("ada").Figures.Score }
		require.EqualValues(t, lines, score())
		s.Wait(48 * time.Hour)
		refunded := s.Must("ada", "refund", `{"transaction_id":"T-0"}`)
		require.Equal(t, 2+lines, len(refunded.Events), "what expired, and one for each completion")
		require.Equal(t, loyalty.Customer{}.Figures, s.Customer("ada").Figures)
		s.Must("ada", "checkout", `{"transaction_id":"T","total":1}`) // T-0 left nothing behind
		for i := range 211 {
			s.Must("ada", "checkout", fmt.Sprintf(`{"transaction_id":"P-%d","total":1}`, i))
		}

		require.EqualValues(t, 106_000, score())
		s.Must("ada", "refund", `{"transaction_id":"P-0"}`)
		require.EqualValues(t, 106_000, score(), "before the last hundred: it stays")
		s.Must("ada", "refund", `{"transaction_id":"P-210"}`)
		require.EqualValues(t, 105_000, score())
		s.Must("ada", "refund", `{"transaction_id":"P-14"}`)
		require.EqualValues(t, 105_000, score(), "filled by the other half of the last one")
		s.Must("ada", "refund", `{"transaction_id":"P-13"}`)
		require.EqualValues(t, 104_000, score())
		s.FoldsBack()
	})
}

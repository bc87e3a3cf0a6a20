package job_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
)

// Claiming a claimed offer changes nothing: no event is written that campaigns and challenges would
// pay for, and the first claim is the answer.
func TestOfferClaimedAgain(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.make(nil, things{
			{"offers/offer", "deal", `{"name":{"en":"Deal"},"type":"cart","discount":{"type":"fixed_discount","value":1},"max_per_customer":1}`},
			{"automation/campaign", "taken", `{"name":"Taken","trigger":"offer_claim","effects":[{"type":"points","points":5}],"status":"active"}`},
			{"challenges/challenge", "two", `{"title":{"en":"Two"},"criteria":[{"action":"offer_claim","threshold":2}],"points":50}`},
		})

		s.enrol("ada")
		first := s.operate("ada", "offer_claim", `{"offer":"deal"}`)
		require.EqualValues(t, 5, s.customer("ada").Figures.Spendable())
		before := s.customer("ada")
		s.wait(time.Hour)
		again := s.operate("ada", "offer_claim", `{"offer":"deal"}`)
		require.Empty(t, again.Events)
		require.Equal(t, first.Value.(offer.OfferClaim), again.Value.(offer.OfferClaim))
		require.Equal(t, first.Events[0].ID, again.Value.(offer.OfferClaim).ID)
		require.Equal(t, before, s.customer("ada"))
		s.must("ada", "offer_redeem", `{"offer":"deal"}`)
		s.foldsBack()
	})
}

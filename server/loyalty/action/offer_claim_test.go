package action_test

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
		s.Make(nil, things{
			{"offers/offer", "deal", `{"name":{"en":"Deal"},"type":"cart","discount":{"type":"fixed_discount","value":1},"max_per_customer":1}`},
			{"automation/campaign", "taken", `{"name":"Taken","trigger":"offer_claim","effects":[{"type":"points","points":5}],"status":"active"}`},
			{"challenges/challenge", "two", `{"title":{"en":"Two"},"criteria":[{"action":"offer_claim","threshold":2}],"points":50}`},
		})

		s.Enrol("ada")
		first := s.Operate("ada", "offer_claim", `{"offer":"deal"}`)
		require.EqualValues(t, 5, s.Customer("ada").Figures.Spendable())
		before := s.Customer("ada")
		s.Wait(time.Hour)
		again := s.Operate("ada", "offer_claim", `{"offer":"deal"}`)
		require.Empty(t, again.Events)
		require.Equal(t, first.Value.(offer.OfferClaim), again.Value.(offer.OfferClaim))
		require.Equal(t, first.Events[0].ID, again.Value.(offer.OfferClaim).ID)
		require.Equal(t, before, s.Customer("ada"))
		s.Must("ada", "offer_redeem", `{"offer":"deal"}`)
		s.FoldsBack()
	})
}

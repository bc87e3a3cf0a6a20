package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// Conditions know the customer lists that a customer is on, from the next event on.
func TestConditionsOnLists(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(nil, things{
			loyaltytest.AnyCampaign("guests", `"trigger":"visit","condition":"\"spring\" in customer.lists","effects":[{"type":"points","points":3}]`),
			{"segments/segment", "several", `{"name":"Several","condition":"len(customer.lists) > 1"}`},
			{"rewards/reward", "mug", `{"title":{"en":"Mug"},"type":"physical","points":1,"segments":["several"]}`},
		})

		for i := range 3 {
			s.Must(loyaltytest.Member(i), "opt_in", `{"email":"ada@shop.test"}`)
		}

		visit := func(i int) int64 {
			t.Helper()
			s.Must(loyaltytest.Member(i), "visit", `{"url":"https://shop.test/"}`)
			return s.Customer(loyaltytest.Member(i)).Figures.Score
		}

		require.Zero(t, visit(0))
		work := func(kind, list string, customers ...string) {
			t.Helper()
			s.begin(kind, list, customers...)
			_, failed, _, err := s.Jobs().WorkBulk(ctx)
			require.NoError(t, err)
			require.Zero(t, failed)
		}

		version := s.Customer(loyaltytest.Member(0)).Version
		work(loyalty.BulkListAdd, "spring", loyaltytest.Member(0), loyaltytest.Member(1), loyaltytest.Member(0))
		require.Equal(t, version+1, s.Customer(loyaltytest.Member(0)).Version, "what is decided about them at the moment is decided again")
		require.EqualValues(t, 3, visit(0))
		require.EqualValues(t, 3, visit(1))

		claim := loyalty.Submission{Customer: loyaltytest.Member(0), Operation: true, Action: "reward_claim", Data: []byte(`{"reward":"mug"}`)}
		_, err := s.Submit(ctx, claim)
		require.ErrorIs(t, err, loyalty.ErrRewardSegment)
		work(loyalty.BulkListAdd, "vip", loyaltytest.Member(0), loyaltytest.Member(2))
		_, err = s.Submit(ctx, claim)
		require.NoError(t, err)

		work(loyalty.BulkListRemove, "spring", loyaltytest.Member(0), loyaltytest.Member(2))
		require.EqualValues(t, 3, visit(0))
		require.Zero(t, visit(2))
		_, err = s.Submit(ctx, loyalty.Submission{Customer: loyaltytest.Member(2), Operation: true, Action: "merge", Data: []byte(`{"source":"member-1"}`)})
		require.NoError(t, err)
		require.EqualValues(t, 6, visit(2), "with the source came its list")
		s.Must(loyaltytest.Member(2), "opt_out", `{}`)
		var left int
		require.NoError(t, s.Raw.QueryRow(`SELECT count(*) FROM list_members`).Scan(&left))
		require.Equal(t, 1, left, "member-0 is on vip")
		s.Verify()
	})
}

package action_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
)

// TestExternalIDsRace: of many customers who claim one second card at once, in whatever place of their lists, one gets it.
func TestExternalIDsRace(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		const many = 8
		errs := make(chan error, many)
		for i := range many {
			s.Must(fmt.Sprint("c", i), "opt_in", fmt.Sprintf(`{"email":"c%d@shop.test","external_ids":{"card":"own-%d"}}`, i, i))
		}

		for i := range many {
			go func() {
				ids := fmt.Sprintf(`["own-%d","shared"]`, i)
				if i%2 == 1 {
					ids = fmt.Sprintf(`["shared","own-%d"]`, i)
				}
				_, err := s.Send(fmt.Sprint("c", i), "profile", `{"external_ids":{"card":`+ids+`}}`)
				errs <- err
			}()
		}

		got := 0
		for range many {
			err := <-errs
			if err == nil {
				got++
				continue
			}
			require.ErrorIs(t, err, loyalty.ErrExternalIDTaken)
			require.Contains(t, []string{"data.external_ids.card[0]", "data.external_ids.card[1]"}, loyalty.AsError(err).Details[0].Field)
		}

		require.Equal(t, 1, got)

		owner := s.Customer("card:shared")
		require.Len(t, owner.Profile.ExternalIDs["card"], 2)
		for i := range many {
			c := s.Customer(fmt.Sprintf("card:own-%d", i))
			require.Equal(t, fmt.Sprint("c", i), c.Name)
			if c.ID != owner.ID {
				require.Len(t, c.Profile.ExternalIDs["card"], 1)
			}
		}

		s.Verify()
	})
}

// TestExternalIDsChangeHands: within one batch ids of lists go from one customer to another, and a merge takes along what both had.
func TestExternalIDsChangeHands(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test","external_ids":{"card":["1","2","3"]}}`)
		s.Must("ben", "opt_in", `{"email":"ben@shop.test","external_ids":{"card":["4"]}}`)
		results := s.SubmitAll(ctx, []loyalty.Submission{
			{Customer: "ada", Action: "profile", Data: []byte(`{"external_ids":{"card":["3","5"]}}`)},
			{Customer: "ben", Action: "profile", Data: []byte(`{"external_ids":{"card":["1","4","2"]}}`)},
			{Customer: "ada", Action: "profile", Data: []byte(`{"external_ids":{"card":["5","2"]}}`)},
		})

		require.NoError(t, results[0].Err)
		require.NoError(t, results[1].Err)
		require.ErrorIs(t, results[2].Err, loyalty.ErrExternalIDTaken)
		require.Equal(t, loyalty.ExternalIDs{"card": {"3", "5"}}, s.Customer("card:5").Profile.ExternalIDs)
		require.Equal(t, loyalty.ExternalIDs{"card": {"1", "4", "2"}}, s.Customer("card:2").Profile.ExternalIDs)

		_, err := s.Submit(ctx, loyaltytest.Operation("ada", "merge", `{"source":"ben"}`))
		require.NoError(t, err)
		require.Equal(t, loyalty.ExternalIDs{"card": {"3", "5", "1", "4", "2"}}, s.Customer("card:4").Profile.ExternalIDs)
		s.Must("ada", "profile", `{"external_ids":{"card":"4"}}`)
		s.Must("cili", "opt_in", `{"email":"cili@shop.test","external_ids":{"card":["1","2","3","5"]}}`)
		s.Must("cili", "opt_out", `{}`)
		s.Must("ada", "profile", `{"external_ids":{"card":["1","2"]}}`)

		most := loyalty.ExternalIDs{}
		for i := range 50 * loyalty.MostIDs {
			name := fmt.Sprint("system-", i%50)
			most[name] = append(most[name], fmt.Sprint("id-", i))
		}

		s.Must("dora", "opt_in", `{"email":"dora@shop.test","external_ids":`+string(loyalty.JSON(most))+`}`)
		require.Equal(t, most, s.Customer("system-49:id-999").Profile.ExternalIDs)
		s.Must("emma", "opt_in", `{"email":"emma@shop.test","external_ids":{"system-7":"own"}}`)
		_, err = s.Submit(ctx, loyaltytest.Operation("emma", "merge", `{"source":"dora"}`))
		require.NoError(t, err)
		require.Len(t, s.Customer("system-7:id-957").Profile.ExternalIDs["system-7"], loyalty.MostIDs)
		require.Equal(t, "emma", s.Customer("system-7:id-957").Name)
		s.Verify()
	})
}

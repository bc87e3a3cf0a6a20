package engine_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// A merge in the middle of a bulk: what comes before it, and what comes after it
// under either name, has its effect in order.
func TestMergeInBulk(t *testing.T) {
	eachShop(t, modules{"customer_id_validation": "{}"}, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ben", "opt_in", `{"email":"ben@shop.test","external_ids":{"crm":"77"}}`)
		results := s.SubmitAll(ctx, []loyalty.Submission{
			loyaltytest.Event("ada", "point_add", `{"points":1}`),
			loyaltytest.Event("ben", "point_add", `{"points":10}`),
			loyaltytest.Event("ben", "checkout", `{"transaction_id":"T-1","total":50,"items":`+loyaltytest.OneLine+`}`),
			loyaltytest.Operation("ada", "merge", `{"source":"ben"}`),
			loyaltytest.Event("ben", "point_spend", `{"points":61}`),
			loyaltytest.Event("ada", "refund", `{"transaction_id":"T-1"}`),
			{Customer: "77", ExternalID: "crm", Action: "point_add", Data: json.RawMessage(`{"points":100}`)},
			loyaltytest.Operation("ada", "merge", `{"source":"ben"}`),
		})

		for i, r := range results[:7] {
			require.NoError(t, r.Err, i)
		}

		require.ErrorIs(t, results[7].Err, loyalty.ErrForbiddenState)
		require.Equal(t, points.Figures{Score: 111, Spent: 61}, s.Customer("ada").Figures)
		require.Equal(t, s.Customer("ada"), s.Customer("ben"), "the source's name answers with the target")
		source := s.Loaded(results[1].Outcome.Customer.ID).Customer
		require.Equal(t, []any{loyalty.Merged, s.Customer("ada").ID, points.Figures{}, "ben@shop.test"},
			[]any{source.Status, source.MergedInto, source.Figures, source.Profile.Email})
		require.True(t, source.DueAt.IsZero())
		s.Verify()
	})
}

// A guest buys and a member claims it within one bulk, and refunds it.
func TestClaimInBulk(t *testing.T) {
	eachShop(t, modules{"customer_id_validation": "{}"}, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		results := s.SubmitAll(ctx, []loyalty.Submission{
			{Customer: "guest-1", Guest: true, Action: "checkout", Data: json.RawMessage(`{"transaction_id":"T-1","total":50,"items":` + loyaltytest.OneLine + `}`)},
			loyaltytest.Event("ada", "checkout_claim", `{"transaction_id":"T-1"}`),
			loyaltytest.Event("ada", "refund_item", `{"transaction_id":"T-1","product_id":"p"}`),
			loyaltytest.Event("ada", "checkout_claim", `{"transaction_id":"T-1"}`),
		})

		for i, r := range results[:3] {
			require.NoError(t, r.Err, i)
		}

		require.ErrorIs(t, results[3].Err, loyalty.ErrTransactionNotFound)
		require.Equal(t, points.Figures{}, s.Customer("ada").Figures)
		require.Equal(t, points.Figures{}, s.Customer("guest-1").Figures)
		require.Equal(t, s.Customer("ada").ID, s.Transaction("ada", "T-1").Customer)
		s.Verify()
	})
}

// Every state of the source against every state of the target.
func TestMergeStates(t *testing.T) {
	states := []loyalty.Status{loyalty.Inactive, loyalty.Active, loyalty.Suspended, loyalty.OptedOut, loyalty.Merged}
	legal := states[:3]
	eachShop(t, modules{"checkout_accept": `{}`}, func(t *testing.T, s *shop) {
		s.Must("elsewhere", "opt_in", `{"email":"x@shop.test"}`)
		bring := func(name string, to loyalty.Status) string {
			if to != loyalty.Merged {
				return s.bring(name, to)
			}
			s.bring(name, loyalty.Active)
			_, err := s.Submit(ctx, loyaltytest.Operation("elsewhere", "merge", `{"source":"`+name+`"}`))
			require.NoError(t, err)
			return name
		}

		for _, from := range states {
			for _, into := range states {
				source, target := bring("s-"+string(from)+"-"+string(into), from), bring("t-"+string(from)+"-"+string(into), into)
				_, err := s.Submit(ctx, loyaltytest.Operation(target, "merge", `{"source":"`+source+`"}`))
				switch {
				case !slices.Contains(legal, into):
					require.ErrorIs(t, err, loyalty.ErrWrongStatus, "%s into %s", from, into)
					require.Equal(t, string(into), loyalty.AsError(err).Args["status"])
				case !slices.Contains(legal, from):
					require.ErrorIs(t, err, loyalty.ErrForbiddenState, "%s into %s", from, into)
					require.Equal(t, map[string]any{"from": string(from), "to": "merged"}, loyalty.AsError(err).Args)
				default:
					require.NoError(t, err, "%s into %s", from, into)
					require.Equal(t, into, s.Customer(source).Status, "the source answers with the target")
				}
			}
		}

		s.Verify()
	})
}

// Two operations merge the same customer at once: one of them does.
func TestMergeRace(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		for _, name := range []string{"ada", "ben", "cili"} {
			s.Must(name, "opt_in", `{"email":"a@shop.test"}`)
			s.Must(name, "point_add", `{"points":10}`)
		}

		errs := make(chan error, 2)
		for _, target := range []string{"ada", "cili"} {
			go func() {
				_, err := s.Submit(ctx, loyaltytest.Operation(target, "merge", `{"source":"ben"}`))
				errs <- err
			}()
		}

		one, other := <-errs, <-errs
		if one == nil {
			one, other = other, one
		}

		require.NoError(t, other)
		require.ErrorIs(t, one, loyalty.ErrForbiddenState)
		require.Equal(t, int64(30), s.Customer("ada").Figures.Score+s.Customer("cili").Figures.Score)
		s.Verify()
	})
}

// After the target's opt_out nothing that names a merged source can be read: no
// key, no profile, no name.
func TestMergedAreForgotten(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		for _, name := range []string{"ada", "ben", "cili"} {
			s.Must(name, "opt_in", `{"email":"`+name+`@canary.test","first_name":"Canary`+name+`","external_ids":{"crm":"canary-`+name+`"}}`)
			s.Must(name, "point_add", `{"points":10,"reason":"canary reason"}`)
		}

		ben, cili := s.Customer("ben").ID, s.Customer("cili").ID
		_, err := s.Submit(ctx, loyaltytest.Operation("ben", "merge", `{"source":"cili"}`))
		require.NoError(t, err)
		_, err = s.Submit(ctx, loyaltytest.Operation("ada", "merge", `{"source":"ben"}`))
		require.NoError(t, err)
		require.Contains(t, s.Dump(), "ben@canary.test", "the profile of a merged customer stays on its row")
		require.NotContains(t, s.Dump(), `"source"`, "the event does not name the source in the clear")
		o := s.Must("ada", "opt_out", `{}`)
		for _, id := range []loyalty.ID{o.Customer.ID, ben, cili} {
			c := s.Loaded(id).Customer
			require.Nil(t, c.Key)
			require.Empty(t, c.Profile.ExternalIDs)
		}

		for _, gone := range []string{"canary", "Canary"} {
			require.NotContains(t, s.Dump(), gone)
		}

		for _, name := range []string{"ada", "ben", "cili"} {
			_, err := s.DB.Customer(ctx, name)
			require.ErrorIs(t, err, loyalty.ErrCustomerNotFound)
		}

		s.Wait(time.Hour)
		s.Verify()
	})
}

// What can be held is checked when the module is configured.
func TestHoldable(t *testing.T) {
	for _, action := range []string{"opt_in", "profile", "pending_validate", "checkout_accept", "coupon_transfer", "merge", "point_burn", "nothing"} {
		_, err := loyaltytest.CompileWith(modules{"pending_events": `{"actions":["visit","` + action + `"]}`}, nil)
		require.ErrorIs(t, err, loyalty.ErrNotHoldable, action)
		e := loyalty.AsError(err)
		require.Equal(t, action, e.Args["action"])
		require.Equal(t, "config.actions[1]", e.Details[0].Field)
	}
	_, err := loyaltytest.CompileWith(modules{"pending_events": `{"actions":["visit","visit"]}`}, nil)
	require.Error(t, err)
	p, err := loyaltytest.CompileWith(modules{"pending_events": `{"actions":["visit","tasting"],"days":30}`, "custom_events": "{}"},
		things{{"custom-events/action", "tasting", `{"name":"tasting","schema":{"type":"object"}}`}})
	require.NoError(t, err)
	require.Equal(t, programme.Holding{Actions: []string{"visit", "tasting"}, Days: 30}, p.Holding)
}

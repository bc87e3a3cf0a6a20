package job_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

func operation(customer, action, data string) loyalty.Submission {
	return loyalty.Submission{Customer: customer, Action: action, Data: json.RawMessage(data), Operation: true}
}

// A merge in the middle of a bulk: what comes before it, and what comes after it
// under either name, has its effect in order.
func TestMergeInBulk(t *testing.T) {
	eachShop(t, modules{"customer_id_validation": "{}"}, func(t *testing.T, s *shop) {
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.must("ben", "opt_in", `{"email":"ben@shop.test","external_ids":{"crm":"77"}}`)
		results := s.SubmitAll(ctx, []loyalty.Submission{
			event("ada", "point_add", `{"points":1}`),
			event("ben", "point_add", `{"points":10}`),
			event("ben", "checkout", `{"transaction_id":"T-1","total":50,"items":`+oneLine+`}`),
			operation("ada", "merge", `{"source":"ben"}`),
			event("ben", "point_spend", `{"points":61}`),
			event("ada", "refund", `{"transaction_id":"T-1"}`),
			{Customer: "77", ExternalID: "crm", Action: "point_add", Data: json.RawMessage(`{"points":100}`)},
			operation("ada", "merge", `{"source":"ben"}`),
		})

		for i, r := range results[:7] {
			require.NoError(t, r.Err, i)
		}

		require.ErrorIs(t, results[7].Err, loyalty.ErrForbiddenState)
		require.Equal(t, points.Figures{Score: 111, Spent: 61}, s.customer("ada").Figures)
		require.Equal(t, s.customer("ada"), s.customer("ben"), "the source's name answers with the target")
		source := s.loaded(results[1].Outcome.Customer.ID).Customer
		require.Equal(t, []any{loyalty.Merged, s.customer("ada").ID, points.Figures{}, "ben@shop.test"},
			[]any{source.Status, source.MergedInto, source.Figures, source.Profile.Email})
		require.True(t, source.DueAt.IsZero())
		s.verify()
	})
}

// A guest buys and a member claims it within one bulk, and refunds it.
func TestClaimInBulk(t *testing.T) {
	eachShop(t, modules{"customer_id_validation": "{}"}, func(t *testing.T, s *shop) {
		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		results := s.SubmitAll(ctx, []loyalty.Submission{
			{Customer: "guest-1", Guest: true, Action: "checkout", Data: json.RawMessage(`{"transaction_id":"T-1","total":50,"items":` + oneLine + `}`)},
			event("ada", "checkout_claim", `{"transaction_id":"T-1"}`),
			event("ada", "refund_item", `{"transaction_id":"T-1","product_id":"p"}`),
			event("ada", "checkout_claim", `{"transaction_id":"T-1"}`),
		})

		for i, r := range results[:3] {
			require.NoError(t, r.Err, i)
		}

		require.ErrorIs(t, results[3].Err, loyalty.ErrTransactionNotFound)
		require.Equal(t, points.Figures{}, s.customer("ada").Figures)
		require.Equal(t, points.Figures{}, s.customer("guest-1").Figures)
		require.Equal(t, s.customer("ada").ID, s.transaction("ada", "T-1").Customer)
		s.verify()
	})
}

// Every state of the source against every state of the target.
func TestMergeStates(t *testing.T) {
	states := []loyalty.Status{loyalty.Inactive, loyalty.Active, loyalty.Suspended, loyalty.OptedOut, loyalty.Merged}
	legal := states[:3]
	eachShop(t, modules{"checkout_accept": `{}`}, func(t *testing.T, s *shop) {
		s.must("elsewhere", "opt_in", `{"email":"x@shop.test"}`)
		bring := func(name string, to loyalty.Status) string {
			if to != loyalty.Merged {
				return s.bring(name, to)
			}
			s.bring(name, loyalty.Active)
			_, err := s.Submit(ctx, operation("elsewhere", "merge", `{"source":"`+name+`"}`))
			require.NoError(t, err)
			return name
		}

		for _, from := range states {
			for _, into := range states {
				source, target := bring("s-"+string(from)+"-"+string(into), from), bring("t-"+string(from)+"-"+string(into), into)
				_, err := s.Submit(ctx, operation(target, "merge", `{"source":"`+source+`"}`))
				switch {
				case !slices.Contains(legal, into):
					require.ErrorIs(t, err, loyalty.ErrWrongStatus, "%s into %s", from, into)
					require.Equal(t, string(into), loyalty.AsError(err).Args["status"])
				case !slices.Contains(legal, from):
					require.ErrorIs(t, err, loyalty.ErrForbiddenState, "%s into %s", from, into)
					require.Equal(t, map[string]any{"from": string(from), "to": "merged"}, loyalty.AsError(err).Args)
				default:
					require.NoError(t, err, "%s into %s", from, into)
					require.Equal(t, into, s.customer(source).Status, "the source answers with the target")
				}
			}
		}

		s.verify()
	})
}

// Two operations merge the same customer at once: one of them does.
func TestMergeRace(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		for _, name := range []string{"ada", "ben", "cili"} {
			s.must(name, "opt_in", `{"email":"a@shop.test"}`)
			s.must(name, "point_add", `{"points":10}`)
		}

		errs := make(chan error, 2)
		for _, target := range []string{"ada", "cili"} {
			go func() {
				_, err := s.Submit(ctx, operation(target, "merge", `{"source":"ben"}`))
				errs <- err
			}()
		}

		one, other := <-errs, <-errs
		if one == nil {
			one, other = other, one
		}

		require.NoError(t, other)
		require.ErrorIs(t, one, loyalty.ErrForbiddenState)
		require.Equal(t, int64(30), s.customer("ada").Figures.Score+s.customer("cili").Figures.Score)
		s.verify()
	})
}

// After the target's opt_out nothing that names a merged source can be read: no
// key, no profile, no name.
func TestMergedAreForgotten(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		for _, name := range []string{"ada", "ben", "cili"} {
			s.must(name, "opt_in", `{"email":"`+name+`@canary.test","first_name":"Canary`+name+`","external_ids":{"crm":"canary-`+name+`"}}`)
			s.must(name, "point_add", `{"points":10,"reason":"canary reason"}`)
		}

		ben, cili := s.customer("ben").ID, s.customer("cili").ID
		_, err := s.Submit(ctx, operation("ben", "merge", `{"source":"cili"}`))
		require.NoError(t, err)
		_, err = s.Submit(ctx, operation("ada", "merge", `{"source":"ben"}`))
		require.NoError(t, err)
		require.Contains(t, s.dump(), "ben@canary.test", "the profile of a merged customer stays on its row")
		require.NotContains(t, s.dump(), `"source"`, "the event does not name the source in the clear")
		o := s.must("ada", "opt_out", `{}`)
		for _, id := range []loyalty.ID{o.Customer.ID, ben, cili} {
			c := s.loaded(id).Customer
			require.Nil(t, c.Key)
			require.Empty(t, c.Profile.ExternalIDs)
		}

		for _, gone := range []string{"canary", "Canary"} {
			require.NotContains(t, s.dump(), gone)
		}

		for _, name := range []string{"ada", "ben", "cili"} {
			_, err := s.db.Customer(ctx, name)
			require.ErrorIs(t, err, loyalty.ErrCustomerNotFound)
		}

		s.wait(time.Hour)
		s.verify()
	})
}

// What can be held is checked when the module is configured.
func TestHoldable(t *testing.T) {
	for _, action := range []string{"opt_in", "profile", "pending_validate", "checkout_accept", "coupon_transfer", "merge", "point_burn", "nothing"} {
		_, err := compileWith(modules{"pending_events": `{"actions":["visit","` + action + `"]}`}, nil)
		require.ErrorIs(t, err, loyalty.ErrNotHoldable, action)
		e := loyalty.AsError(err)
		require.Equal(t, action, e.Args["action"])
		require.Equal(t, "config.actions[1]", e.Details[0].Field)
	}
	_, err := compileWith(modules{"pending_events": `{"actions":["visit","visit"]}`}, nil)
	require.Error(t, err)
	p, err := compileWith(modules{"pending_events": `{"actions":["visit","tasting"],"days":30}`, "custom_events": "{}"},
		things{{"custom-events/action", "tasting", `{"name":"tasting","schema":{"type":"object"}}`}})
	require.NoError(t, err)
	require.Equal(t, programme.Holding{Actions: []string{"visit", "tasting"}, Days: 30}, p.Holding)
}

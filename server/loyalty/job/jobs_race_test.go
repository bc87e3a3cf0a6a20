package job_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	tierrules "github.com/loyalty-platform/loyalty/server/loyalty/tier"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// pairs is how many customers a race is run for: a few, or twenty times what
// LOYALTY_TORTURE says.
func pairs(t *testing.T) int {
	text := os.Getenv("LOYALTY_TORTURE")
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "LOYALTY_TORTURE is a number")
	return max(40, 20*n)
}

// race has callers on one node and the jobs of another one work on the same
// customers at once. The caller's clock is a moment behind, so that either can be
// the first.
func race(t *testing.T, m modules, all things, test func(t *testing.T, s *shop, job *job.Jobs, n int)) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newShop(t, url, m)
		s.Make(m, all)
		node := s.Node(func(o *engine.EngineOptions) {
			o.Store, o.Clock = storetest.Open(t, url), func() time.Time { return s.Clock().Add(time.Millisecond) }
		})
		jobs := job.NewJobs(job.JobsOptions{Engine: node, Store: s.DB})
		test(t, s, jobs, pairs(t))
		s.Verify()
	})
}

// against runs a job over and over while callers send one event for each customer.
func (s *shop) against(jobs *job.Jobs, job string, n int, event func(i int) loyalty.Submission) []error {
	results := make([]error, n)
	var callers, nodes sync.WaitGroup
	done := make(chan struct{})
	nodes.Go(func() {
		for last := false; ; {
			row, err := jobs.Run(ctx, job)
			if err != nil || row.Failed > 0 {
				s.T.Errorf("%s: %v %s", job, err, row.Result)
			}
			if last {
				return
			}
			select {
			case <-done:
				last = true
			default:
			}
		}
	})

	for k := range 4 {
		callers.Go(func() {
			for i := k; i < n; i += 4 {
				_, results[i] = s.Submit(ctx, event(i))
			}
		})
	}

	callers.Wait()
	close(done)
	nodes.Wait()
	return results
}

// The caller accepts while the date accepts: the purchase is accepted once.
func TestRaceAccept(t *testing.T) {
	m := modules{"checkout_accept": `{"type":"accept","pending_days":1}`}
	race(t, m, nil, func(t *testing.T, s *shop, jobs *job.Jobs, n int) {
		for i := range n {
			s.Must(loyaltytest.Member(i), "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(loyaltytest.Member(i), "checkout", fmt.Sprintf(`{"transaction_id":"T-%d","total":50,"items":%s}`, i, loyaltytest.OneLine))
		}

		s.Wait(24*time.Hour - time.Millisecond)
		results := s.against(jobs, "auto_accept", n, func(i int) loyalty.Submission {
			return loyaltytest.Event(loyaltytest.Member(i), "checkout_accept", fmt.Sprintf(`{"transaction_id":"T-%d"}`, i))
		})
		accepted, late := s.happened("checkout_accept"), 0
		for i, err := range results {
			if err != nil {
				require.ErrorIs(t, err, loyalty.ErrTransactionNotFound)
				late++
			}
			c := s.Customer(loyaltytest.Member(i))
			require.Len(t, accepted[c.ID], 1)
			require.Equal(t, points.Figures{Score: 50}, c.Figures)
		}

		t.Logf("figures: R10: %d customers accept while the date does, the job was first %d times", n, late)
	})
}

// A refund while the purchase's points expire: in either order nothing is left.
func TestRaceRefund(t *testing.T) {
	m := modules{"points_economy": `{"expiry":{"policy":"rolling","days":1}}`}
	race(t, m, nil, func(t *testing.T, s *shop, jobs *job.Jobs, n int) {
		for i := range n {
			s.Must(loyaltytest.Member(i), "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(loyaltytest.Member(i), "checkout", fmt.Sprintf(`{"transaction_id":"T-%d","total":50,"items":%s}`, i, loyaltytest.OneLine))
		}

		s.Wait(24*time.Hour - time.Millisecond)
		results := s.against(jobs, "expiry", n, func(i int) loyalty.Submission {
			return loyaltytest.Event(loyaltytest.Member(i), "refund", fmt.Sprintf(`{"transaction_id":"T-%d"}`, i))
		})
		require.NoError(t, errors.Join(results...))
		expired := s.happened("point_expire")
		for i := range n {
			c := s.Customer(loyaltytest.Member(i))
			require.Equal(t, points.Figures{}, c.Figures)
			require.LessOrEqual(t, len(expired[c.ID]), 1)
			require.Equal(t, loyalty.Refunded, s.Transaction(loyaltytest.Member(i), fmt.Sprintf("T-%d", i)).State)
		}

		t.Logf("figures: R10: %d refunds while points expire, the job was first %d times", n, len(expired))
	})
}

// Tiers are made again while their customers burn points: both happen, once.
func TestRaceRecalculation(t *testing.T) {
	all := things{
		{"tiers/structure", "main", `{"name":"Main","base":"points","window":{"kind":"rolling","days":30},"downgrade":"automatic"}`},
		{"tiers/tier", "gold", `{"structure":"main","name":{"en":"Gold"},"threshold":40}`},
	}

	race(t, modules{}, all, func(t *testing.T, s *shop, jobs *job.Jobs, n int) {
		for i := range n {
			s.Must(loyaltytest.Member(i), "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(loyaltytest.Member(i), "point_add", `{"points":50}`)
		}

		s.Wait(time.Hour)
		results := s.against(jobs, "tiers", n, func(i int) loyalty.Submission {
			return loyaltytest.Event(loyaltytest.Member(i), "checkout", fmt.Sprintf(`{"transaction_id":"T-%d","total":0,"points_burned":5}`, i))
		})
		require.NoError(t, errors.Join(results...))
		recalculated := s.happened("tier_recalculation")
		for i := range n {
			c := s.Customer(loyaltytest.Member(i))
			require.Equal(t, points.Figures{Score: 50, Spent: 5}, c.Figures)
			require.Len(t, recalculated[c.ID], 1)
			require.Contains(t, s.tiers(c.ID), "gold")
		}

		t.Logf("figures: R10: %d customers burn points while their tiers are made again", n)
	})
}

// tiers gives what a customer's standing in the structure main is.
func (s *shop) tiers(id loyalty.ID) (tier string) {
	s.T.Helper()
	n := loyalty.Needs{Customers: []loyalty.CustomerNeeds{{ID: id, Progress: loyalty.Kinds(loyalty.ProgressTier)}}}
	require.NoError(s.T, s.DB.Within(ctx, n, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		var st tierrules.TierState
		require.NoError(s.T, json.Unmarshal(l.Customers[id].Progress[loyalty.ProgressKey{Kind: loyalty.ProgressTier, Key: "main"}].Data, &st))
		tier = st.Tier
		return &loyalty.Writes{}, nil
	}))
	return tier
}

package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// begin stores a bulk operation on customers.
func (s *shop) begin(kind, target string, customers ...string) loyalty.BulkOperation {
	s.T.Helper()
	o := loyalty.BulkOperation{ID: loyalty.NewID(s.Clock(), loyalty.ID{}), Kind: kind, Target: target, State: loyalty.BulkQueued, CreatedAt: s.Clock()}
	require.NoError(s.T, s.DB.Change(ctx, func(tx loyalty.AdminTx) (err error) {
		o, err = tx.AddBulk(o, customers, "")
		return err
	}))
	return o
}

func (s *shop) operation(o loyalty.BulkOperation) loyalty.BulkOperation {
	s.T.Helper()
	o, err := s.DB.BulkOperation(ctx, o.ID, o.Kind)
	require.NoError(s.T, err)
	return o
}

// failures lists the refused items of an operation with their errors.
func (s *shop) failures(o loyalty.BulkOperation) (list []string) {
	s.T.Helper()
	items, err := s.DB.BulkErrors(ctx, o.ID, loyalty.BulkPage{Limit: 1000})
	require.NoError(s.T, err)
	for _, i := range items {
		list = append(list, fmt.Sprint(i.Seq, " ", i.Customer, " ", i.Failure()))
	}
	return list
}

var mug = things{{"rewards/reward", "mug", `{"title":{"en":"Mug"},"type":"physical","points":5}`}}

// Two nodes that both think the job is theirs work on the same operation: each customer has one claim and is counted
// once.
func TestBulkTwoNodes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newShop(t, url, nil)
		s.Make(nil, mug)
		const members = 400
		names, enrolments := make([]string, 0, members), []loyalty.Submission{}
		for i := range members {
			names = append(names, loyaltytest.Member(i))
			enrolments = append(enrolments, loyaltytest.Event(loyaltytest.Member(i), "opt_in", `{"email":"ada@shop.test"}`))
			if i%10 != 0 { // these cannot pay
				enrolments = append(enrolments, loyaltytest.Event(loyaltytest.Member(i), "point_add", `{"points":20}`))
			}
		}

		for _, r := range s.SubmitAll(ctx, enrolments) {
			require.NoError(t, r.Err)
		}

		o := s.begin(loyalty.BulkRewardClaim, "mug", names...)
		var nodes sync.WaitGroup
		var lock sync.Mutex
		var done int64
		for range 3 {
			db := storetest.Open(t, url)
			e := s.Node(func(o *engine.EngineOptions) { o.Store = db })
			nodes.Go(func() {
				for range 50 { // a node that lost too often leaves the rest to its next run
					n, _, _, err := job.NewJobs(job.JobsOptions{Engine: e, Store: db}).WorkBulk(ctx)
					if err != nil {
						t.Error(err)
					}
					lock.Lock()
					done += n
					lock.Unlock()
					if open, err := db.OpenBulk(ctx); err != nil || len(open) == 0 {
						return
					}
				}
			})
		}

		nodes.Wait()
		o = s.operation(o)
		require.Equal(t, []any{loyalty.BulkDone, int64(members), int64(members), int64(members / 10)}, []any{o.State, o.Done, o.Total, o.Errors})
		require.EqualValues(t, members, done, "what the nodes counted")
		require.Len(t, s.failures(o), members/10)
		claimed := s.happened("reward_claim")
		require.Len(t, claimed, members-members/10)
		for _, times := range claimed {
			require.Len(t, times, 1)
		}

		s.Verify()
	})
}

// A fault in one item's rules ends that item, is reported, and stops no other item.
func TestBulkFault(t *testing.T) {
	t.Cleanup(job.AddBulkTask("greet", func(r *engine.Run) error {
		if r.Customer.Name == "member-1" {
			panic("out of words")
		}
		return nil
	}))

	eachShop(t, nil, func(t *testing.T, s *shop) {
		for i := range 3 {
			s.Must(loyaltytest.Member(i), "opt_in", `{"email":"ada@shop.test"}`)
		}
		o := s.begin("greet", "", loyaltytest.Member(0), loyaltytest.Member(1), loyaltytest.Member(2), "nobody")
		done, failed, why, err := s.Jobs().WorkBulk(ctx)
		require.NoError(t, err)
		require.Equal(t, []int64{3, 1}, []int64{done, failed})
		require.Contains(t, why[0], "out of words")
		o = s.operation(o)
		require.Equal(t, []any{loyalty.BulkDone, int64(4), int64(2), s.Clock()}, []any{o.State, o.Done, o.Errors, o.FinishedAt})
		list := s.failures(o)
		require.Equal(t, []string{"2 member-1 internal (190001)", "4 nobody customer_not_found (160212) customer: customer_not_found"}, list,
			"what went wrong inside is in the log, not in the answer")
	})
}

// awayForItems is a database that goes away as soon as some items are done.
type awayForItems struct {
	loyalty.Store
	left int
}

func (a *awayForItems) Within(ctx context.Context, n loyalty.Needs, work func(*loyalty.Loaded) (*loyalty.Writes, error)) error {
	if len(n.Items) > 0 {
		if a.left--; a.left < 0 {
			return loyalty.ErrDatabaseAway
		}
	}
	return a.Store.Within(ctx, n, work)
}

// A database that goes away ends no item: the next run goes on.
func TestBulkDatabaseAway(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		away := &awayForItems{left: 1}
		s := newShop(t, url, nil, func(o *engine.EngineOptions) {
			away.Store, o.Store = o.Store, away
		})
		s.Make(nil, mug)
		names := []string{}
		for i := range traffic.MaxBatch + 2 {
			names = append(names, loyaltytest.Member(i))
		}

		o := s.begin(loyalty.BulkListAdd, "spring", names...) // none of them exists
		_, failed, _, err := s.Jobs().WorkBulk(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 1, failed)
		halfway := s.operation(o)
		require.Equal(t, []any{loyalty.BulkProcessing, int64(traffic.MaxBatch), int64(traffic.MaxBatch)}, []any{halfway.State, halfway.Done, halfway.Errors})
		away.left = 10
		done, failed, _, err := s.Jobs().WorkBulk(ctx)
		require.NoError(t, err)
		require.Equal(t, []int64{2, 0}, []int64{done, failed})
		require.Equal(t, loyalty.BulkDone, s.operation(o).State)
	})
}

// An operation by steps: what was saved counts, what was not is done again.
func TestBulkSteps(t *testing.T) {
	var seen []int64
	broken := true
	t.Cleanup(job.AddBulkSteps("count", func(o *loyalty.BulkOperation) error {
		var at struct{ N int64 }
		if o.Progress != nil {
			if err := json.Unmarshal(o.Progress, &at); err != nil {
				return err
			}
		}

		seen = append(seen, at.N)
		if at.N == 6 && broken {
			broken = false
			return errors.New("not now")
		}

		o.Progress, o.Done, o.Total = job.Counter(at.N+3), at.N+3, 9
		if o.Done == o.Total {
			o.State = loyalty.BulkDone
		}

		return nil
	}))

	eachShop(t, nil, func(t *testing.T, s *shop) {
		seen, broken = nil, true
		o := s.begin("count", "all")
		done, failed, why, err := s.Jobs().WorkBulk(ctx)
		require.NoError(t, err)
		require.Equal(t, []int64{6, 1}, []int64{done, failed})
		require.Contains(t, why[0], "not now")
		halfway := s.operation(o)
		require.Equal(t, []any{loyalty.BulkProcessing, int64(6), int64(9), true}, []any{halfway.State, halfway.Done, halfway.Total, halfway.FinishedAt.IsZero()})
		stale := halfway
		_, _, _, err = s.Jobs().WorkBulk(ctx)
		require.NoError(t, err)
		ended := s.operation(o)
		require.Equal(t, []any{loyalty.BulkDone, int64(9), `{"n":9}`, s.Clock()}, []any{ended.State, ended.Done, string(ended.Progress), ended.FinishedAt})
		require.Equal(t, []int64{0, 3, 6, 6}, seen)

		saved, err := s.DB.SaveBulk(ctx, stale)
		require.NoError(t, err)
		require.False(t, saved, "somebody else got further")
		require.Equal(t, ended, s.operation(o))
	})
}

// An operation of another version's kind waits for that version.
func TestBulkUnknownKind(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		o := s.begin("of_tomorrow", "x", "member-0")
		_, failed, why, err := s.Jobs().WorkBulk(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 1, failed)
		require.Contains(t, why[0], "of_tomorrow")
		require.Equal(t, loyalty.BulkQueued, s.operation(o).State)
	})
}

// What ended is forgotten after thirty days, with its items.
func TestBulkForgets(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		names := []string{}
		for i := range 2500 {
			names = append(names, loyaltytest.Member(i))
		}

		old := s.begin(loyalty.BulkListAdd, "spring", names...)
		_, _, _, err := s.Jobs().WorkBulk(ctx)
		require.NoError(t, err)
		s.Wait(29 * 24 * time.Hour)
		young := s.begin(loyalty.BulkListAdd, "spring", "nobody")
		_, _, _, err = s.Jobs().WorkBulk(ctx)
		require.NoError(t, err)
		require.Equal(t, loyalty.BulkDone, s.operation(old).State)
		s.Wait(24*time.Hour + time.Millisecond)
		_, _, _, err = s.Jobs().WorkBulk(ctx)
		require.NoError(t, err)
		_, err = s.DB.BulkOperation(ctx, old.ID, old.Kind)
		require.ErrorIs(t, err, loyalty.ErrBatchNotFound)
		require.Len(t, s.failures(young), 1)
		var items int
		require.NoError(t, s.Raw.QueryRow(`SELECT count(*) FROM bulk_items`).Scan(&items))
		require.Equal(t, 1, items)
	})
}

// Wake has a job done that is not due.
func TestJobWake(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		jobs := s.Jobs()
		working, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			jobs.Work(working)
			close(ended)
		}()

		t.Cleanup(func() { stop(); <-ended })
		runs := func(name string) int64 {
			list, err := jobs.List(ctx)
			require.NoError(t, err)
			return list[slices.IndexFunc(list, func(j job.Job) bool { return j.Name == name })].Runs
		}

		require.Eventually(t, func() bool { return runs("bulk") == 1 && runs("answers") == 1 }, time.Minute, time.Millisecond)
		jobs.Wake("nothing")
		jobs.Wake("bulk")
		require.Eventually(t, func() bool { return runs("bulk") == 2 }, time.Minute, time.Millisecond)
		require.EqualValues(t, 1, runs("answers"))
	})
}

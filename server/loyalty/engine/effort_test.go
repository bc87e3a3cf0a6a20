package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
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

// TestAllowances: what only its sender knows is kept up to a size, of an event and of
// all its lines together, and the largest attribute is named.
func TestAllowances(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Enrol("ada")
		text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
		checkout := func(own, items string) string {
			return `{"transaction_id":"T-1","total":1` + own + `,"items":` + items + `}`
		}
		for field, data := range map[string]string{
			"data.note":           checkout(`,"small":1,"note":`+text(17<<10), "[]"),
			"data.b":              checkout(`,"a":`+text(8000)+`,"b":`+text(9000), "[]"),
			"data.items[0].gift":  checkout("", loyaltytest.Basket(1, `,"gift":`+text(66<<10))),
			"data.items[0].gift2": checkout("", loyaltytest.Basket(9, `,"gift2":`+text(8<<10))),
		} {
			e := s.Refused(loyalty.ErrAttributesTooLarge, "ada", "checkout", data)
			require.Equal(t, loyalty.Oversized, e.Kind)
			if field == "data.items[0].gift2" {
				require.Regexp(t, `^data\.items\[\d\]\.gift2$`, e.Details[0].Field)
			} else {
				require.Equal(t, field, e.Details[0].Field)
			}
		}

		_, err := s.Preview(ctx, loyaltytest.Event("ada", "checkout", checkout(`,"note":`+text(17<<10), "[]")))
		require.ErrorIs(t, err, loyalty.ErrAttributesTooLarge, "a preview is no way around it")
		s.Must("ada", "checkout", checkout(`,"note":`+text(16000), loyaltytest.Basket(8, `,"gift":`+text(8000))))
		s.Configure(modules{"checkout_accept": "{}"})
		s.Must("ada", "checkout", `{"transaction_id":"T-2","total":1,"note":`+text(9000)+`}`)
		s.Must("ada", "checkout_update", `{"transaction_id":"T-2","total":1,"note":`+text(10_000)+`}`)
		s.Refused(loyalty.ErrAttributesTooLarge, "ada", "checkout_update", `{"transaction_id":"T-2","total":1,"more":`+text(9000)+`}`)
		s.Must("ada", "profile", `{"cf_a":`+text(16000)+`}`)
		for _, more := range []string{"b", "c", "d"} {
			s.Must("ada", "profile", `{"cf_`+more+`":`+text(16000)+`}`)
		}

		s.Refused(loyalty.ErrAttributesTooLarge, "ada", "profile", `{"cf_e":`+text(16000)+`}`)
		s.Must("ada", "profile", `{"cf_a":""}`)
		s.Must("ada", "profile", `{"cf_e":`+text(16000)+`}`)
		s.FoldsBack()
	})
}

// TestRulesHaveABudget: rules that would take too long over one submission refuse it
// whole, naming the action; a smaller one goes through, and nothing is half done.
func TestRulesHaveABudget(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		var all things
		for i := range 10 {
			all = append(all, loyaltytest.AnyCampaign(fmt.Sprintf("c%d", i), `"trigger":"checkout_item","condition":"sum(transaction.items, .quantity) > 0","effects":[{"type":"points","points":1}]`))
		}
		s.Make(modules{"automation": "{}", "incentivized_purchase": "off"}, all)
		s.Enrol("ada")
		e := s.Refused(loyalty.ErrRulesTooHeavy, "ada", "checkout", `{"transaction_id":"T-1","total":1,"items":`+loyaltytest.Basket(1000, "")+`}`)
		require.Equal(t, "checkout", e.Args["action"])
		_, err := s.Preview(ctx, loyaltytest.Event("ada", "checkout", `{"transaction_id":"T-1","total":1,"items":`+loyaltytest.Basket(1000, "")+`}`))
		require.ErrorIs(t, err, loyalty.ErrRulesTooHeavy)
		o := s.Must("ada", "checkout", `{"transaction_id":"T-1","total":1,"items":`+loyaltytest.Basket(60, "")+`}`)
		require.EqualValues(t, 600, o.Customer.Figures.Score)
		s.FoldsBack()
	})
}

// TestHeavyAndLight: submissions that are decided apart and those in the common queue agree about one customer, in
// either order.
func TestHeavyAndLight(t *testing.T) {
	eachShop(t, modules{"incentivized_purchase": `{"rate":1}`}, func(t *testing.T, s *shop) {
		s.Enrol("ada")
		var failed atomic.Int32
		send := func(done chan<- struct{}, action string, data func(int) string, n int) {
			for i := range n {
				if _, err := s.Send("ada", action, data(i)); err != nil {
					t.Error(err)
					failed.Add(1)
				}
			}
			done <- struct{}{}
		}

		done := make(chan struct{})
		items := loyaltytest.Basket(400, "")
		s.Must("ada", "point_add", `{"points":10}`)
		go send(done, "checkout", func(i int) string {
			return fmt.Sprintf(`{"transaction_id":"T-%d","total":800,"points_burned":1,"items":%s}`, i, items)
		}, 4)
		go send(done, "point_add", func(int) string { return `{"points":1}` }, 40)
		<-done
		<-done
		require.Zero(t, failed.Load())
		f := s.Customer("ada").Figures
		require.EqualValues(t, 10+40+4*800, f.Score)
		require.EqualValues(t, 4, f.Spent)
		s.FoldsBack()
	})
}

// breaking is a store with a fault of ours in it.
type breaking struct {
	loyalty.Store
	loading, writing atomic.Bool
}

func (b *breaking) Within(ctx context.Context, n loyalty.Needs, work func(*loyalty.Loaded) (*loyalty.Writes, error)) error {
	if b.loading.Swap(false) {
		panic("while loading")
	}
	err := b.Store.Within(ctx, n, work)
	if b.writing.Swap(false) {
		panic("behind the commit")
	}
	return err
}

// TestPanicsEndTheirBatch: a fault of ours fails only the submission that caused it; once something may have been
// written its outcome is unknown, and it is not done a second time.
func TestPanicsEndTheirBatch(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		faulty := &breaking{}
		s := newShop(t, url, nil, func(o *engine.EngineOptions) { faulty.Store, o.Store = o.Store, faulty })
		s.Enrol("ada")
		faulty.loading.Store(true)
		_, err := s.Send("ada", "point_add", `{"points":1}`)
		require.ErrorIs(t, err, loyalty.ErrInternal)
		faulty.writing.Store(true)
		_, err = s.Send("ada", "point_add", `{"points":2}`)
		require.ErrorIs(t, err, loyalty.ErrUnconfirmed, "it may have been written")
		broken := loyaltytest.Keyed(loyaltytest.Event("ada", "point_add", `{"points":4}`), "k")
		broken.Idempotency.Render = func(loyalty.Outcome, error) (int, []byte) { panic("while wording") }
		results := s.SubmitAll(ctx, []loyalty.Submission{loyaltytest.Event("ada", "point_add", `{"points":8}`), broken, loyaltytest.Event("ada", "point_add", `{"points":16}`)})
		require.NoError(t, results[0].Err)
		require.ErrorIs(t, results[1].Err, loyalty.ErrInternal)
		require.NoError(t, results[2].Err)
		require.EqualValues(t, 2+8+16, s.Must("ada", "visit", `{"url":"https://shop.test/"}`).Customer.Figures.Score)
		s.FoldsBack()
	})
}

// TestPanicsEndTheirJob: a fault of ours ends a job's run, which says so; the next one
// does the work.
func TestPanicsEndTheirJob(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		faulty, reports := &breaking{}, 0
		s := newShop(t, url, modules{"points_economy": `{"expiry":{"policy":"rolling","days":2}}`}, func(o *engine.EngineOptions) {
			faulty.Store, o.Store = o.Store, faulty
		})
		s.Enrol("ada")
		s.Must("ada", "point_add", `{"points":10}`)
		s.Wait(48 * time.Hour)
		jobs := job.NewJobs(job.JobsOptions{Engine: s.Engine, Store: s.DB, Report: func(string, error) { reports++ }})
		faulty.loading.Store(true)
		job, err := jobs.Run(ctx, "expiry")
		require.NoError(t, err)
		require.Positive(t, job.Failed)
		require.Contains(t, job.Result, "panic: while loading")
		job, err = jobs.Run(ctx, "expiry")
		require.NoError(t, err)
		require.EqualValues(t, 1, job.Done)
		require.EqualValues(t, 10, s.Customer("ada").Figures.Expired)
	})
}

// TestBulkEndsWithItsCaller: what of a bulk was not begun when its caller went away is
// not begun any more, and says so.
func TestBulkEndsWithItsCaller(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Enrol("ada")
		all := make([]loyalty.Submission, 3*traffic.MaxBatch)
		for i := range all {
			all[i] = loyaltytest.Event("ada", "point_add", `{"points":1}`)
		}

		caller, leave := context.WithCancel(ctx)
		var done, refused int64
		s.SubmitEach(caller, all, func(i int, r loyalty.Result) {
			leave()
			if r.Err == nil {
				done++
				require.Less(t, i, traffic.MaxBatch)
				return
			}
			refused++
			require.ErrorIs(t, r.Err, loyalty.ErrUnavailable)
		})

		require.Equal(t, []int64{traffic.MaxBatch, 2 * traffic.MaxBatch}, []int64{done, refused})
		require.Equal(t, done, s.Customer("ada").Figures.Score)
		s.FoldsBack()
	})
}

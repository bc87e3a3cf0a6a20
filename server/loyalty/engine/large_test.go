package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// noting is a store that notes which writes were decided apart, by the action of their
// first event.
type noting struct {
	loyalty.Store
	lock  sync.Mutex
	apart map[string]bool
}

func (s *noting) Within(ctx context.Context, n loyalty.Needs, work func(*loyalty.Loaded) (*loyalty.Writes, error)) error {
	return s.Store.Within(ctx, n, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		w, err := work(l)
		if err == nil && len(w.Events) > 0 {
			s.lock.Lock()
			s.apart[w.Events[0].Action] = n.Apart
			s.lock.Unlock()
		}
		return w, err
	})
}

// TestLargePurchasesAreDecidedApart: a few words about a purchase of hundreds of lines,
// and its date, are decided as a heavy submission is; those about a small one are not.
func TestLargePurchasesAreDecidedApart(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		noted := &noting{apart: map[string]bool{}}
		s := newShop(t, url, modules{"checkout_accept": `{"type":"accept","pending_days":1}`}, func(o *engine.EngineOptions) { noted.Store, o.Store = o.Store, noted })
		s.Enrol("ada", "bob")
		for name, c := range map[string]struct {
			lines int
			apart bool
		}{"ada": {300, true}, "bob": {3, false}} {
			buy := func(id string) {
				s.Must(name, "checkout", `{"transaction_id":"`+name+id+`","total":600,"items":`+loyaltytest.Basket(c.lines, "")+`}`)
			}
			said := func(action, data string) {
				noted.apart = map[string]bool{}
				s.Must(name, action, data)
				require.Equal(t, map[string]bool{action: c.apart && action != "point_add"}, noted.apart, name)
			}

			buy("-1")
			said("checkout_update", `{"transaction_id":"`+name+`-1","total":500}`)
			said("checkout_accept", `{"transaction_id":"`+name+`-1"}`)
			said("refund_item", `{"transaction_id":"`+name+`-1","product_id":"p-2","quantity":1}`)
			said("refund", `{"transaction_id":"`+name+`-1"}`)
			said("point_add", `{"points":1}`)
			buy("-2")
		}

		s.Wait(25 * time.Hour)
		for name, apart := range map[string]bool{"ada": true, "bob": false} {
			noted.apart = map[string]bool{}
			s.Must(name, "point_add", `{"points":1}`)
			require.Equal(t, map[string]bool{"checkout_accept": apart}, noted.apart, "the due purchase of "+name)
		}

		s.FoldsBack()
	})
}

// TestLargePurchasesBesideSmallOnes: what is moved out of the common queue leaves its
// neighbours there, and both are done once.
func TestLargePurchasesBesideSmallOnes(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{"type":"accept","pending_days":9}`}, func(t *testing.T, s *shop) {
		s.Enrol("ada", "bob")
		s.Must("ada", "checkout", `{"transaction_id":"T-1","total":1,"items":`+loyaltytest.Basket(300, "")+`}`)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				_, err := s.Send("ada", "checkout_update", `{"transaction_id":"T-1","total":2}`)
				if err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				_, err := s.Send("bob", "point_add", `{"points":1}`)
				if err != nil {
					t.Error(err)
				}
			})
		}

		all.Wait()
		require.EqualValues(t, 20, s.Customer("bob").Figures.Score)
		s.Must("ada", "checkout_accept", `{"transaction_id":"T-1"}`)
		require.EqualValues(t, 600, s.Customer("ada").Figures.Score)
		s.FoldsBack()
	})
}

// TestManyLotsAreReadApart: a few words of who has thousands of lots are decided by the worker
// of the heavy submissions where the database has one writer, among many that are not, and
// each is done once.
func TestManyLotsAreReadApart(t *testing.T) {
	noted := &noting{apart: map[string]bool{}}
	s := newShop(t, storetest.SQLite(t), modules{}, func(o *engine.EngineOptions) { noted.Store, o.Store = o.Store, noted })
	s.Enrol("ada", "bob", "cid")
	s.Must("ada", "checkout", `{"transaction_id":"T-1","total":9000,"items":`+loyaltytest.Basket(4500, "")+`}`)
	s.Must("ada", "point_sub", `{"points":1}`)
	require.True(t, noted.apart["point_sub"], "of who has 4,500 lots")
	s.Must("bob", "point_add", `{"points":100}`)
	s.Must("bob", "point_sub", `{"points":1}`)
	require.False(t, noted.apart["point_sub"], "of who has one")
	patient, cancel := context.WithTimeout(ctx, 5*time.Minute) // under the race detector they take longer than a caller waits
	defer cancel()
	var all sync.WaitGroup
	for range 20 {
		for name, action := range map[string]string{"ada": "point_sub", "bob": "point_sub", "cid": "point_add"} {
			all.Go(func() {
				if _, err := s.Submit(patient, loyaltytest.Event(name, action, `{"points":1}`)); err != nil {
					t.Error(err)
				}
			})
		}
	}

	all.Wait()
	require.EqualValues(t, 9000-21, s.Customer("ada").Figures.Spendable())
	require.EqualValues(t, 100-21, s.Customer("bob").Figures.Spendable())
	require.EqualValues(t, 20, s.Customer("cid").Figures.Score)
	s.FoldsBack()
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// requireErrors compares kinds of errors one by one.
func requireErrors(t *testing.T, want, got []error) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.ErrorIs(t, got[i], want[i], "event %d", i)
	}
}

// A bad event among good ones is refused alone, whatever is bad about it.
func TestBatchIsolation(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		add := loyaltytest.Event("ada", "point_add", `{"points":10}`)
		bad := []struct {
			sub  loyalty.Submission
			want error
		}{
			{loyaltytest.Event("ada", "juggle", `{}`), loyalty.ErrUnknownAction},
			{loyaltytest.Event("ada", "checkout_item", `{}`), loyalty.ErrInternalAction},
			{loyaltytest.Event("ada", "point_add", `{`), nil},
			{loyaltytest.Event("ada", "point_add", `[]`), nil},
			{loyaltytest.Event("ada", "point_add", `{}`), loyalty.ErrPropertyEmpty},
			{loyaltytest.Event("ada", "point_add", `{"points":0}`), nil},
			{loyaltytest.Event("ada", "point_add", `{"points":1,"color":"red"}`), loyalty.ErrPropertyUnknown},
			{loyaltytest.Event("ada", "checkout", `{"transaction_id":"T","total":-0.01}`), nil},
			{loyaltytest.Event("ada", "checkout", `{"transaction_id":"-","total":1}`), loyalty.ErrReservedName},
			{loyaltytest.Event("nobody", "point_add", `{"points":1}`), loyalty.ErrCustomerNotFound},
			{loyaltytest.Event("", "opt_in", `{"email":"a@shop.test"}`), loyalty.ErrPropertyEmpty},
			{loyaltytest.Event("..", "opt_in", `{"email":"a@shop.test"}`), loyalty.ErrReservedName},
			{loyaltytest.Event("ada", "point_spend", `{"points":1000000}`), loyalty.ErrNotEnoughToSpend},
			{loyaltytest.Event("ada", "point_add", fmt.Sprintf(`{"points":%d}`, points.Max)), loyalty.ErrTooLarge},
			// What a database may not be able to hold or to look for.
			{loyaltytest.Event("ada", "checkout", `{"transaction_id":"a\u0000b","total":1}`), nil},
			{loyaltytest.Event("ada", "checkout", `{"transaction_id":"a\u200bb","total":1}`), loyalty.ErrPropertyInvalid},
			{loyaltytest.Event("ada", "refund", `{"transaction_id":"a\u0000b"}`), nil},
			{loyaltytest.Event("ada", "release_points", `{"transaction_id":"a\u0000b"}`), nil},
		}

		s.Must("ada", "point_add", `{"points":10}`)
		for _, b := range bad {
			before, score := s.Rows(), s.Customer("ada").Figures.Score
			results := s.SubmitAll(context.Background(), []loyalty.Submission{add, b.sub, add})
			require.NoError(t, results[0].Err, "%+v", b.sub)
			require.NoError(t, results[2].Err)
			var known *loyalty.Error
			require.ErrorAs(t, results[1].Err, &known, "%+v", b.sub)
			require.NotContains(t, []loyalty.Kind{loyalty.Internal, loyalty.Unavailable}, known.Kind, "%+v: %v", b.sub, known)
			if b.want != nil {
				require.ErrorIs(t, known, b.want)
			}
			require.Equal(t, score+20, s.Customer("ada").Figures.Score)
			require.Equal(t, before["events"]+2, s.Rows()["events"])
		}

		s.Verify()
	})
}

// Text that one of the databases cannot keep is refused by name or kept, and
// never an error of the server.
func TestUnusualText(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		for _, data := range []string{
			`{"first_name":"a\u0000b"}`, `{"labels":["a\u0000b"]}`, `{"cf_x":"a\u0000b"}`, `{"cf_\u0000":1}`, `{"gender":"\ud800"}`,
			`{"external_ids":{"crm":"a\u0000b"}}`, `{"external_ids":{"a\u0000b":"1"}}`, `{"first_name":"\ufeff\u202e"}`,
		} {
			_, err := s.Send("ada", "profile", data)
			var known *loyalty.Error
			if errors.As(err, &known) {
				require.Equal(t, loyalty.Invalid, known.Kind, "%s: %v", data, err)
			}
		}

		_, err := s.Send("ada", "point_add", `{"points":1,"reason":"a\u0000b","transaction_id":"a\u0000b"}`)
		var known *loyalty.Error
		if errors.As(err, &known) {
			require.Equal(t, loyalty.Invalid, known.Kind, "%v", err)
		}
	})
}

// The events of a bulk see what those before them did, in one transaction.
func TestBulkOrder(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{}`}, func(t *testing.T, s *shop) {
		ada := func(action, data string) loyalty.Submission { return loyaltytest.Event("ada", action, data) }
		requireErrors(t, []error{
			loyalty.ErrCustomerNotFound, nil, loyalty.ErrNotEnoughToSpend, nil, nil, loyalty.ErrCustomerExists, nil, nil,
			loyalty.ErrTransactionExists, nil, loyalty.ErrTransactionNotFound, nil, loyalty.ErrNotRefundable, nil,
		}, s.All(
			ada("point_add", `{"points":100}`),
			ada("opt_in", `{"email":"ada@shop.test"}`),
			ada("point_spend", `{"points":1}`),
			ada("point_add", `{"points":100}`),
			ada("reserve_points", `{"transaction_id":"T","points":80}`),
			ada("opt_in", `{"email":"ada@shop.test"}`),
			ada("checkout", `{"transaction_id":"T","total":10,"points_burned":90}`),
			ada("checkout_accept", `{"transaction_id":"T"}`),
			ada("checkout", `{"transaction_id":"T","total":10}`),
			ada("reserve_points", `{"transaction_id":"T2","points":10}`),
			ada("checkout_accept", `{"transaction_id":"T"}`),
			ada("refund", `{"transaction_id":"T"}`),
			ada("refund", `{"transaction_id":"T"}`),
			ada("release_points", `{"transaction_id":"T2","points":4}`),
		))

		require.Equal(t, points.Figures{Score: 100, Reserved: 6}, s.Customer("ada").Figures)
		s.Verify()
	})
}

// A name that is given up inside a bulk is free for the next event, and one
// that is taken is taken.
func TestBulkNames(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		requireErrors(t, []error{nil, nil, loyalty.ErrCustomerNotFound, nil, loyalty.ErrExternalIDTaken, nil, nil, nil, nil}, s.All(
			loyaltytest.Event("ada", "opt_in", `{"email":"ada@shop.test","external_ids":{"crm":"1"}}`),
			loyaltytest.Event("ada", "opt_out", `{}`),
			loyaltytest.Event("ada", "point_add", `{"points":1}`),
			loyaltytest.Event("ada", "opt_in", `{"email":"ada@shop.test","external_ids":{"crm":"1"}}`),
			loyaltytest.Event("bob", "opt_in", `{"email":"bob@shop.test","external_ids":{"crm":"1"}}`),
			loyaltytest.Event("ada", "profile", `{"external_ids":{"crm":null}}`),
			loyaltytest.Event("bob", "opt_in", `{"email":"bob@shop.test","external_ids":{"crm":"1"}}`),
			loyalty.Submission{Customer: "1", ExternalID: "crm", Action: "point_add", Data: []byte(`{"points":7}`)},
			loyaltytest.Event("ada", "point_add", `{"points":5}`),
		))

		require.EqualValues(t, 5, s.Customer("ada").Figures.Score)
		require.EqualValues(t, 7, s.Customer("bob").Figures.Score)
		require.Equal(t, s.Customer("bob").ID, s.Customer("crm:1").ID)

		// And once more with what was stored before.
		requireErrors(t, []error{nil, nil, nil, nil, nil}, s.All(
			loyaltytest.Event("bob", "opt_out", `{}`),
			loyaltytest.Event("ada", "profile", `{"external_ids":{"crm":"1"}}`),
			loyaltytest.Event("bob", "subscribe", `{"handler":"b"}`),
			loyaltytest.Event("bob", "opt_in", `{"email":"bob@shop.test"}`),
			loyalty.Submission{Customer: "1", ExternalID: "crm", Action: "point_add", Data: []byte(`{"points":2}`)},
		))

		require.EqualValues(t, 7, s.Customer("ada").Figures.Score)
		require.EqualValues(t, 0, s.Customer("bob").Figures.Score)
		s.Verify()
	})
}

// More events than a transaction takes, of many customers, in order.
func TestLargeBulk(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newShop(t, url, nil)
		var bulk []loyalty.Submission
		for i := range 3 * traffic.MaxBatch {
			name := fmt.Sprintf("c%d", i%7)
			if i < 7 {
				bulk = append(bulk, loyaltytest.Event(name, "opt_in", `{"email":"x@shop.test"}`))
				continue
			}
			bulk = append(bulk, loyaltytest.Event(name, "point_add", `{"points":1}`))
		}

		require.NoError(t, errors.Join(s.All(bulk...)...))
		var sum int64
		for i := range 7 {
			sum += s.Customer(fmt.Sprintf("c%d", i)).Figures.Score
		}

		require.EqualValues(t, 3*traffic.MaxBatch-7, sum)
		s.Verify()
	})
}

// Many at once on few rows: every effect exactly once, no point spent twice.
func TestManyAtOnce(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newShop(t, url, nil, func(o *engine.EngineOptions) { o.Workers, o.Overlap = 4, 2 })
		other := newShop(t, url, nil) // another node
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":100}`)
		var mu sync.Mutex
		var wait sync.WaitGroup
		fates := map[string]int{}
		for w := range 8 {
			wait.Go(func() {
				for i := range 25 {
					node := s
					if w%4 == 3 {
						node = other
					}
					_, err := node.Send("ada", "checkout", fmt.Sprintf(`{"transaction_id":"T-%d","total":1,"points_burned":1}`, i*4+w/2))
					mu.Lock()
					var known *loyalty.Error
					if errors.As(err, &known) {
						fates[known.Name]++
					} else {
						fates["ok"]++
					}
					mu.Unlock()
				}
			})
		}

		wait.Wait()
		require.Equal(t, map[string]int{"ok": 100, loyalty.ErrTransactionExists.Name: 100}, fates)
		require.Equal(t, points.Figures{Score: 100, Spent: 100}, s.Customer("ada").Figures)
		s.Verify()
	})
}

// Event ids grow with the order of commit, also within one millisecond and when
// the clock steps back.
func TestEventIDsGrow(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		last := s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`).Events[0].ID
		for i := range 20 {
			if i%5 == 4 {
				s.Wait(-1e9)
			}
			o := s.Must("ada", "checkout", strings.ReplaceAll(golden, `"T-1","total":99.99,"points_burned":30`,
				fmt.Sprintf(`"T-%d","total":99.99`, i)))
			for _, e := range o.Events {
				require.Positive(t, loyalty.CompareID(e.ID, last))
				last = e.ID
			}
		}
	})
}

func TestNewEngineHoldsRulesAgainstTheContract(t *testing.T) {
	v, err := loyaltytest.Vocabulary()
	require.NoError(t, err)
	rules := action.All()
	_, err = engine.NewEngine(engine.EngineOptions{Contract: v, Rules: append(rules, rules[0])})
	require.ErrorContains(t, err, rules[0].Meta().Name)
	_, err = engine.NewEngine(engine.EngineOptions{Contract: v, Rules: []engine.Rule{engine.Action[events.VisitData]{Name: "juggle"}}})
	require.ErrorContains(t, err, "juggle")
}

// A fault in one event's rule refuses that event and nothing else.
func TestPanicInsideARule(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		faulty := engine.Action[events.VisitData]{Name: "visit", Apply: func(r *engine.Run, _ events.VisitData) error {
			if err := r.Earn(r.Event, 5, ""); err != nil {
				return err
			}
			panic("visit")
		}}

		s := newShop(t, url, nil, func(o *engine.EngineOptions) {
			o.Rules = append(slices.DeleteFunc(action.All(), func(r engine.Rule) bool { return r.Meta().Name == "visit" }), faulty)
		})
		visit := loyaltytest.Event("ada", "visit", `{"url":"https://shop.test/"}`)
		faults := s.All(loyaltytest.Event("ada", "opt_in", `{"email":"ada@shop.test"}`), visit, loyaltytest.Event("ada", "point_add", `{"points":1}`), loyaltytest.Keyed(visit, "k"))
		requireErrors(t, []error{nil, loyalty.ErrInternal, nil, loyalty.ErrInternal}, faults)
		require.ErrorContains(t, faults[1], "visit", "the log learns what happened")
		require.EqualValues(t, 1, s.Customer("ada").Figures.Score)
		require.Zero(t, s.Rows()["answers"], "a fault is not remembered")
		_, err := s.Submit(context.Background(), visit)
		require.ErrorIs(t, err, loyalty.ErrInternal)
		_, err = s.Preview(context.Background(), visit)
		require.ErrorIs(t, err, loyalty.ErrInternal)
		s.Must("ada", "point_add", `{"points":1}`)
		s.Verify()
	})
}

// Close waits for what was taken; what comes later is told to try elsewhere.
func TestCloseDrains(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newShop(t, url, nil, func(o *engine.EngineOptions) { o.Workers, o.Overlap = 3, 2 })
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		var mu sync.Mutex
		var wait sync.WaitGroup
		accepted := int64(0)
		begun := make(chan struct{}, 1000)
		for range 16 {
			wait.Go(func() {
				for range 20 {
					begun <- struct{}{}
					_, err := s.Send("ada", "point_add", `{"points":1}`)
					if err == nil {
						mu.Lock()
						accepted++
						mu.Unlock()
						continue
					}
					if !errors.Is(err, loyalty.ErrUnavailable) {
						t.Errorf("unexpected: %v", err)
					}
				}
			})
		}

		for range 40 {
			<-begun
		}

		s.Close()
		s.Close()

		late := loyaltytest.Event("ada", "point_add", `{"points":1}`)
		for _, r := range s.SubmitAll(t.Context(), []loyalty.Submission{late, late}) {
			require.ErrorIs(t, r.Err, loyalty.ErrUnavailable, "a bulk after the end")
		}

		_, err := s.Preview(t.Context(), late)
		require.ErrorIs(t, err, loyalty.ErrUnavailable, "a preview after the end")
		wait.Wait()
		require.Equal(t, accepted, s.Customer("ada").Figures.Score, "every acknowledged event is there, and no other")
		_, err = s.Send("ada", "point_add", `{"points":1}`)
		require.ErrorIs(t, err, loyalty.ErrUnavailable)
		require.ErrorIs(t, s.Settle(context.Background(), s.Customer("ada").ID), loyalty.ErrUnavailable)
		s.Verify()
	})
}

// A caller who goes away before the engine takes the event has done nothing.
func TestCallerGone(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		ctx, stop := context.WithCancel(context.Background())
		stop()
		_, err := s.Submit(ctx, loyaltytest.Event("ada", "point_add", `{"points":1}`))
		if err != nil {
			require.ErrorIs(t, err, loyalty.ErrUnavailable)
		}
		require.NoError(t, s.SubmitAll(ctx, []loyalty.Submission{loyaltytest.Event("ada", "point_add", `{"points":1}`)})[0].Err, "a bulk that was taken is finished")
	})
}

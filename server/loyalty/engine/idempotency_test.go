package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func (s *shop) once(customer, action, data, key string) (loyalty.Outcome, error) {
	return s.Submit(context.Background(), loyaltytest.Keyed(loyaltytest.Event(customer, action, data), key))
}

// The same key and body has one effect and one answer.
func TestReplay(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		first, err := s.once("ada", "point_add", `{"points":5}`, "k")
		require.NoError(t, err)
		require.Nil(t, first.Replayed)
		s.Must("ada", "point_add", `{"points":100}`)
		rows := s.Rows()
		for range 3 {
			again, err := s.once("ada", "point_add", `{"points":5}`, "k")
			require.NoError(t, err)
			require.NotNil(t, again.Replayed)
			require.Empty(t, again.Events)
			require.Equal(t, 200, again.Replayed.Status)
			require.Equal(t, "ada score 5", string(again.Replayed.Body), "as it was answered then")
		}

		_, err = s.once("ada", "point_add", `{"points":6}`, "k")
		require.ErrorIs(t, err, loyalty.ErrKeyReused)
		_, err = s.once("nobody", "point_add", `{"points":5}`, "k")
		require.ErrorIs(t, err, loyalty.ErrKeyReused, "whatever else is wrong with it")
		_, err = s.once("ada", "juggle", `{`, "k")
		require.ErrorIs(t, err, loyalty.ErrKeyReused)
		require.Equal(t, rows, s.Rows())

		other := loyaltytest.Keyed(loyaltytest.Event("ada", "point_add", `{"points":6}`), "k")
		other.Idempotency.AccessKey = "LKOTHER"
		o, err := s.Submit(context.Background(), other)
		require.NoError(t, err, "keys are scoped to the access key")
		require.Nil(t, o.Replayed)
		s.Verify()
	})
}

// Answers are kept for a day.
func TestReplayEnds(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		for _, c := range []struct {
			wait     time.Duration
			replayed bool
		}{{0, false}, {23*time.Hour + 59*time.Minute, true}, {2 * time.Minute, false}, {time.Minute, true}} {
			s.Wait(c.wait)
			o, err := s.once("ada", "point_add", `{"points":5}`, "k")
			require.NoError(t, err)
			require.Equal(t, c.replayed, o.Replayed != nil, "after %v", c.wait)
		}
		require.EqualValues(t, 10, s.Customer("ada").Figures.Score)
		s.Verify()
	})
}

// Refusals of the rules are remembered; a broken request is not, so that it may
// be mended under its key.
func TestRefusalsAndTheirKeys(t *testing.T) {
	eachShop(t, modules{"stores": "off"}, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "checkout", `{"transaction_id":"T","total":1}`)
		for i, c := range []struct {
			customer, action, data string
			want                   error
			stored                 bool
		}{
			{"ada", "point_spend", `{"points":5}`, loyalty.ErrNotEnoughToSpend, true},
			{"nobody", "point_add", `{"points":5}`, loyalty.ErrCustomerNotFound, true},
			{"ada", "checkout", `{"transaction_id":"T","total":1}`, loyalty.ErrTransactionExists, true},
			{"ada", "checkout_accept", `{"transaction_id":"T"}`, loyalty.ErrActionOff, true},
			{"ada", "checkout", `{"transaction_id":"T2","total":1,"store":"x"}`, loyalty.ErrModuleOff, true},
			{"ada", "checkout_item", `{}`, loyalty.ErrInternalAction, true},
			{"ada", "juggle", `{}`, loyalty.ErrUnknownAction, false},
			{"ada", "point_add", `{}`, loyalty.ErrPropertyEmpty, false},
			{"ada", "checkout", `{"transaction_id":"..","total":1}`, loyalty.ErrReservedName, false},
			{"ada", "visit", `{"url":"https://shop.test/","effective_timestamp":"2099-01-01T00:00:00Z"}`, loyalty.ErrFutureTimestamp, false},
		} {
			key, before := fmt.Sprint("k", i), s.Rows()
			_, err := s.once(c.customer, c.action, c.data, key)
			require.ErrorIs(t, err, c.want)
			after := s.Rows()
			stored := after["answers"] - before["answers"]
			require.Equal(t, c.stored, stored == 1, "%s %s", c.action, c.data)
			before["answers"], after["answers"] = 0, 0
			require.Equal(t, before, after, "nothing but the answer")
			o, err := s.once(c.customer, c.action, c.data, key)
			if c.stored {
				require.NoError(t, err)
				require.Equal(t, 422, o.Replayed.Status)
				require.Contains(t, string(o.Replayed.Body), c.want.(*loyalty.Error).Name)
				_, err = s.once("ada", "point_add", `{"points":1}`, key)
				require.ErrorIs(t, err, loyalty.ErrKeyReused)
				continue
			}

			require.ErrorIs(t, err, c.want)
			o, err = s.once("ada", "point_add", `{"points":1}`, key)
			require.NoError(t, err)
			require.Nil(t, o.Replayed)
		}

		// The refusal is repeated although it would succeed by now.
		s.Must("ada", "point_add", `{"points":5}`)
		o, err := s.once("ada", "point_spend", `{"points":5}`, "k0")
		require.NoError(t, err)
		require.NotNil(t, o.Replayed)
		s.Verify()
	})
}

func TestReplayInsideABulk(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		add := loyaltytest.Event("ada", "point_add", `{"points":5}`)
		results := s.SubmitAll(context.Background(), []loyalty.Submission{
			loyaltytest.Keyed(loyaltytest.Event("ada", "opt_in", `{"email":"ada@shop.test"}`), "b#0"),
			loyaltytest.Keyed(add, "b#1"), loyaltytest.Keyed(add, "b#1"), loyaltytest.Keyed(loyaltytest.Event("ada", "point_add", `{"points":6}`), "b#1"), loyaltytest.Keyed(add, "b#2"),
			loyaltytest.Keyed(loyaltytest.Event("ada", "point_spend", `{"points":50}`), "b#3"), loyaltytest.Keyed(loyaltytest.Event("ada", "point_spend", `{"points":50}`), "b#3"),
		})

		for i, want := range []string{"", "", "ada score 5", "", "", "", "not_enough"} {
			replayed := results[i].Outcome.Replayed
			require.Equal(t, want != "", replayed != nil, "event %d", i)
			if replayed != nil {
				require.Contains(t, string(replayed.Body), want)
			}
		}

		require.ErrorIs(t, results[3].Err, loyalty.ErrKeyReused)
		require.EqualValues(t, 10, s.Customer("ada").Figures.Score)
		require.EqualValues(t, 4, s.Rows()["answers"])
		s.Verify()
	})
}

// Two requests with one key at once: one effect, one of them is the replay.
func TestSameKeyAtOnce(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newShop(t, url, nil, func(o *engine.EngineOptions) { o.Workers, o.Overlap = 4, 2 })
		nodes := []*shop{s, newShop(t, url, nil)}
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		var wait sync.WaitGroup
		var mu sync.Mutex
		fresh, replayed := 0, 0
		for i := range 10 {
			for k := range 6 {
				wait.Go(func() {
					o, err := nodes[k%2].once("ada", "point_add", `{"points":1}`, fmt.Sprint("k", i))
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err != nil:
						t.Errorf("key %d: %v", i, err)
					case o.Replayed != nil:
						replayed++
					default:
						fresh++
					}
				})
			}

			// And customers of their own under the same key: one wins.
			wait.Go(func() {
				_, err := nodes[i%2].once(fmt.Sprint("c", i), "opt_in", `{"email":"c@shop.test"}`, "same")
				if err != nil && !errors.Is(err, loyalty.ErrKeyReused) {
					t.Errorf("same: %v", err)
				}
			})
		}

		wait.Wait()
		require.Equal(t, []int{10, 50}, []int{fresh, replayed})
		require.EqualValues(t, 10, s.Customer("ada").Figures.Score)
		require.EqualValues(t, 2, s.Rows()["customers"])
		s.Verify()
	})
}

// A stored answer is sealed under the customer's key: once that is destroyed
// the key has no second effect, and nothing of the person is answered.
func TestReplayAfterOptOut(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		_, err := s.once("ada", "opt_in", `{"email":"ada@shop.test"}`, "in")
		require.NoError(t, err)
		_, err = s.once("ada", "opt_out", `{}`, "out")
		require.NoError(t, err)
		rows := s.Rows()
		_, err = s.once("ada", "opt_in", `{"email":"ada@shop.test"}`, "in")
		require.ErrorIs(t, err, loyalty.ErrCustomerNotFound, "forgotten")
		o, err := s.once("ada", "opt_out", `{}`, "out")
		require.NoError(t, err, "who left may ask again whether it was done")
		require.NotContains(t, string(o.Replayed.Body), `"ada`, "an id may have these letters in it")
		require.Equal(t, rows, s.Rows())
		s.Verify()
	})
}

// An answer is that of the customer who has it, also where the request names them by
// what leads elsewhere by now: they were merged, or gave an external id up.
func TestReplayUnderAnotherName(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test","external_ids":{"crm":"1"}}`)
		s.Must("ben", "opt_in", `{"email":"ben@shop.test"}`)
		replayed := func(sub loyalty.Submission, want string) {
			t.Helper()
			o, err := s.Submit(ctx, sub)
			require.NoError(t, err)
			require.NotNil(t, o.Replayed)
			require.Equal(t, want, string(o.Replayed.Body))
		}

		before := loyaltytest.Keyed(loyaltytest.Event("ben", "point_add", `{"points":1}`), "before")
		after := loyaltytest.Keyed(loyaltytest.Event("ben", "point_add", `{"points":10}`), "after")
		gone := loyaltytest.Keyed(loyalty.Submission{Customer: "1", ExternalID: "crm", Action: "profile", Data: json.RawMessage(`{"external_ids":{"crm":null}}`)}, "gone")
		_, err := s.Submit(ctx, before)
		require.NoError(t, err)
		_, err = s.Submit(ctx, loyaltytest.Operation("ada", "merge", `{"source":"ben"}`))
		require.NoError(t, err)
		for _, sub := range []loyalty.Submission{after, gone} {
			_, err := s.Submit(ctx, sub)
			require.NoError(t, err)
		}

		replayed(before, "ben score 1")
		replayed(after, "ada score 11")
		replayed(gone, "ada score 11")
		require.EqualValues(t, 11, s.Customer("ada").Figures.Score)
	})
}

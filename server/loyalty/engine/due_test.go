package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// What is due is applied before the event, in the order of its instants, also
// after downtime, and exactly once.
func TestDueOnLoad(t *testing.T) {
	m := modules{"points_economy": `{"expiry":{"policy":"rolling","days":2}}`, "checkout_accept": `{"type":"accept","pending_days":1}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		id := s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`).Customer.ID
		s.Must("ada", "point_add", `{"points":10}`) // expires on day 2
		s.Wait(time.Hour)
		s.Must("ada", "checkout", `{"transaction_id":"A","total":50,"points_burned":4,"items":`+loyaltytest.OneLine+`}`) // accepted on day 1, lot until day 3
		s.Must("ada", "checkout", `{"transaction_id":"B","total":50,"auto_accept":"2026-03-02T12:00:00Z","items":`+loyaltytest.OneLine+`}`)
		require.Equal(t, points.Figures{Score: 10, Reserved: 4, Pending: 100}, s.Customer("ada").Figures)
		due := s.Customer("ada").DueAt
		require.Equal(t, loyaltytest.ShopOpens.Add(25*time.Hour), due, "the first acceptance")

		s.Wait(240 * time.Hour) // all nodes slept
		before := len(s.Events(id))
		o := s.Must("ada", "visit", `{"url":"https://shop.test/"}`)
		require.Equal(t, points.Figures{Score: 110, Spent: 4, Expired: 106}, o.Customer.Figures)
		require.True(t, o.Customer.DueAt.IsZero())
		require.Equal(t, "checkout_accept 46, point_burn -4, checkout_accept_item 50, checkout_accept 50, checkout_accept_item 50, "+
			"point_expire -6, point_expire -50, point_expire -50, visit", shown(o))
		at := map[string][]time.Time{}
		for _, e := range o.Events {
			at[e.Action] = append(at[e.Action], e.At)
			require.Equal(t, s.Clock(), e.RecordedAt)
		}

		require.Equal(t, []time.Time{due, time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)}, at["checkout_accept"])
		require.Equal(t, []time.Time{loyaltytest.ShopOpens.Add(48 * time.Hour), due.Add(48 * time.Hour), time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)},
			at["point_expire"], "lots are dated at the acceptance that was due, not at the late hour")
		require.Len(t, s.Events(id), before+9)
		require.NoError(t, s.Settle(context.Background(), id))
		require.NoError(t, s.SettleDue(context.Background()))
		require.Len(t, s.Events(id), before+9, "once")
		s.Verify()
	})
}

// The same story told by the job, or by a read, ends in the same figures.
func TestDueByJobAndByRead(t *testing.T) {
	m := modules{"points_economy": `{"expiry":{"policy":"rolling","days":2}}`, "checkout_accept": `{"type":"reject","pending_days":1}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		for _, c := range []string{"job", "read"} {
			s.Must(c, "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(c, "point_add", `{"points":10}`)
			s.Must(c, "checkout", fmt.Sprintf(`{"transaction_id":%q,"total":50,"points_burned":4,"items":%s}`, c, loyaltytest.OneLine))
		}

		job, read := s.Customer("job").ID, s.Customer("read").ID
		s.Wait(time.Minute)
		rows := s.Rows()
		require.NoError(t, s.SettleDue(context.Background()))
		require.NoError(t, s.Settle(context.Background(), job))
		require.Equal(t, rows, s.Rows(), "nothing is due yet")
		s.Wait(100 * time.Hour)
		require.NoError(t, s.Settle(context.Background(), read))
		require.Equal(t, points.Figures{Score: 10, Expired: 10}, s.Customer("read").Figures)
		require.Equal(t, points.Figures{Score: 10, Reserved: 4, Pending: 50}, s.Customer("job").Figures)
		require.NoError(t, s.SettleDue(context.Background()))
		require.Equal(t, s.Customer("read").Figures, s.Customer("job").Figures)
		require.Equal(t, s.Events(read), s.Events(job))
		require.Equal(t, loyalty.Rejected, s.Transaction("job", "job").State)
		require.NoError(t, s.SettleDue(context.Background()))
		due, err := s.DB.Due(context.Background(), s.Clock(), 10)
		require.NoError(t, err)
		require.Empty(t, due)
		require.ErrorIs(t, s.Settle(context.Background(), loyalty.ID{1}), loyalty.ErrCustomerNotFound)
		s.Verify()
	})
}

// Several nodes run the job while the customer comes back: one effect.
func TestDueAtOnce(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		m := modules{"points_economy": `{"expiry":{"policy":"rolling","days":1}}`, "checkout_accept": `{"type":"accept","pending_days":0}`}
		nodes := []*shop{newShop(t, url, m), newShop(t, url, m), newShop(t, url, m)}
		s := nodes[0]
		for i := range 20 {
			name := fmt.Sprint("c", i)
			s.Must(name, "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(name, "point_add", `{"points":10}`)
			s.Must(name, "checkout", fmt.Sprintf(`{"transaction_id":%q,"total":50,"auto_accept":"2026-03-02","items":%s}`, name, loyaltytest.OneLine))
		}

		var wait sync.WaitGroup
		for i, node := range nodes {
			node.Wait(1000 * time.Hour)
			wait.Go(func() {
				if err := node.SettleDue(context.Background()); err != nil {
					t.Errorf("node %d: %v", i, err)
				}
			})
			wait.Go(func() {
				for k := range 20 {
					if _, err := node.Send(fmt.Sprint("c", k), "visit", `{"url":"https://shop.test/"}`); err != nil {
						t.Errorf("node %d: %v", i, err)
					}
				}
			})
		}

		wait.Wait()
		for i := range 20 {
			c := s.Customer(fmt.Sprint("c", i))
			require.Equal(t, points.Figures{Score: 60, Expired: 60}, c.Figures)
			all := strings.Join(s.Events(c.ID), " ")
			require.Equal(t, 1, strings.Count(all+" ", "checkout_accept "))
			require.Equal(t, 2, strings.Count(all, "point_expire"))
		}

		s.Verify()
	})
}

// What is reserved does not expire; released late, it expires at once; a
// checkout that releases its own reservation may still burn it.
func TestReservedPointsDoNotExpire(t *testing.T) {
	eachShop(t, modules{"points_economy": `{"expiry":{"policy":"rolling","days":1}}`}, func(t *testing.T, s *shop) {
		for _, c := range []string{"released", "bought"} {
			s.Must(c, "opt_in", `{"email":"ada@shop.test"}`)
			s.Must(c, "point_add", `{"points":10}`)
			s.Must(c, "reserve_points", fmt.Sprintf(`{"transaction_id":%q,"points":6}`, c))
		}

		s.Wait(48 * time.Hour)
		require.NoError(t, s.SettleDue(context.Background()))
		for _, c := range []string{"released", "bought"} {
			require.Equal(t, points.Figures{Score: 10, Reserved: 6, Expired: 4}, s.Customer(c).Figures)
			require.True(t, s.Customer(c).DueAt.IsZero())
		}

		o := s.Must("released", "release_points", `{"transaction_id":"released","points":2}`)
		require.Equal(t, points.Figures{Score: 10, Reserved: 4, Expired: 6}, o.Customer.Figures)
		require.Equal(t, "release_points 2, point_expire -2", shown(o))
		require.Equal(t, o.Events[0].ID, o.Events[1].Parent)
		o = s.Must("bought", "checkout", `{"transaction_id":"bought","total":1,"points_burned":5}`)
		require.Equal(t, points.Figures{Score: 10, Spent: 5, Expired: 5}, o.Customer.Figures)
		s.Verify()
	})
}

// Debt is paid by later credits first, and comes before expiry.
func TestDebtThroughTheEngine(t *testing.T) {
	eachShop(t, modules{"points_economy": `{"expiry":{"policy":"rolling","days":1}}`}, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":10}`)
		s.Must("ada", "reserve_points", `{"transaction_id":"R","points":10}`)
		o := s.Must("ada", "point_sub", `{"points":25}`)
		require.Equal(t, points.Figures{Score: -15, Reserved: 10, Debt: 25}, o.Customer.Figures)
		require.EqualValues(t, -25, o.Customer.Figures.Spendable())
		s.Refused(loyalty.ErrNotEnoughToSpend, "ada", "point_spend", `{"points":1}`)
		s.Wait(30 * time.Hour)
		o = s.Must("ada", "release_points", `{"transaction_id":"R"}`)
		require.Equal(t, points.Figures{Score: -15, Debt: 15}, o.Customer.Figures, "debt before expiry")
		o = s.Must("ada", "point_add", `{"points":20}`)
		require.Equal(t, points.Figures{Score: 5}, o.Customer.Figures)
		s.Configure(modules{"points_economy": `{"negative":"refuse"}`})
		s.Refused(loyalty.ErrNegativeRefused, "ada", "point_sub", `{"points":6}`)
		s.Must("ada", "point_sub", `{"points":5}`)
		s.Verify()
	})
}

// An event may be booked late: lots are dated by it, the clock of recording is
// another.
func TestEffectiveTimestamp(t *testing.T) {
	m := modules{"points_economy": `{"expiry":{"policy":"rolling","days":10}}`, "checkout_accept": `{"type":"accept","pending_days":5}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		id := s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`).Customer.ID
		late := loyaltytest.ShopOpens.Add(-72 * time.Hour)
		o := s.Must("ada", "point_add", `{"points":10,"effective_timestamp":"2026-02-26T10:30:00+01:00"}`)
		require.Equal(t, late, o.Events[0].At)
		require.Equal(t, loyaltytest.ShopOpens, o.Events[0].RecordedAt)
		require.Equal(t, late.AddDate(0, 0, 10), o.Events[0].ExpDate)
		lot := s.Loaded(id).Lots[0]
		require.Equal(t, []time.Time{late, late.AddDate(0, 0, 10)}, []time.Time{lot.EarnedAt, lot.ExpiresAt})

		o = s.Must("ada", "point_add", fmt.Sprintf(`{"points":7,"effective_timestamp":%d}`, loyaltytest.ShopOpens.AddDate(0, 0, -10).Unix()))
		require.Equal(t, "point_add 7, point_expire -7", shown(o), "it may expire at once")
		require.Equal(t, points.Figures{Score: 17, Expired: 7}, o.Customer.Figures)
		s.Must("ada", "point_spend", `{"points":10,"effective_timestamp":"2020-01-01T00:00:00Z"}`) // present lots are spent

		s.Must("ada", "checkout", `{"transaction_id":"T","total":50,"effective_timestamp":"2026-02-26T09:30:00Z","items":`+loyaltytest.OneLine+`}`)
		require.Equal(t, late.AddDate(0, 0, 5), s.Transaction("ada", "T").AutoAccept, "counted from the checkout's date")
		s.Must("ada", "checkout", `{"transaction_id":"T2","total":50,"effective_timestamp":"2026-02-01T00:00:00Z","items":`+loyaltytest.OneLine+`}`)
		require.Equal(t, loyalty.Pending, s.Transaction("ada", "T2").State)
		o = s.Must("ada", "visit", `{"url":"https://shop.test/"}`)
		require.Equal(t, "checkout_accept 50, checkout_accept_item 50, point_expire -50, visit", shown(o), "due since 6 February")

		for data, want := range map[string]error{
			`"2026-03-01T09:35:00.001Z"`: loyalty.ErrFutureTimestamp, `1772357701`: loyalty.ErrFutureTimestamp,
			`"yesterday"`: nil, `true`: nil, `"2026-02-30T00:00:00Z"`: nil, `1.5`: nil, `-1`: nil,
		} {
			before := s.Rows()
			_, err := s.Send("ada", "visit", `{"url":"https://shop.test/","effective_timestamp":`+data+`}`)
			var known *loyalty.Error
			require.ErrorAs(t, err, &known, data)
			require.Equal(t, loyalty.Invalid, known.Kind)
			if want != nil {
				require.ErrorIs(t, err, want, data)
			}
			require.Equal(t, before, s.Rows())
		}

		s.Must("ada", "visit", `{"url":"https://shop.test/","effective_timestamp":"2026-03-01T09:30:00Z"}`) // this very instant
		s.Verify()
	})
}

// Points that inactivity lets expire live on with every event of the customer,
// not with what the platform does by itself.
func TestLastActivity(t *testing.T) {
	m := modules{"points_economy": `{"expiry":{"policy":"last_activity","days":2}}`, "checkout_accept": `{"type":"accept","pending_days":1}`}

	eachShop(t, m, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":10}`)
		s.Wait(47 * time.Hour)
		s.Must("ada", "visit", `{"url":"https://shop.test/"}`)
		s.Wait(47 * time.Hour)
		s.Must("ada", "checkout", `{"transaction_id":"T","total":50,"items":`+loyaltytest.OneLine+`}`)
		require.Equal(t, points.Figures{Score: 10, Pending: 50}, s.Customer("ada").Figures)
		s.Refused(loyalty.ErrNotEnoughToSpend, "ada", "point_spend", `{"points":99}`)
		s.Wait(49 * time.Hour) // the acceptance in between is no activity
		require.NoError(t, s.SettleDue(context.Background()))
		require.Equal(t, points.Figures{Score: 60, Expired: 60}, s.Customer("ada").Figures)
		s.Verify()
	})
}

// A month without activity is one of the programme's zone, as it is of all other policies: the shop
// opens on the first of March, of which Honolulu knows nothing yet.
func TestLastActivityInTheZone(t *testing.T) {
	m := modules{"time_zone": "Pacific/Honolulu", "points_economy": `{"expiry":{"policy":"last_activity","months":1}}`}

	eachShop(t, m, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":10}`)
		ends := loyaltytest.ShopOpens.AddDate(0, 0, 28)
		require.Equal(t, ends, s.Customer("ada").DueAt, "on the 28th there, not on the first of April")
		s.Wait(28*24*time.Hour - time.Second)
		require.NoError(t, s.SettleDue(context.Background()))
		require.Equal(t, points.Figures{Score: 10}, s.Customer("ada").Figures)
		s.Wait(time.Second)
		require.NoError(t, s.SettleDue(context.Background()))
		require.Equal(t, points.Figures{Score: 10, Expired: 10}, s.Customer("ada").Figures)
		s.Verify()
	})
}

// Inside a bulk, an event that makes something due at once does not make the
// engine forget what is due later and was not loaded.
func TestDueInsideABulk(t *testing.T) {
	m := modules{"checkout_accept": `{"type":"accept","pending_days":2}`}
	eachShop(t, m, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "point_add", `{"points":10}`)
		s.Must("ada", "checkout", `{"transaction_id":"later","total":50,"items":`+loyaltytest.OneLine+`}`)
		s.Wait(time.Hour)
		requireErrors(t, []error{nil, nil}, s.All(
			loyaltytest.Event("ada", "checkout", `{"transaction_id":"past","total":50,"points_burned":5,"auto_accept":"2026-02-28","items":`+loyaltytest.OneLine+`}`),
			loyaltytest.Event("ada", "point_add", `{"points":1}`),
		))

		require.Equal(t, points.Figures{Score: 61, Spent: 5, Pending: 50}, s.Customer("ada").Figures)
		s.Wait(48 * time.Hour)
		require.NoError(t, s.SettleDue(context.Background()))
		require.Equal(t, points.Figures{Score: 111, Spent: 5}, s.Customer("ada").Figures)
		require.True(t, s.Customer("ada").DueAt.IsZero())
		s.Verify()
	})
}

// An update prices the lines that stay by the configuration of the day: with
// the module off, they earn nothing.
func TestUpdatePricesAgain(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{}`}, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "checkout", `{"transaction_id":"T","total":50,"items":`+loyaltytest.OneLine+`}`)
		require.EqualValues(t, 50, s.Customer("ada").Figures.Pending)
		s.Configure(modules{"checkout_accept": `{}`, "incentivized_purchase": `{"rate":2}`})
		require.EqualValues(t, 100, s.Must("ada", "checkout_update", `{"transaction_id":"T","total":50}`).Customer.Figures.Pending)
		s.Configure(modules{"checkout_accept": `{}`, "incentivized_purchase": "off"})
		require.Zero(t, s.Must("ada", "checkout_update", `{"transaction_id":"T","total":50}`).Customer.Figures.Pending)
		s.Must("ada", "checkout_accept", `{"transaction_id":"T"}`)
		require.Equal(t, points.Figures{}, s.Customer("ada").Figures)
		s.Verify()
	})
}

// The range of points is checked when they are promised, never when a date
// comes: otherwise the customer, and with them the job, would be stuck.
func TestAcceptanceAlwaysFits(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{"type":"accept","pending_days":1}`}, func(t *testing.T, s *shop) {
		s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		s.Must("ada", "checkout", `{"transaction_id":"T","total":50,"items":`+loyaltytest.OneLine+`}`)
		s.Refused(loyalty.ErrTooLarge, "ada", "point_add", fmt.Sprintf(`{"points":%d}`, points.Max-49))
		s.Must("ada", "point_add", fmt.Sprintf(`{"points":%d}`, points.Max-50))
		s.Refused(loyalty.ErrTooLarge, "ada", "checkout", `{"transaction_id":"T2","total":50,"items":`+loyaltytest.OneLine+`}`)
		s.Wait(48 * time.Hour)
		require.NoError(t, s.SettleDue(context.Background()))
		require.Equal(t, points.Figures{Score: points.Max}, s.Customer("ada").Figures)
		s.Verify()
	})
}

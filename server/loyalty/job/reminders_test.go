package job_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/reminder"
)

// reminders are the actions that the job writes.
var reminders = []string{"points_expiring", "tier_expiring", "coupon_expiring", "challenge_ending", "birthday", "anniversary", "inactivity"}

// remind runs the job.
func (s *shop) remind() {
	s.T.Helper()
	done, err := s.Jobs().Run(ctx, "reminders")
	require.NoError(s.T, err)
	require.Zero(s.T, done.Failed, done.Result)
}

// reminded lists the reminders in the journal: name, action, attributes.
func (s *shop) reminded() (all []string) {
	s.T.Helper()
	s.Query(`SELECT c.name, e.action, e.data FROM events e JOIN customers c ON c.id = e.customer_id`, func(rows *sql.Rows) error {
		var name, action, data string
		err := rows.Scan(&name, &action, &data)
		if slices.Contains(reminders, action) {
			all = append(all, name+" "+action+" "+data)
		}
		return err
	})
	return all
}

// TestReminders: each reminder is sent once, at the nearest of the configured days, however often the job looks and by
// whichever clock; a changed setting repeats nothing; and the journal folds back.
func TestReminders(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		day := 24 * time.Hour
		seen := map[string]int{}
		told := func(want ...string) {
			t.Helper()
			s.remind()
			s.remind()
			count, news := map[string]int{}, []string(nil)
			for _, r := range s.reminded() {
				if count[r]++; count[r] > seen[r] {
					news = append(news, r)
				}
			}
			seen = count
			slices.Sort(news)
			slices.Sort(want)
			require.Equal(t, strings.Join(want, "\n"), strings.Join(news, "\n"), "at %s", s.Clock())
		}

		base := modules{"points_economy": `{"expiry":{"policy":"rolling","days":60}}`}
		all := things{
			{"tiers/structure", "main", `{"name":"Main","base":"points","window":{"kind":"rolling","days":40},"downgrade":"automatic"}`},
			{"tiers/tier", "silver", `{"structure":"main","name":{"en":"S"},"threshold":50}`},
			{"challenges/challenge", "walk", `{"title":{"en":"W"},"criteria":[{"action":"visit","threshold":2}],"points":5,"ends_at":"2026-04-10"}`},
			{"challenges/challenge", "done", `{"title":{"en":"W"},"criteria":[{"action":"visit","threshold":1}],"points":5,"ends_at":"2026-04-10"}`},
			loyaltytest.AnyCampaign("greets", `"trigger":"birthday","effects":[{"type":"label","label":"greeted"}]`),
		}

		s.Make(base, all)
		s.Must("ada", "opt_in", `{"email":"ada@shop.test","birth_date":"1990-04-09"}`)
		s.Enrol("ben")
		s.Must("ada", "point_add", `{"points":60}`)
		s.Must("ada", "coupon_create", `{"code":"C-1","type":"percentage","value":5,"expdate":"2026-03-20"}`)
		s.Must("ada", "visit", `{"url":"https://shop.test/"}`)
		active := s.Loaded(s.Customer("ada").ID).Customer.LastActivityAt
		told()
		s.Wait(13 * day) // 14 March: the coupon has 6 days, the tier 27 or so
		told(`ada coupon_expiring {"code":"C-1","expires_at":"2026-03-20T23:59:59.999Z","days":7}`,
			`ada tier_expiring {"structure":"main","tier":"silver","expires_at":"2026-04-10T00:00:00.000Z","days":30}`)
		s.Wait(17 * day) // 31 March: the points end on 30 April
		told(`ada points_expiring {"points":65,"expires_at":"2026-04-30T09:30:00.000Z","days":30}`)
		s.Make(modules{"points_economy": `{"expiry":{"policy":"rolling","days":60},"reminders":{"points":[45,30],"tiers":[30],"inactivity":[20,30],"anniversary":false}}`}, all)
		told(`ada inactivity {"days":30,"since":"2026-03-01T09:30:00.000Z"}`, `ben inactivity {"days":30,"since":"2026-03-01T09:30:00.000Z"}`)
		s.Wait(8 * day) // 8 April
		told(`ada challenge_ending {"challenge":"walk","ends_at":"2026-04-10T23:59:59.999Z","days":3}`)
		s.Wait(-20 * day) // its clock was set back
		told()
		s.Wait(21 * day) // 9 April
		told(`ada birthday {}`)
		require.Contains(t, s.Customer("ada").Profile.Labels, "greeted", "a campaign reacts")
		require.Equal(t, active, s.Loaded(s.Customer("ada").ID).Customer.LastActivityAt, "it is no activity")
		s.Wait(day)
		told() // the day after is late, and it was told
		s.Make(base, all)
		s.Wait(13 * day) // 23 April
		told(`ada points_expiring {"points":65,"expires_at":"2026-04-30T09:30:00.000Z","days":7}`)
		s.Wait(311 * day) // 28 February
		told()
		s.Wait(day)
		told(`ada anniversary {"years":1}`, `ben anniversary {"years":1}`)
		s.Operate("ben", "merge", `{"source":"ada"}`)
		told()
		s.Must("ben", "opt_out", `{}`)
		before := len(s.reminded())
		s.Wait(40 * day)
		s.remind()
		require.Len(t, s.reminded(), before, "who left is told nothing")
		s.FoldsBack()
	})
}

// TestRemindersOfManyNodes: nodes that remind at the same time tell each once.
func TestRemindersOfManyNodes(t *testing.T) {
	eachShop(t, modules{"points_economy": `{"expiry":{"policy":"rolling","days":20}}`}, func(t *testing.T, s *shop) {
		const members = 150
		for i := range members {
			s.Must(loyaltytest.Member(i), "opt_in", fmt.Sprintf(`{"email":"member-%d@shop.test","birth_date":"1990-03-01"}`, i))
			s.Must(loyaltytest.Member(i), "point_add", `{"points":10}`)
		}

		var nodes sync.WaitGroup
		for range 3 {
			nodes.Go(func() {
				for range 3 {
					_, _ = s.Jobs().Run(ctx, "reminders") // while another node does it, it is refused
					s.remindAtOnce()
				}
			})
		}

		nodes.Wait()
		all := s.reminded()
		require.Len(t, all, 2*members, "a birthday and points each")
		slices.Sort(all)
		require.Len(t, slices.Compact(all), 2*members)
		s.FoldsBack()
	})
}

// remindAtOnce does what the job does without its lease, as after a clock that jumped.
func (s *shop) remindAtOnce() {
	page, err := s.DB.Remindable(ctx, loyalty.ID{}, 1000)
	if err != nil {
		s.T.Error(err)
		return
	}

	for some := range slices.Chunk(page, 50) {
		var ids []loyalty.ID
		for _, c := range some {
			ids = append(ids, c.Customer)
		}
		if _, failed, err := s.Remind(ctx, ids, reminder.Remind); err != nil || len(failed) > 0 {
			s.T.Error(err, failed)
		}
	}
}

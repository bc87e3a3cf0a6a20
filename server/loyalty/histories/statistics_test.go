package histories_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
	"github.com/loyalty-platform/loyalty/store"
)

// statistics is one node's.
func (s *shop) statistics(p engine.Programmes) *statistics.Statistics {
	return statistics.New(statistics.Options{Store: s.DB, Programmes: p, Clock: s.Clock})
}

// figuredEvent is a row of the journal as plain SQL reads it.
type figuredEvent struct {
	customer, id, parent loyalty.ID
	at                   time.Time
	joined               string // the month
	number               int64
	action, transaction  string
	data                 map[string]any
	effects              figuredEffects
}

// figuredEffects are those effects that figures are about.
type figuredEffects struct {
	Status      string            `json:"status"`
	Transaction *figuredPurchase  `json:"transaction"`
	Purchases   []figuredPurchase `json:"purchases"`
	Coupons     []struct {
		Pool, Type, Currency string
		Value                int64
		Uses                 []struct {
			Event  loyalty.ID
			Amount json.Number
		}
	} `json:"coupons"`
	Campaigns []struct {
		Campaign  string
		Runs      int64
		Points    int64
		TakenBack int64 `json:"taken_back"`
	} `json:"campaigns"`
}

type figuredPurchase struct {
	Name, State     string
	Total, Refunded int64
}

// plainFigures are figures by metric, key and day, in words.
type plainFigures map[string]int64

func (p plainFigures) add(day string, n int64, metric, by, currency, name string) {
	if key := strings.Join([]string{metric, by, currency, name, day}, "|"); n != 0 {
		p[key] += n
	}
}

// figuredJournal reads the whole journal, in the order of the tail.
func (s *shop) figuredJournal() (all []*figuredEvent) {
	s.Query(`SELECT e.customer_id, e.id, coalesce(e.parent, e.id), e.at, t.number, e.action, coalesce(e.transaction_id, ''), coalesce(e.data, '{}'), coalesce(e.effects, '{}')
FROM events e JOIN tail t ON t.customer_id = e.customer_id AND t.event_id = e.id ORDER BY t.number`, func(rows *sql.Rows) error {
		e := &figuredEvent{}
		var at int64
		var data, effects string
		if err := rows.Scan(&e.customer, &e.id, &e.parent, &at, &e.number, &e.action, &e.transaction, &data, &effects); err != nil {
			return err
		}
		e.at = time.UnixMilli(at)
		require.NoError(s.T, json.Unmarshal([]byte(data), &e.data))
		require.NoError(s.T, json.Unmarshal([]byte(effects), &e.effects), effects)
		all = append(all, e)
		return nil
	})

	return all
}

// recounted counts the whole journal, plainly.
func (s *shop) recounted(zone string) plainFigures {
	s.T.Helper()
	loc, err := time.LoadLocation(zone)
	require.NoError(s.T, err)
	day := func(e *figuredEvent) string { return e.at.In(loc).Format(time.DateOnly) }
	want, journal := plainFigures{}, s.figuredJournal()
	joined := map[loyalty.ID]string{}
	s.Query(`SELECT id, created_at FROM customers`, func(rows *sql.Rows) error {
		var id loyalty.ID
		var at int64
		err := rows.Scan(&id, &at)
		joined[id] = time.UnixMilli(at).In(loc).Format("2006-01")
		return err
	})

	for _, e := range journal {
		e.joined = joined[e.customer]
	}

	byID := map[[2]loyalty.ID]*figuredEvent{}
	for _, e := range journal {
		byID[[2]loyalty.ID{e.customer, e.id}] = e
	}

	s.recountPoints(want, byID, day)
	s.recountPurchases(want, journal, day)
	enrolled := map[loyalty.ID]bool{}
	for _, e := range journal {
		if e.effects.Status == "active" && !enrolled[e.customer] {
			enrolled[e.customer] = true
			want.add(day(e), 1, "enrolments", "", "", "")
			want.add(day(e), 1, "enrolments", "joined", "", e.joined)
		}

		for _, c := range e.effects.Coupons {
			for _, u := range c.Uses {
				if u.Event != e.id {
					continue
				}

				worth := c.Value
				switch c.Type {
				case "gift_card":
					f, _ := u.Amount.Float64()
					worth = int64(f*10000 + 0.5)
				case "amount":
				default:
					worth = 0
				}

				want.add(day(e), 1, "redemptions", "", "", "")
				want.add(day(e), 1, "redemptions", "pool", "", c.Pool)
				want.add(day(e), worth, "redemption_value", "", c.Currency, "")
				want.add(day(e), worth, "redemption_value", "currency", c.Currency, "")
				want.add(day(e), worth, "redemption_value", "pool", c.Currency, c.Pool)
			}
		}

		for _, c := range e.effects.Campaigns {
			for by, name := range map[string]string{"": "", "campaign": c.Campaign} {
				want.add(day(e), c.Points, "campaign_points", by, "", name)
				want.add(day(e), c.TakenBack, "campaign_points_taken_back", by, "", name)
				want.add(day(e), c.Runs, "campaign_runs", by, "", name)
			}
		}
	}

	s.Query(`SELECT customer_id, id, reward FROM claims`, func(rows *sql.Rows) error {
		var key [2]loyalty.ID
		var reward string
		err := rows.Scan(&key[0], &key[1], &reward)
		for _, e := range journal { // a merge leaves rows where they are; a transfer makes one of its own
			if e.id == key[1] && e.action == "reward_claim" {
				want.add(day(e), 1, "claims", "", "", "")
				want.add(day(e), 1, "claims", "reward", "", reward)
			}
		}
		return err
	})

	return want
}

// recountPoints counts postings, but for those of merges and of claimed guests' purchases.
func (s *shop) recountPoints(want plainFigures, byID map[[2]loyalty.ID]*figuredEvent, day func(*figuredEvent) string) {
	accounts := []string{"", "issued", "available", "reserved", "spent", "expired", "debt", "promised", "pending"}
	claims := map[loyalty.ID]bool{}
	for _, e := range byID {
		if e.action == "checkout_claim" || e.action == "pending_validate" {
			claims[e.id] = true
		}
	}

	s.Query(`SELECT customer_id, event_id, from_account, to_account, points FROM postings`, func(rows *sql.Rows) error {
		var key [2]loyalty.ID
		var from, to int
		var n int64
		err := rows.Scan(&key[0], &key[1], &from, &to, &n)
		e := byID[key]
		if e == nil || e.action == "merge" { // of the source, in the name of the survivor's event
			return err
		}
		if _, gift := e.data["campaign"]; (e.action == "point_sub" || e.action == "point_add") && claims[e.parent] && e.parent != e.id && !gift {
			return err
		}

		metric := map[string]string{
			"issued available": "points_earned", "available issued": "points_taken_back", "expired issued": "points_taken_back", "debt issued": "points_taken_back",
			"available spent": "points_burned", "reserved spent": "points_burned", "spent available": "points_returned", "available expired": "points_expired",
		}[accounts[from]+" "+accounts[to]]

		if metric != "" {
			want.add(day(e), n, metric, "", "", "")
		}
		if metric == "points_earned" || metric == "points_burned" {
			want.add(day(e), n, metric, "joined", "", e.joined)
		}

		return err
	})
}

// recountPurchases counts each purchase when its state first was accepted, and its
// refunds by how they grew; and holds how many there are against the purchases stored.
func (s *shop) recountPurchases(want plainFigures, journal []*figuredEvent, day func(*figuredEvent) string) {
	type attributes struct{ Store, Channel, Currency string }
	of, final := map[string]attributes{}, 0
	s.Query(`SELECT transaction_id, state, detail FROM transactions`, func(rows *sql.Rows) error {
		var name, state, detail string
		var d struct{ Attributes attributes }
		err := rows.Scan(&name, &state, &detail)
		require.NoError(s.T, json.Unmarshal([]byte(detail), &d))
		store := []rune(strings.TrimSuffix(d.Attributes.Store, "\x1f")) // a text is cut, and no part of a key
		d.Attributes.Store = string(store[:min(100, len(store))])
		if of[name] = d.Attributes; state == "accepted" || state == "refunded" {
			final++
		}
		return err
	})

	count := func(e *figuredEvent, metric string, a attributes, n int64, money bool) {
		own, currency := "", strings.ToUpper(a.Currency)
		if money {
			own = currency
		}
		want.add(day(e), n, metric, "", own, "")
		want.add(day(e), n, metric, "currency", currency, "")
		want.add(day(e), n, metric, "store", own, a.Store)
		want.add(day(e), n, metric, "channel", own, a.Channel)
		want.add(day(e), n, metric, "joined", own, e.joined)
	}

	accepted, refunded, counted := map[string]bool{}, map[string]int64{}, 0
	for _, e := range journal {
		bought := slices.Clone(e.effects.Purchases)
		if t := e.effects.Transaction; t != nil {
			t.Name = e.transaction
			bought = append(bought, *t)
		}

		for _, t := range bought {
			if (t.State == "accepted" || t.State == "refunded") && !accepted[t.Name] {
				accepted[t.Name] = true
				counted++
				count(e, "purchases", of[t.Name], 1, false)
				count(e, "revenue", of[t.Name], t.Total+t.Refunded, true)
			}
			if grown := t.Refunded - refunded[t.Name]; grown > 0 {
				refunded[t.Name] = t.Refunded
				count(e, "refunds", of[t.Name], grown, true)
			}
		}
	}

	require.Equal(s.T, final, counted, "purchases that are final")
}

// folded are the figures that are stored.
func (s *shop) folded() plainFigures {
	got := plainFigures{}
	s.Query(`SELECT metric, key, day, value FROM figures`, func(rows *sql.Rows) error {
		var metric, key string
		var day int
		var value string
		err := rows.Scan(&metric, &key, &day, &value)
		if slices.Contains(loyalty.KeptMetrics, metric) {
			return err
		}
		n, err := strconv.ParseInt(value, 10, 64)
		parts := strings.Split(key, "\x1f")
		require.Len(s.T, parts, 3)
		got.add(time.Unix(int64(day)*86400, 0).UTC().Format(time.DateOnly), n, metric, parts[0], parts[1], parts[2])
		return err
	})

	return got
}

// sameFigures folds on a node and holds the figures against a count of the whole journal.
func (s *shop) sameFigures(on *statistics.Statistics, zone string) {
	s.T.Helper()
	m, _ := statistics.Find("members")
	today, _ := on.Today()
	answers, err := on.Read(ctx, statistics.Query{Metric: m, Interval: statistics.Day, Range: statistics.Range{First: today, Last: today}})
	require.NoError(s.T, err)
	require.True(s.T, answers[0].Complete)
	require.Equal(s.T, zone, answers[0].Zone)
	want, got := s.recounted(zone), s.folded()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if want[key] != got[key] {
			s.T.Errorf("%s: %d, want %d", key, got[key], want[key])
		}
	}

	require.Equal(s.T, want, got)
}

// TestStatisticsOfHistories: whatever happens, and whichever node folded before, the figures are a plain count of the
// whole journal.
func TestStatisticsOfHistories(t *testing.T) {
	eachFew(t, 6, 3, 2000, func(t *testing.T, c *town) {
		zone := oneOf(c, zones...)
		nodes := []*statistics.Statistics{c.statistics(&elsewhere{c.shop, zone}), c.statistics(&elsewhere{c.shop, zone})}
		c.followed(60, "statistics", func() { c.sameFigures(oneOf(c, nodes...), zone) })
		zone = oneOf(c, zones...)
		c.sameFigures(c.statistics(&elsewhere{c.shop, zone}), zone)
		require.NoError(t, c.DB.VerifyRebuild(ctx, func(d rebuild.Difference) { t.Error(d) }, func(store.RebuildProgress) {}))
		c.sameFigures(c.statistics(&elsewhere{c.shop, zone}), zone)
	})
}

// TestStatisticsOfManyNodes: nodes that fold at the same time, and that are stopped in the
// middle, while customers do something, count everything once.
func TestStatisticsOfManyNodes(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		dice := rand.New(rand.NewPCG(1, 5)) //nolint:gosec // repeatable, and no secret
		s.whileManyCount(12, 5, func(i int) func(int) {
			on := s.statistics(s)
			return func(int) {
				within := time.Minute
				if i == 0 { // it is killed, again and again
					within = time.Duration(dice.IntN(6000)) * time.Microsecond
				}
				limited, stop := context.WithTimeout(ctx, within)
				defer stop()
				if err := on.Count(limited, func(int) {}); i > 0 {
					require.NoError(t, err)
				}
			}
		})

		s.sameFigures(s.statistics(s), "UTC")
	})
}

// TestStatisticsPhotographs: what there is is looked at every hour, and stays as it was
// when the days of the programme become others.
func TestStatisticsPhotographs(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(nil, things{
			{"tiers/structure", "main", `{"name":"Main","base":"points"}`},
			{"tiers/tier", "silver", `{"structure":"main","name":{"en":"S"},"threshold":50}`},
		})

		s.Enrol("ada", "ben", "cili")
		s.Must("ada", "point_add", `{"points":60}`)
		s.Must("ada", "point_spend", `{"points":20}`)
		s.Must("ben", "point_sub", `{"points":5}`)
		s.Must("cili", "opt_out", `{}`)
		count := func() {
			t.Helper()
			done, err := s.Jobs().Run(ctx, "statistics")
			require.NoError(t, err)
			require.Zero(t, done.Failed, done.Result)
		}

		read := func(metric, by string) (all []string) {
			t.Helper()
			on := s.statistics(s)
			today, _ := on.Today()
			m, known := statistics.Find(metric)
			require.True(t, known)
			answers, err := on.Read(ctx, statistics.Query{Metric: m, By: by, Interval: statistics.Day, Range: statistics.Range{First: today - 2, Last: today}})
			require.NoError(t, err)
			for _, series := range answers[0].Series {
				text := series.Key.Name
				for _, v := range series.Values {
					if v.Known {
						text += " " + v.N.String()
					} else {
						text += " -"
					}
				}
				all = append(all, text)
			}

			return all
		}

		count()
		require.Equal(t, []string{" - - 2"}, read("members", ""))
		require.Equal(t, []string{" - - 2"}, read("active_customers", ""))
		require.Equal(t, []string{" - - 40"}, read("points_outstanding", ""))
		require.Equal(t, []string{" - - 5"}, read("points_debt", ""))
		require.Equal(t, []string{"silver - - 1"}, read("members_by_tier", "tier"))
		s.Enrol("dora")
		count()
		require.Equal(t, []string{" - - 2"}, read("members", ""), "an hour is not over")
		s.Wait(time.Hour)
		count()
		require.Equal(t, []string{" - - 3"}, read("members", ""))
		s.Must("ada", "opt_out", `{}`)
		s.Wait(48 * time.Hour)
		count()
		require.Equal(t, []string{" 3 - 2"}, read("members", ""))
		require.Equal(t, []string{"silver 1 - 0"}, read("members_by_tier", "tier"), "nobody has it any more")
		s.Wait(40 * 24 * time.Hour)
		count()
		require.Equal(t, []string{" - - 0"}, read("active_customers", ""))
		other := s.statistics(&elsewhere{s, "Pacific/Kiritimati"})
		require.NoError(t, other.Count(ctx, func(int) {}))
		var kept int
		require.NoError(t, s.Raw.QueryRow(`SELECT count(*) FROM figures WHERE metric = 'members'`).Scan(&kept))
		require.Equal(t, 3, kept)
	})
}

// TestStatisticsLate: an event that is dated back changes the day it belongs to.
func TestStatisticsLate(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Enrol("ada")
		s.Wait(10 * 24 * time.Hour)
		on := s.statistics(s)
		s.Must("ada", "point_add", `{"points":7}`)
		s.sameFigures(on, "UTC")
		late := s.Clock().Add(-9 * 24 * time.Hour)
		s.Must("ada", "point_add", fmt.Sprintf(`{"points":30,"effective_timestamp":%d}`, late.Unix()))
		s.sameFigures(on, "UTC")
		require.EqualValues(t, 30, s.folded()["points_earned||||"+late.Format(time.DateOnly)])
	})
}

// TestStatisticsOfHeldAndClaimed: a held purchase counts when it is validated, a held refund
// when it is; points that come with a guest's purchase are not earned twice.
func TestStatisticsOfHeldAndClaimed(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		base := modules{"customer_id_validation": `{}`}
		s.Configure(base)
		s.Enrol("ada")
		on := s.statistics(s)
		s.GuestBuys(`,"store":"north"`)
		s.sameFigures(on, "UTC")
		s.Wait(24 * time.Hour)
		s.Must("ada", "checkout_claim", `{"transaction_id":"T-1"}`)
		s.sameFigures(on, "UTC")
		figures := s.folded()
		require.EqualValues(t, 50, figures["points_earned||||2026-03-01"])
		require.Zero(t, figures["points_earned||||2026-03-02"]+figures["points_taken_back||||2026-03-02"])

		base["pending_events"] = `{"actions":["checkout","partial_refund","checkout_claim"],"days":30}`
		s.Configure(base)
		held := s.Must("ada", "checkout", `{"transaction_id":"T-2","total":40,"currency":"usd","items":`+loyaltytest.OneLine+`}`).Events[0].ID.String()
		back := s.Must("ada", "partial_refund", `{"transaction_id":"T-1","amount":10}`).Events[0].ID.String()
		s.sameFigures(on, "UTC")
		s.Wait(24 * time.Hour)
		s.Must("ada", "pending_validate", `{"event":"`+back+`"}`)
		s.Wait(24 * time.Hour)
		s.Must("ada", "pending_validate", `{"event":"`+held+`"}`)
		s.sameFigures(on, "UTC")
		figures = s.folded()
		require.EqualValues(t, 1, figures["purchases|currency|USD||2026-03-04"])
		require.EqualValues(t, 100_000, figures["refunds|store||north|2026-03-03"])
		require.EqualValues(t, 1, figures["purchases||||2026-03-04"])
		require.Zero(t, figures["purchases||||2026-03-03"])
	})
}

package job_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// drawCampaign draws a campaign whose condition looks at what the journal keeps.
func drawCampaign(t *rapid.T) string {
	trigger := rapid.SampledFrom([]string{"checkout", "checkout", "checkout_item", "visit", "point_add", "refund"}).Draw(t, "trigger")
	conditions := []string{"", "", "customer.status == 'active'"}
	switch trigger {
	case "checkout":
		conditions = append(conditions, "transaction.total >= 50", "event.data.total > 30 && transaction.currency == 'EUR'", "event.data.cf_gift == 'yes'", "any(transaction.items, .quantity > 1)", "transaction.earned > 40", "event.points > 20")
	case "checkout_item":
		conditions = append(conditions, "item.subtotal >= 20", "item.product_id == 'p-1'", "transaction.total >= 50")
	case "visit":
		conditions = append(conditions, "event.data.url startsWith 'https://shop.test/a'")
	case "refund":
		conditions = append(conditions, "transaction.refunded >= 50", "transaction.status == 'refunded'")
	}

	effect := rapid.SampledFrom([]string{
		`{"type":"points","points":7}`, `{"type":"multiply","factor":1.5}`, `{"type":"coupon","coupon":{"type":"free_shipping"}}`,
		`{"type":"multiply","factor":2},{"type":"points","points":1}`, `{"type":"label","label":"x"}`,
	}).Draw(t, "effect")

	limit := rapid.SampledFrom([]string{``, `,"limit":{"per_customer":2}`, `,"limit":{"total":4}`, `,"limit":{"per_customer":1,"total":3}`}).Draw(t, "limit")
	if trigger == "point_add" { // it sets itself off
		limit = `,"limit":{"per_customer":1}`
	}

	fields, err := json.Marshal(rapid.SampledFrom(conditions).Draw(t, "condition"))
	if err != nil {
		panic(err)
	}

	condition := ""
	if string(fields) != `""` {
		condition = `,"condition":` + string(fields)
	}

	return `{"name":"C","status":"active","trigger":"` + trigger + `"` + condition + `,"effects":[` + effect + `]` + limit + `}`
}

// live lets three customers do something; leave says that they may leave for good,
// with what events say of them.
func live(t *rapid.T, s *shop, leave bool) {
	who := rapid.SampledFrom([]string{"ada", "ben", "cleo"})
	for i := range rapid.IntRange(10, 40).Draw(t, "events") {
		// Of two customers in one millisecond the journal does not tell who came first.
		s.Wait(time.Duration(rapid.IntRange(1, 5000).Draw(t, "by")) * time.Millisecond)
		customer, bought := who.Draw(t, "customer"), fmt.Sprintf("T-%d", rapid.IntRange(0, i).Draw(t, "purchase"))
		var err error // some are refused
		switch rapid.SampledFrom([]string{"buy", "buy", "buy", "accept", "refund", "return", "part", "visit", "add", "merge", "leave"}).Draw(t, "what") {
		case "buy":
			a, b := rapid.IntRange(0, 60).Draw(t, "a"), rapid.IntRange(0, 60).Draw(t, "b")
			_, err = s.Send(customer, "checkout", fmt.Sprintf(`{"transaction_id":"T-%d","total":%d,"currency":"EUR","cf_gift":"yes","items":[
				{"product_id":"p-1","product_name":"A","product_url":"https://shop.test/","quantity":1,"subtotal":%d},
				{"product_id":"p-2","product_name":"B","product_url":"https://shop.test/","quantity":2,"subtotal":%d}]}`, i, a+b, a, b))

		case "accept":
			_, err = s.Send(customer, "checkout_accept", `{"transaction_id":"`+bought+`"}`)
		case "refund":
			_, err = s.Send(customer, "refund", `{"transaction_id":"`+bought+`"}`)
		case "return":
			_, err = s.Send(customer, "refund_item", `{"transaction_id":"`+bought+`","product_id":"p-2","quantity":1}`)
		case "part":
			_, err = s.Send(customer, "partial_refund", `{"transaction_id":"`+bought+`","amount":10}`)
		case "visit":
			_, err = s.Send(customer, "visit", rapid.SampledFrom([]string{`{"url":"https://shop.test/a"}`, `{"url":"https://shop.test/b"}`}).Draw(t, "url"))
		case "add":
			_, err = s.Send(customer, "point_add", `{"points":10}`)
		case "merge":
			if rapid.IntRange(0, 3).Draw(t, "rare") == 0 {
				_, err = s.Submit(ctx, loyaltytest.Operation(customer, "merge", `{"source":"`+who.Draw(t, "source")+`"}`))
			}

		case "leave":
			if leave && rapid.IntRange(0, 5).Draw(t, "rare") == 0 {
				_, err = s.Send(customer, "opt_out", `{}`)
			}
		}

		if err != nil {
			kind := loyalty.AsError(err).Kind
			require.True(t, kind != loyalty.Internal && kind != loyalty.Unavailable, "%v", err)
		}
	}
}

// TestBacktestOfHistories: a backtest over all that happened gives exactly what the
// campaign gave when it ran; and what is counted is what the journal says.
func TestBacktestOfHistories(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			loyaltytest.SetFlag(t, "rapid.checks", map[string]string{"sqlite": "60", "postgres": "5"}[d.Name])
			var ran, took int64
			rapid.Check(t, func(r *rapid.T) {
				s := newShop(t, d.Migrated(t), nil)
				data := drawCampaign(r)
				m := modules{"incentivized_purchase": `{}`}
				if rapid.Bool().Draw(r, "accepted later") {
					m["checkout_accept"] = `{}`
				}

				s.Make(m, things{{"automation/campaign", "c", data}})
				s.Enrol("ada", "ben", "cleo")
				began := s.Clock()
				live(r, s, !strings.Contains(data, "cf_gift") && !strings.Contains(data, "event.data.url") && !strings.Contains(data, "customer."))
				did, err := s.DB.CampaignTotals(ctx, []string{"c"})
				require.NoError(r, err)
				f := did["c"]
				o, err := job.Backtest(s.Engine, ctx, s.DB, campaign.BacktestPlan{From: began, To: s.Clock().Add(time.Second), Campaign: json.RawMessage(data)}, 1)
				require.NoError(r, err)
				var b campaign.BacktestFigures
				require.NoError(r, json.Unmarshal(o.Progress, &b))
				require.Equal(r, campaign.BacktestFigures{Events: f.Runs, Winners: f.Customers, Points: f.Points, Coupons: f.Coupons}, b, data)
				require.Equal(r, o.Total, o.Done)
				found, _ := loyaltytest.Rebuilt(t, s.DB)
				require.Empty(r, found)
				ran, took = ran+f.Runs, took+f.TakenBack
			})

			t.Logf("figures: campaigns gave %d times; refunds took %d points back", ran, took)
			require.Positive(t, ran)
		})
	}
}

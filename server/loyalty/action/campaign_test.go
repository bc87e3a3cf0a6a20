package action_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestCampaignsAreChecked: what cannot run is not saved, and the error names the
// field.
func TestCampaignsAreChecked(t *testing.T) {
	base := things{
		{"coupons/pool", "codes", `{"name":"C","source":"uploaded","coupon":{"type":"percentage","value":10}}`},
		{"tiers/structure", "main", `{"name":"Main","base":"points","window":{"kind":"none"},"downgrade":"none"}`},
		{"tiers/tier", "gold", `{"structure":"main","name":{"en":"Gold"},"threshold":100}`},
		{"challenges/challenge", "three", `{"title":{"en":"Three"},"criteria":[{"action":"visit","threshold":3}]}`},
		{"custom-events/action", "tasting", `{"name":"tasting","schema":{"type":"object"}}`},
	}

	const points = `"effects":[{"type":"points","points":1}]`
	for fields, field := range map[string]string{
		`"trigger":"visit",` + points:                                                        "",
		`"trigger":"tasting",` + points:                                                      "",
		`"trigger":"tier_up",` + points:                                                      "",
		`"trigger":"checkout_item","condition":"item.quantity > 1",` + points:                "",
		`"trigger":"checkout","condition":"any(transaction.items, .quantity > 1)",` + points: "",
		`"trigger":"visit","effects":[{"type":"multiply","factor":1.25},{"type":"label","label":"x"},{"type":"tier","tier":"gold"}]`: "",
		`"trigger":"visit","effects":[{"type":"challenge","challenge":"three"},{"type":"coupon","pool":"codes"}]`:                    "",
		`"trigger":"visit","effects":[{"type":"coupon","coupon":{"type":"free_shipping"}}]`:                                          "",

		`"trigger":"dance",` + points:                                                                                      "trigger",
		`"trigger":"checkout_accept_item",` + points:                                                                       "trigger",
		`"trigger":"checkout_update_item",` + points:                                                                       "trigger",
		`"trigger":"visit","condition":"customer.scor > 1",` + points:                                                      "condition",
		`"trigger":"visit","condition":"item.quantity > 1",` + points:                                                      "condition",
		`"trigger":"visit","starts_at":"2026-03-02","ends_at":"2026-03-01",` + points:                                      "ends_at",
		`"trigger":"visit","effects":[{"type":"points"}]`:                                                                  "effects[0].points",
		`"trigger":"visit","effects":[{"type":"points","points":1},{"type":"points","points":-1}]`:                         "effects[1].points",
		`"trigger":"visit","effects":[{"type":"multiply","factor":0.99}]`:                                                  "effects[0].factor",
		`"trigger":"visit","effects":[{"type":"multiply"}]`:                                                                "effects[0].factor",
		`"trigger":"visit","effects":[{"type":"label","label":" "}]`:                                                       "effects[0].label",
		`"trigger":"visit","effects":[{"type":"tier","tier":"iron"}]`:                                                      "effects[0].tier",
		`"trigger":"visit","effects":[{"type":"challenge","challenge":"four"}]`:                                            "effects[0].challenge",
		`"trigger":"visit","effects":[{"type":"coupon"}]`:                                                                  "effects[0].coupon",
		`"trigger":"visit","effects":[{"type":"coupon","pool":"none"}]`:                                                    "effects[0].pool",
		`"trigger":"visit","effects":[{"type":"coupon","pool":"codes","coupon":{"type":"free_shipping"}}]`:                 "effects[0].coupon",
		`"trigger":"visit","effects":[{"type":"coupon","coupon":{"type":"percentage","value":101}}]`:                       "effects[0].coupon.value",
		`"trigger":"visit","effects":[{"type":"points","points":1},{"type":"points","points":2},{"type":"gift","gift":1}]`: "effects[2].type",
	} {
		_, err := loyaltytest.CompileWith(nil, append(slices.Clip(base), loyaltytest.AnyCampaign("c", fields)))
		requireFault(t, err, field, fields)
	}
}

// requireFault holds that an error names a field, or that there is none.
func requireFault(t *testing.T, err error, field, about string) {
	t.Helper()
	if field == "" {
		require.NoError(t, err, about)
		return
	}
	require.Error(t, err, about)
	e := loyalty.AsError(err)
	require.Contains(t, []loyalty.Kind{loyalty.Invalid, loyalty.Conflict}, e.Kind, about)
	require.Len(t, e.Details, 1, about)
	require.Equal(t, field, e.Details[0].Field, about)
}

// TestEveryActionCanTrigger holds the list of actions that campaigns can name
// against the rules.
func TestEveryActionCanTrigger(t *testing.T) {
	names := programme.InternalActions()
	for _, rule := range action.All() {
		names = append(names, rule.Meta().Name)
	}
	for _, name := range names {
		_, err := loyaltytest.CompileWith(nil, things{loyaltytest.AnyCampaign("c", `"trigger":"`+name+`","effects":[{"type":"points","points":1}]`)})
		if strings.HasSuffix(name, "_item") && name != "checkout_item" && name != "refund_item" {
			require.Error(t, err, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}

func TestSegmentsAreChecked(t *testing.T) {
	for condition, field := range map[string]string{
		`customer.score >= 100`:                     "",
		`now - customer.created_at < days(30)`:      "",
		`customer.birthday == event.month_day`:      "",
		`customer.tiers[\"main\"] == \"gold\"`:      "",
		` `:                                         "condition",
		`event.action == \"visit\"`:                 "condition",
		`event.data.url == \"x\"`:                   "condition",
		`event.points > 1`:                          "condition",
		`transaction.total > 1`:                     "condition",
		`transaction != nil and customer.score > 1`: "condition",
		`item.quantity > 1`:                         "condition",
		`customer.score`:                            "condition",
	} {
		_, err := loyaltytest.CompileWith(nil, things{{"segments/segment", "s", `{"name":"S","condition":"` + condition + `"}`}})
		requireFault(t, err, field, condition)
	}
}

func TestDeclarationsAreChecked(t *testing.T) {
	const read = `{"name":"newsletter_read","schema":{"type":"object"}}`
	colour := [3]string{"custom-entities/attribute", "a", `{"on":"core/customer","name":"colour","type":"string"}`}

	for about, c := range map[string]struct {
		all   things
		field string
	}{
		"own action":       {things{{"custom-events/action", "a", read}}, ""},
		"built-in action":  {things{{"custom-events/action", "a", `{"name":"visit","schema":{"type":"object"}}`}}, ""},
		"lines":            {things{{"custom-events/action", "a", `{"name":"checkout_item","schema":{"type":"object"}}`}}, ""},
		"internal action":  {things{{"custom-events/action", "a", `{"name":"tier_up","schema":{"type":"object"}}`}}, "name"},
		"two of a name":    {things{{"custom-events/action", "a", read}, {"custom-events/action", "b", read}}, "name"},
		"attribute":        {things{colour, {"custom-entities/attribute", "b", `{"on":"rewards/reward","name":"colour","type":"string","translatable":true}`}}, ""},
		"attribute twice":  {things{colour, {"custom-entities/attribute", "b", `{"on":"core/customer","name":"colour","type":"date"}`}}, "name"},
		"on nothing":       {things{{"custom-entities/attribute", "a", `{"on":"rewards/rewards","name":"colour","type":"string"}`}}, "on"},
		"translated dates": {things{{"custom-entities/attribute", "a", `{"on":"rewards/reward","name":"day","type":"date","translatable":true}`}}, "translatable"},
		"translated people": {things{{"custom-entities/attribute", "a",
			`{"on":"core/customer","name":"motto","type":"string","translatable":true}`}}, "translatable"},
	} {
		_, err := loyaltytest.CompileWith(nil, c.all)
		requireFault(t, err, c.field, about)
	}
}

// gave counts the point_add events that campaigns wrote.
func (s *shop) gave() (n int) {
	s.T.Helper()
	require.NoError(s.T, s.Raw.QueryRow("SELECT count(*) FROM events WHERE action = 'point_add'").Scan(&n))
	return n
}

const landing = `{"url":"https://shop.test/"}`

// TestCampaignTotalLimitUnderLoad: sixteen at once against a campaign that gives
// ten times give exactly ten, on one server and on two that share a database.
func TestCampaignTotalLimitUnderLoad(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		shops := []*shop{newShop(t, url, nil, withWorkers), newShop(t, url, nil, withWorkers)}
		for _, s := range shops {
			s.Make(nil, things{loyaltytest.AnyCampaign("ten", `"trigger":"visit","effects":[{"type":"points","points":1}],"limit":{"total":10}`)})
		}

		for i := range 16 {
			shops[0].Must(fmt.Sprintf("member-%d", 1001+i), "opt_in", `{"email":"m@shop.test"}`)
		}

		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				for range 2 {
					shops[i%2].Must(fmt.Sprintf("member-%d", 1001+i), "visit", landing)
				}
			})
		}

		all.Wait()
		require.Equal(t, 10, shops[0].gave())
		shops[0].Verify()
	})
}

func withWorkers(o *engine.EngineOptions) { o.Workers, o.Overlap = 4, 2 }

// TestCampaignLimitsInsideABulk: the events of one transaction see what those
// before them used up.
func TestCampaignLimitsInsideABulk(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		s.Make(nil, things{
			loyaltytest.AnyCampaign("three", `"trigger":"visit","effects":[{"type":"points","points":1}],"limit":{"total":3}`),
			loyaltytest.AnyCampaign("once", `"trigger":"visit","effects":[{"type":"points","points":10}],"limit":{"per_customer":1}`),
		})

		var bulk []loyalty.Submission
		for i := range 8 {
			bulk = append(bulk, loyaltytest.Event(fmt.Sprintf("member-%d", 1001+i/2), "opt_in", `{"email":"m@shop.test"}`), loyaltytest.Event(fmt.Sprintf("member-%d", 1001+i/2), "visit", landing))
		}

		s.All(bulk...)
		var scores []int64
		for i := range 4 {
			scores = append(scores, s.Customer(fmt.Sprintf("member-%d", 1001+i)).Figures.Score)
		}

		require.Equal(t, []int64{12, 11, 10, 10}, scores)
		s.Verify()
	})
}

// TestCampaignPreview: each campaign that looked at the event tells what it saw,
// what it decided and why.
func TestCampaignPreview(t *testing.T) {
	s := newShop(t, storetest.SQLite(t), nil)
	s.Make(nil, things{
		{"coupons/pool", "empty", `{"name":"E","source":"uploaded","coupon":{"type":"free_shipping"}}`},
		loyaltytest.AnyCampaign("double", `"trigger":"checkout","condition":"event.data.total >= 100","effects":[{"type":"multiply","factor":2}],"priority":9,"limit":{"total":1}`),
		loyaltytest.AnyCampaign("small", `"trigger":"checkout","condition":"event.data.total < 100","effects":[{"type":"points","points":5}],"priority":8`),
		loyaltytest.AnyCampaign("fault", `"trigger":"checkout","condition":"event.data.channel > 3","effects":[{"type":"points","points":5}],"priority":7`),
		loyaltytest.AnyCampaign("over", `"trigger":"checkout","effects":[{"type":"points","points":5}],"priority":6,"ends_at":"2026-02-01"`),
		loyaltytest.AnyCampaign("none", `"trigger":"checkout","effects":[{"type":"coupon","pool":"empty"}],"priority":5`),
		loyaltytest.AnyCampaign("line", `"trigger":"checkout_item","effects":[{"type":"points","points":3}]`),
		loyaltytest.AnyCampaign("other", `"trigger":"visit","effects":[{"type":"points","points":5}]`),
		[3]string{"automation/campaign", "draft", `{"name":"D","trigger":"checkout","effects":[{"type":"points","points":5}]}`},
	})

	s.Must("ada", "opt_in", `{"email":"ada@shop.test"}`)
	const buy = `{"transaction_id":"T-%d","total":100,"channel":"web","items":[{"product_id":"p-501","product_name":"n","product_url":"https://shop.test/","quantity":1,"subtotal":100}]}`
	told := func(transaction int) map[string]loyalty.Verdict {
		before := s.Rows()
		o, err := s.Preview(context.Background(), loyaltytest.Event("ada", "checkout", fmt.Sprintf(buy, transaction)))
		require.NoError(t, err)
		require.Equal(t, before, s.Rows(), "a preview records nothing")
		verdicts := map[string]loyalty.Verdict{}
		for _, v := range o.Trace {
			if v.Rule == "campaign" {
				verdicts[v.Input["campaign"].(string)+" "+v.Verdict] = v
			}
		}
		return verdicts
	}

	reasons := map[string]string{}
	first := told(1)
	for key, v := range first {
		reasons[key] = v.Reason
	}

	require.Equal(t, map[string]string{
		"double applied": "reason.campaign", "small skipped": "reason.condition", "fault skipped": "reason.condition_fault",
		"over skipped": "reason.not_active", "none skipped": "reason.nothing_to_give", "line applied": "reason.campaign",
	}, reasons)

	require.Equal(t, int64(100), first["double applied"].Points)
	require.Equal(t, "A", first["double applied"].Input["name"])
	require.Equal(t, "event.data.total >= 100", first["double applied"].Input["condition"])
	require.Contains(t, first["fault skipped"].Input["fault"], "text")
	require.Equal(t, "p-501", first["line applied"].Input["product_id"])

	s.Must("ada", "checkout", fmt.Sprintf(buy, 1))
	require.Equal(t, "reason.limit_total", told(2)["double skipped"].Reason)
}

// TestCampaignPointsComeBack draws campaigns, purchases and refunds: the purchase's
// points are always those of its lots, and when everything came back nothing is
// left, whichever way it came.
func TestCampaignPointsComeBack(t *testing.T) {
	s := newShop(t, storetest.SQLite(t), nil)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		rounding := rapid.SampledFrom([]string{"floor", "round", "ceil"}).Draw(t, "rounding")
		factor := func() string { return fmt.Sprintf("%.2f", 1+float64(rapid.IntRange(0, 300).Draw(t, "hundredths"))/100) }
		p, err := loyaltytest.CompileWith(modules{"incentivized_purchase": `{"rate":0.7,"rounding":"` + rounding + `"}`}, things{
			loyaltytest.AnyCampaign("all", `"trigger":"checkout","effects":[{"type":"multiply","factor":`+factor()+`},{"type":"points","points":`+fmt.Sprint(rapid.IntRange(1, 50).Draw(t, "points"))+`}]`),
			loyaltytest.AnyCampaign("line", `"trigger":"checkout_item","condition":"item.quantity > 1","effects":[{"type":"multiply","factor":`+factor()+`}]`),
		})

		require.NoError(t, err)
		s.Use(p)

		who, tx := fmt.Sprintf("member-%d", n), fmt.Sprintf("T-%d", n)
		s.Must(who, "opt_in", `{"email":"m@shop.test"}`)
		var items []string
		one := rapid.Bool().Draw(t, "one product")
		lines := rapid.IntRange(1, 4).Draw(t, "lines")
		for i := range lines {
			if one {
				i = 0
			}
			items = append(items, fmt.Sprintf(`{"product_id":"p-%d","product_name":"n","product_url":"https://shop.test/","quantity":%d,"subtotal":%d.%02d}`,
				i, rapid.IntRange(1, 3).Draw(t, "quantity"), rapid.IntRange(0, 90).Draw(t, "units"), rapid.IntRange(0, 99).Draw(t, "cents")))
		}

		s.Must(who, "checkout", fmt.Sprintf(`{"transaction_id":"%s","total":100,"items":[%s]}`, tx, strings.Join(items, ",")))

		consistent := func() loyalty.Transaction {
			got := s.Transaction(who, tx)
			require.Equal(t, s.Customer(who).Figures.Score, got.Earned, "the score is what the purchase earned")
			require.GreaterOrEqual(t, got.Earned, int64(0))
			return got
		}

		bought := consistent()
		require.Equal(t, bought.OriginalEarned, bought.Earned)
		var points, bonus int64
		for _, l := range bought.Detail.Items {
			points, bonus = points+l.Points, bonus+l.Bonus
		}

		require.Equal(t, bought.Earned, points, "every point belongs to a line")
		require.Equal(t, bought.Detail.Bonus, bonus)

		if one {
			s.returnTogether(t, who, tx, bought, strings.Join(items, ","))
		} else if rapid.Bool().Draw(t, "piece by piece") {
			for i, l := range bought.Detail.Items {
				for range l.Quantity {
					s.Must(who, "refund_item", fmt.Sprintf(`{"transaction_id":"%s","product_id":"p-%d","quantity":1}`, tx, i))
					consistent()
				}
			}
		} else {
			if rapid.Bool().Draw(t, "a part first") {
				s.Must(who, "partial_refund", fmt.Sprintf(`{"transaction_id":"%s","amount":%d}`, tx, rapid.IntRange(1, 100).Draw(t, "amount")))
				consistent()
			}
			s.Must(who, "refund", fmt.Sprintf(`{"transaction_id":"%s"}`, tx))
		}

		require.Zero(t, consistent().Earned)
	})

	s.Verify()
}

// returnTogether gives the pieces of a purchase of one product back, some at a time and over its
// lines. It leaves what it leaves of a twin's, who gives each piece back by itself.
func (s *shop) returnTogether(t *rapid.T, who, tx string, bought loyalty.Transaction, items string) {
	twin, also := "twin-"+who, "twin-"+tx
	s.Must(twin, "opt_in", `{"email":"t@shop.test"}`)
	s.Must(twin, "checkout", fmt.Sprintf(`{"transaction_id":"%s","total":100,"items":[%s]}`, also, items))
	var open int64
	for _, l := range bought.Detail.Items {
		open += l.Quantity
	}

	for open > 0 {
		n := rapid.Int64Range(1, open).Draw(t, "pieces")
		_, err := s.Send(who, "refund_item", fmt.Sprintf(`{"transaction_id":"%s","product_id":"p-0","quantity":%d}`, tx, open+1))
		require.ErrorIs(t, err, loyalty.ErrQuantityTooLarge.With("left", open).At("data.quantity"))
		s.Must(who, "refund_item", fmt.Sprintf(`{"transaction_id":"%s","product_id":"p-0","quantity":%d}`, tx, n))
		for range n {
			s.Must(twin, "refund_item", fmt.Sprintf(`{"transaction_id":"%s","product_id":"p-0","quantity":1}`, also))
		}

		open -= n
		got, want := s.Transaction(who, tx), s.Transaction(twin, also)
		require.Equal(t, want.PurchaseState, got.PurchaseState)
		for i := range want.Detail.Items {
			require.Equal(t, want.Detail.Items[i].LineFigures, got.Detail.Items[i].LineFigures)
		}

		for i := range want.Detail.Gifts {
			require.Equal(t, want.Detail.Gifts[i].Left, got.Detail.Gifts[i].Left)
		}

		require.Equal(t, s.Customer(twin).Figures, s.Customer(who).Figures)
	}
}

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

const campaigns = "/automation/campaigns"

// automated is a programme with campaigns of every kind and three members.
func automated(t *testing.T, url string) *house {
	t.Helper()
	h := openOn(t, url)
	for _, piece := range [][2]string{
		{"tiers/structure", `{"id":"club","name":"Club","base":"points"}`},
		{"tiers/tier", `{"id":"gold","structure":"club","name":{"en":"Gold"},"threshold":100000}`},
		{"challenges/challenge", `{"id":"five","title":{"en":"Five"},"criteria":[{"action":"video","threshold":50}]}`},
		{"coupons/pool", uploadPool},
		{"automation/campaign", `{"id":"double","name":"Double","trigger":"checkout","condition":"transaction.total >= 50","effects":[{"type":"multiply","factor":2}],"priority":10,"limit":{"per_customer":3,"total":4},"status":"active"}`},
		{"automation/campaign", `{"id":"beans","name":"Beans","trigger":"checkout_item","condition":"item.product_id == 'p-1'","effects":[{"type":"points","points":7}],"status":"active"}`},
		{"automation/campaign", `{"id":"thanks","name":"Thanks","trigger":"review_submit","effects":[{"type":"coupon","coupon":{"type":"percentage","value":10,"name":{"en":"Ten"}}},{"type":"label","label":"reviewer"},{"type":"tier","tier":"gold"},{"type":"challenge","challenge":"five","amount":3}],"status":"active"}`},
		{"automation/campaign", `{"id":"soon","name":"Soon","trigger":"checkout","effects":[{"type":"points","points":1}],"status":"active","starts_at":"2999-01-01","priority":-1}`},
		{"automation/campaign", `{"id":"over","name":"Over","trigger":"checkout","effects":[{"type":"coupon","pool":"spring"}],"status":"active","ends_at":"2001-01-01"}`},
		{"automation/campaign", `{"id":"halted","name":"Halted","trigger":"visit","effects":[{"type":"challenge","challenge":"five"}],"status":"paused"}`},
		{"automation/campaign", `{"id":"idea","name":"Idea","trigger":"visit","effects":[{"type":"points","points":1}]}`},
		{"automation/campaign", `{"id":"old","name":"Old","trigger":"visit","effects":[{"type":"points","points":1}],"status":"active"}`},
	} {
		h.makes("/entities/"+piece[0], piece[1])
		time.Sleep(time.Millisecond) // campaigns of one millisecond have no order of creation
	}

	require.Equal(t, http.StatusOK, h.post("/entities/automation/campaign/old/archive", "").status)
	for _, id := range []string{"member-1001", "member-1002", "member-1003"} {
		h.enrol(id)
	}

	return h
}

// twoLines is a checkout of one piece of p-1 and two of p-2.
func twoLines(customer, transaction string, first, second int) string {
	return fmt.Sprintf(`{"customer":"%s","action":"checkout","data":{"transaction_id":"%s","total":%d,"items":[
		{"product_id":"p-1","product_name":"Beans","product_url":"https://shop.test/1","quantity":1,"subtotal":%d},
		{"product_id":"p-2","product_name":"Mugs","product_url":"https://shop.test/2","quantity":2,"subtotal":%d}]}}`, customer, transaction, first+second, first, second)
}

// campaignIDs lists the ids of a page.
func (a answer) campaignIDs(t *testing.T) (ids []string) {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	for _, entry := range a.json(t)["data"].([]any) {
		ids = append(ids, entry.(map[string]any)["id"].(string))
	}
	return ids
}

// spec: service.api.automation-campaigns
func TestCampaignsAreListed(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := automated(t, url)
		running := []string{"double", "beans", "thanks", "over", "halted", "idea", "soon"}
		for query, want := range map[string][]string{
			"":                                   running,
			"?limit=2&offset=1":                  running[1:3],
			"?sort=name&order=desc&limit=2":      {"thanks", "soon"},
			"?sort=priority&limit=1":             {"soon"},
			"?sort=starts_at&limit=1":            {"soon"},
			"?sort=status&limit=1":               {"double"},
			"?sort=trigger&order=desc&limit=1":   {"halted"},
			"?sort=created_at&order=desc":        {"idea", "halted", "over", "soon", "thanks", "beans", "double"},
			"?sort=ends_at&limit=1":              {"over"},
			"?status=active":                     {"double", "beans", "thanks"},
			"?status.in=scheduled,completed":     {"over", "soon"},
			"?status.ne=active&trigger=visit":    {"halted", "idea"},
			"?status=draft":                      {"idea"},
			"?status.eq=paused":                  {"halted"},
			"?status.nin=active,draft,paused":    {"over", "soon"},
			"?trigger.in=review_submit,checkout": {"double", "thanks", "over", "soon"},
			"?trigger.nin=visit,checkout":        {"beans", "thanks"},
			"?trigger.ne=checkout&trigger.eq=visit": {
				"halted", "idea"},
			"?status=sleeping":   nil,
			"?status.gt=active":  nil,
			"?trigger.lt=visit":  nil,
			"?trigger=nonsense1": nil,
		} {
			a := h.get(campaigns + query)
			if query == "?status.gt=active" || query == "?trigger.lt=visit" {
				require.Equal(t, http.StatusBadRequest, a.status, query) // the list has no such filter
				continue
			}
			require.Equal(t, want, a.campaignIDs(t), query)
		}

		next := h.get(campaigns + "?limit=3").json(t)["next"].(string)
		require.Equal(t, running[3:6], h.get(next).campaignIDs(t))
		require.Equal(t, http.StatusBadRequest, h.get(campaigns+"?sort=effects").status)
		require.Equal(t, http.StatusBadRequest, h.get(campaigns+"?order=up").status)

		for id, want := range map[string]string{
			"double": `{"id":"double","name":"Double","trigger":"checkout","condition":"transaction.total >= 50","effects":[{"type":"multiply","factor":2}],"priority":10,"limit":{"per_customer":3,"total":4},"status":"active"}`,
			"thanks": `{"id":"thanks","name":"Thanks","trigger":"review_submit","effects":[{"type":"coupon","coupon":{"type":"percentage","value":10,"name":{"en":"Ten"}}},{"type":"label","label":"reviewer"},{"type":"tier","tier":"gold"},{"type":"challenge","challenge":"five","amount":3}],"priority":0,"limit":{},"status":"active"}`,
			"over":   `{"id":"over","name":"Over","trigger":"checkout","effects":[{"type":"coupon","pool":"spring"}],"priority":0,"limit":{},"status":"completed","ends_at":"2001-01-01T23:59:59.999Z"}`,
			"halted": `{"id":"halted","name":"Halted","trigger":"visit","effects":[{"type":"challenge","challenge":"five","amount":1}],"priority":0,"limit":{},"status":"paused"}`,
		} {
			shown := succeeded(t, h.get(campaigns+"/"+id))
			require.NotEmpty(t, shown["created_at"])
			delete(shown, "created_at")
			body, err := json.Marshal(shown)
			require.NoError(t, err)
			require.JSONEq(t, want, string(body))
		}

		refused(t, h.get(campaigns+"/old"), http.StatusNotFound, 190260)
		refused(t, h.get(campaigns+"/none"), http.StatusNotFound, 190260)
		require.Equal(t, http.StatusOK, h.post("/admin/modules/automation", `{"enabled":false}`).status)
		refused(t, h.get(campaigns), http.StatusNotFound, 160600)
	})
}

// figures are the numbers of a campaign's statistics in their order, then its limits.
func (h *house) figures(id string) string {
	h.t.Helper()
	f := succeeded(h.t, h.get(campaigns+"/"+id+"/statistics"))
	require.Equal(h.t, f["runs"].(json.Number).String() != "0", f["first_at"] != nil && f["last_at"] != nil)
	return fmt.Sprint(f["runs"], " runs ", f["customers"], " customers ", f["points"], "-", f["taken_back"], "=", f["net"], " points ",
		f["coupons"], " coupons ", f["labels"], " labels ", f["tiers"], " tiers ", f["challenge"], " challenge ", f["limits"])
}

// listed finds in the list of campaigns, where it is asked to include them, the same
// figures as those of one campaign.
func (h *house) listed(id string) {
	h.t.Helper()
	for _, c := range h.get(campaigns + "?include=statistics&limit=100").json(h.t)["data"].([]any) {
		if one := c.(map[string]any); one["id"] == id {
			require.Equal(h.t, succeeded(h.t, h.get(campaigns+"/"+id+"/statistics")), one["statistics"])
			return
		}
	}
	require.Fail(h.t, "it is not in the list", id)
}

// TestCampaignStatistics: the figures are exact after each step, and fold back from
// the journal.
func TestCampaignStatistics(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := automated(t, url)
		for _, step := range []struct{ path, body, id, want string }{
			{"", "", "double", "0 runs 0 customers 0-0=0 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:4 limit:4 used:0]]"},
			{"/events", twoLines("member-1001", "T-1", 40, 20), "double", "1 runs 1 customers 60-0=60 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:3 limit:4 used:1]]"},
			{"/events", twoLines("member-1001", "T-2", 10, 20), "double", "1 runs 1 customers 60-0=60 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:3 limit:4 used:1]]"},
			{"", "", "beans", "2 runs 1 customers 14-0=14 points 0 coupons 0 labels 0 tiers 0 challenge map[]"},
			{"/events", `{"customer":"member-1001","action":"refund_item","data":{"transaction_id":"T-1","product_id":"p-2","quantity":1}}`, "double",
				"1 runs 1 customers 60-10=50 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:3 limit:4 used:1]]"},
			{"", "", "beans", "2 runs 1 customers 14-0=14 points 0 coupons 0 labels 0 tiers 0 challenge map[]"},
			{"/events", `{"customer":"member-1001","action":"refund_item","data":{"transaction_id":"T-1","product_id":"p-1"}}`, "beans", "2 runs 1 customers 14-7=7 points 0 coupons 0 labels 0 tiers 0 challenge map[]"},
			{"/events", `{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-1"}}`, "double",
				"1 runs 1 customers 60-60=0 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:4 limit:4 used:0]]"},
			{"/events", twoLines("member-1002", "T-3", 60, 40), "double", "2 runs 2 customers 160-60=100 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:3 limit:4 used:1]]"},
			{"/events", `{"customer":"member-1002","action":"partial_refund","data":{"transaction_id":"T-3","amount":25}}`, "double",
				"2 runs 2 customers 160-84=76 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:3 limit:4 used:1]]"},
			{"/customers/member-1002/merge", `{"target":"member-1001"}`, "double",
				"2 runs 1 customers 160-84=76 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:3 limit:4 used:1]]"},
			{"/events", `{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-3"}}`, "double",
				"2 runs 1 customers 160-160=0 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:4 limit:4 used:0]]"},
			{"/events", twoLines("member-1001", "T-4", 60, 40), "double", "3 runs 1 customers 260-160=100 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:3 limit:4 used:1]]"},
			{"/events", twoLines("member-1001", "T-5", 60, 40), "double", "4 runs 1 customers 360-160=200 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:2 limit:4 used:2]]"},
			{"/events", twoLines("member-1003", "T-6", 60, 40), "double", "5 runs 2 customers 460-160=300 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:1 limit:4 used:3]]"},
			{"/events", twoLines("member-1003", "T-7", 60, 40), "double", "6 runs 2 customers 560-160=400 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:0 limit:4 used:4]]"},
			{"/events", twoLines("member-1003", "T-8", 60, 40), "double", "6 runs 2 customers 560-160=400 points 0 coupons 0 labels 0 tiers 0 challenge map[per_customer:map[limit:3] total:map[left:0 limit:4 used:4]]"},
			{"/events", `{"customer":"member-1003","action":"review_submit","data":{"item":"p-1","review":"Good"}}`, "thanks", "1 runs 1 customers 0-0=0 points 1 coupons 1 labels 1 tiers 3 challenge map[]"},
			{"/events", `{"customer":"member-1003","action":"review_submit","data":{"item":"p-2","review":"Good"}}`, "thanks", "2 runs 1 customers 0-0=0 points 2 coupons 1 labels 1 tiers 6 challenge map[]"},
		} {
			if step.path != "" {
				h.does(step.path, step.body)
			}
			require.Equal(t, step.want, h.figures(step.id), step.body)
			h.listed(step.id)
		}

		require.Equal(t, http.StatusOK, h.post("/entities/automation/campaign/double/archive", "").status)
		require.Contains(t, h.figures("double"), "6 runs", "an archived campaign keeps its figures")
		refused(t, h.get(campaigns+"/none/statistics"), http.StatusNotFound, 190260)
		require.NoError(t, h.store.VerifyRebuild(t.Context(), func(d rebuild.Difference) { require.Fail(t, "the journal says otherwise", "%+v", d) }, func(store.RebuildProgress) {}))
	})
}

// TestCampaignPreview: what is shown is what the purchase then earns.
func TestCampaignPreview(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := automated(t, url)
		h.does("/events", `{"customer":"member-1001","action":"point_add","data":{"points":500}}`)
		burning := `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-2","total":80,"points_burned":30,"items":[{"product_id":"p-2","product_name":"Mugs","product_url":"https://shop.test/2","quantity":2,"subtotal":80}]}}`
		for _, c := range []struct {
			event, want string
			gain        int
		}{
			{twoLines("member-1001", "T-1", 40, 20), `{"base":60,"bonus":67,"points":127,"campaigns":[{"id":"double","name":"Double","points":60},{"id":"beans","name":"Beans","points":7}],"burned":0}`, 127},
			{burning, `{"base":80,"bonus":80,"points":160,"campaigns":[{"id":"double","name":"Double","points":80}],"burned":30}`, 130},
			{twoLines("member-1001", "T-3", 0, 20), `{"base":20,"bonus":7,"points":27,"campaigns":[{"id":"beans","name":"Beans","points":7}],"burned":0}`, 27},
		} {
			before := h.spendable()
			a := h.does(campaigns+"/preview", c.event)
			require.JSONEq(t, `{"data":`+c.want+`}`, a.body)
			require.Equal(t, before, h.spendable(), "nothing is recorded")
			h.does("/events", c.event)
			var was, is int
			_, _ = fmt.Sscan(before, &was)
			_, _ = fmt.Sscan(h.spendable(), &is)
			require.Equal(t, c.gain, is-was)
		}

		form := h.form(campaigns+"/preview", "customer=member-1003&action=checkout&data[transaction_id]=T-9&data[total]=50")
		require.Equal(t, "map[base:0 bonus:0 burned:0 campaigns:[] points:0]", fmt.Sprint(succeeded(t, form)))

		refused(t, h.post(campaigns+"/preview", twoLines("member-1001", "T-1", 1, 1)), http.StatusConflict, 5003)
		refused(t, h.post(campaigns+"/preview", twoLines("member-9999", "T-9", 1, 1)), http.StatusNotFound, 160212)
		guest := `{"customer":"member-9999","guest":true,` + twoLines("", "T-9", 40, 20)[len(`{"customer":"",`):]
		require.Equal(t, http.StatusOK, h.post(campaigns+"/preview", guest).status)
		refused(t, h.get("/customers/member-9999"), http.StatusNotFound, 160212)
		require.Equal(t, http.StatusBadRequest, h.post(campaigns+"/preview", `{"customer":"member-1001","action":"visit","data":{"url":"https://shop.test/"}}`).status)
		require.Equal(t, http.StatusBadRequest, h.post(campaigns+"/preview", `{"customer":"member-1001","action":"checkout","data":{"total":1}}`).status)

		require.Equal(t, http.StatusOK, h.post("/admin/modules/checkout_accept", `{"enabled":true}`).status)
		a := h.post(campaigns+"/preview", twoLines("member-1003", "T-9", 40, 20))
		require.EqualValues(t, "67", fmt.Sprint(succeeded(t, a)["bonus"]), "as if it were accepted now")
	})
}

// backtested waits for a backtest.
func (h *house) backtested(id, body string) map[string]any {
	h.t.Helper()
	a := h.post(campaigns+"/"+id+"/backtest", body)
	require.Equal(h.t, http.StatusAccepted, a.status, a.body)
	begun := data(h.t, a)
	require.Equal(h.t, id, begun["campaign_id"])
	path := fmt.Sprintf("%s/%s/backtest/%s", campaigns, id, begun["batch_id"])

	for {
		b := succeeded(h.t, h.get(path))
		if b["status"] == "done" {
			return b
		}
		if a := h.post("/admin/jobs/bulk/run", ""); a.status != http.StatusOK {
			refused(h.t, a, http.StatusConflict, 190161) // it runs already
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// TestBacktest: a backtest over what happened finds what was given, and tries drafts.
func TestBacktest(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := automated(t, url)
		for i, b := range []string{
			twoLines("member-1001", "T-1", 40, 20), twoLines("member-1002", "T-2", 10, 20), twoLines("member-1002", "T-3", 60, 40),
			twoLines("member-1001", "T-4", 50, 50), twoLines("member-1001", "T-5", 50, 51), twoLines("member-1001", "T-6", 50, 52),
		} {
			time.Sleep(2 * time.Millisecond) // one after the other in the journal too
			h.does("/events", b)
			if i == 3 {
				h.does("/events", `{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-4"}}`)
			}
		}

		h.does("/events", `{"customer":"member-1003","action":"review_submit","data":{"item":"p-1","review":"Good"}}`)
		const ever = `"from":"2001-01-01T00:00:00Z","to":"2999-01-01T00:00:00Z"`
		for _, c := range []struct{ id, body, want string }{
			{"double", `{` + ever + `}`, "5 2 463 0"},
			{"beans", `{` + ever + `}`, "6 2 42 0"},
			{"thanks", `{` + ever + `}`, "1 1 0 1"},
			{"idea", `{` + ever + `}`, "0 0 0 0"},
			{"double", `{"from":"2001-01-01T00:00:00Z","to":"2002-01-01T00:00:00Z"}`, "0 0 0 0"},
			{"double", `{` + ever + `,"campaign":{"name":"D","trigger":"checkout","effects":[{"type":"multiply","factor":1.5}],"limit":{"per_customer":1}}}`, "2 2 45 0"},
			{"double", `{` + ever + `,"campaign":{"name":"D","trigger":"refund","effects":[{"type":"coupon","pool":"spring"}]}}`, "1 1 0 1"},
			{"double", `{` + ever + `,"campaign":{"name":"D","trigger":"opt_in","condition":"customer.id == 'member-1003'","effects":[{"type":"points","points":9}]}}`, "1 1 9 0"},
		} {
			b := h.backtested(c.id, c.body)
			require.Equal(t, c.want, fmt.Sprint(b["events"], " ", b["winners"], " ", b["points"], " ", b["coupons"]), c.body)
			require.Equal(t, b["total"], b["done"])
			require.NotContains(t, b, "fault")
		}

		require.Contains(t, h.figures("double"), "5 runs 2 customers 463-", "nothing was given by it")

		one := h.post(campaigns+"/double/backtest", `{`+ever+`}`, "Idempotency-Key", "k")
		require.Equal(t, one.body, h.post(campaigns+"/double/backtest", `{`+ever+`}`, "Idempotency-Key", "k").body)
		for body, field := range map[string]string{
			`{"from":"2026-01-01T00:00:00Z"}`:                                                                                       "to",
			`{"from":"2026-01-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}`:                                                           "to",
			`{"from":"2026-13-01","to":"2026-01-01T00:00:00Z"}`:                                                                     "from",
			`{` + ever + `,"campaign":{"name":"D","trigger":"dance","effects":[{"type":"points","points":1}]}}`:                     "campaign.trigger",
			`{` + ever + `,"campaign":{"name":"D","trigger":"visit","effects":[{"type":"tier","tier":"iron"}]}}`:                    "campaign.effects[0].tier",
			`{` + ever + `,"campaign":{"name":"D","trigger":"visit","effects":[{"type":"points","points":0}]}}`:                     "campaign.effects[0].points",
			`{` + ever + `,"campaign":{"name":"D","trigger":"visit","condition":"1","effects":[{"type":"points","points":1}]}}`:     "campaign.condition",
			`{` + ever + `,"campaign":{"name":"D","trigger":"visit","effects":[]}}`:                                                 "campaign.effects",
			`{` + ever + `,"campaign":{"name":"D","trigger":"visit","effects":[{"type":"points","points":1}],"limit":{"total":0}}}`: "campaign.limit.total",
		} {
			a := h.post(campaigns+"/double/backtest", body)
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), body)
		}

		refused(t, h.post(campaigns+"/none/backtest", `{`+ever+`}`), http.StatusNotFound, 190260)
		refused(t, h.post(campaigns+"/old/backtest", `{`+ever+`}`), http.StatusNotFound, 190260)
		refused(t, h.get(fmt.Sprintf("%s/beans/backtest/%s", campaigns, data(t, one)["batch_id"])), http.StatusNotFound, 190240)
		refused(t, h.get(campaigns+"/beans/backtest/0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01"), http.StatusNotFound, 190240)
		refused(t, h.get(campaigns+"/beans/backtest/none"), http.StatusNotFound, 190240)

		for range 9 { // one waits already
			require.Equal(t, http.StatusAccepted, h.post(campaigns+"/double/backtest", `{`+ever+`}`).status)
		}

		refused(t, h.post(campaigns+"/beans/backtest", `{`+ever+`}`), http.StatusUnprocessableEntity, 190241)
		require.Equal(t, one.body, h.post(campaigns+"/double/backtest", `{`+ever+`}`, "Idempotency-Key", "k").body, "it was taken before")
		succeeded(t, h.post("/admin/jobs/bulk/run", ""))
		require.Equal(t, http.StatusAccepted, h.post(campaigns+"/beans/backtest", `{`+ever+`}`).status, "those before it are done")
	})
}

// TestBacktestFault: why a backtest could not be made is told as a refusal is, in the language of each reader.
func TestBacktestFault(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := automated(t, url)
		begun := data(t, h.post(campaigns+"/double/backtest", `{"from":"2001-01-01T00:00:00Z","to":"2999-01-01T00:00:00Z",
			"campaign":{"name":"D","trigger":"checkout","effects":[{"type":"coupon","pool":"spring"}]}}`))
		for _, kept := range []string{"automation/campaign/over", "coupons/pool/spring"} {
			require.Equal(t, http.StatusOK, h.post("/entities/"+kept+"/archive", "").status)
		}

		require.Equal(t, http.StatusOK, h.post("/admin/jobs/bulk/run", "").status)
		path := fmt.Sprintf("%s/double/backtest/%s", campaigns, begun["batch_id"])
		for language, message := range map[string]string{
			"en": "Property pool: there is no coupons/pool spring", "es": "Propiedad pool: no existe coupons/pool spring",
			"fr": "Propriété pool : coupons/pool spring n’existe pas", "hu": "pool mező: nincs ilyen coupons/pool: spring",
		} {
			a := h.get(path, "Accept-Language", language)
			require.Equal(t, language, a.header.Get("Content-Language"))
			b := succeeded(t, a)
			require.Equal(t, "done", b["status"])
			require.Equal(t, map[string]any{"type": "BadRequestException", "code": json.Number("190010"), "message": message,
				"details": []any{map[string]any{"field": "effects[0].pool", "message": message}}}, b["fault"])
		}
	})
}

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// explained is an event and what its preview must tell of one rule.
type explained struct {
	family  string
	before  [][2]string // recorded first
	event   [2]string
	rule    string
	verdict string
	reason  string
	input   string   // properties that must be there, as JSON
	points  int64    // of all verdicts of the rule
	lots    []string // what the lots would gain or lose
	code    int      // of the error that would come; -1: none
}

// previewPieces are a programme with something for every family of rules.
var previewPieces = [][2]string{
	{"/admin/modules/friend_referral", `{"enabled":true,"config":{"referrer_points":5,"friend_points":7,"pay_on":"opt_in"}}`},
	{"/entities/tiers/structure", `{"id":"club","name":"Club","base":"points"}`},
	{"/entities/tiers/tier", `{"id":"gold","structure":"club","name":{"en":"Gold"},"threshold":2000}`},
	{"/entities/challenges/challenge", `{"id":"twice","title":{"en":"Twice"},"criteria":[{"action":"video","threshold":2}],"points":9,"max_completions":1}`},
	{"/entities/automation/campaign", `{"id":"large","name":"Large","trigger":"checkout","condition":"event.data.total >= 100","effects":[{"type":"points","points":11}],"status":"active"}`},
	{"/entities/automation/campaign", `{"id":"once","name":"Once","trigger":"review","effects":[{"type":"points","points":3}],"limit":{"per_customer":1},"status":"active"}`},
	{"/entities/automation/campaign", `{"id":"first","name":"First","trigger":"review_submit","effects":[{"type":"points","points":3}],"limit":{"total":1},"status":"active"}`},
	{"/entities/automation/campaign", `{"id":"past","name":"Past","trigger":"unsuspend","effects":[{"type":"points","points":3}],"status":"active",` + ended + `}`},
	{"/entities/automation/campaign", `{"id":"odd","name":"Odd","trigger":"point_sub","condition":"customer.cf_size > 5","effects":[{"type":"points","points":3}],"status":"active"}`},
	event("ada", "opt_in", `{"email":"ada@shop.test","cf_size":"large"}`),
	event("ben", "opt_in", `{"email":"ben@shop.test"}`),
	event("sue", "opt_in", `{"email":"sue@shop.test"}`),
	event("sue", "suspend", `{}`),
	event("ina", "subscribe", `{"handler":"ina"}`),
	event("ada", "point_add", `{"points":100}`),
	event("ada", "coupon_create", `{"code":"FIRST","value":5}`),
	event("ada", "coupon_create", `{"code":"SECOND","value":5}`),
	event("ada", "coupon_redeem", `{"code":"SECOND"}`),
}

var explanations = []explained{
	{"module gate, action", nil, event("ada", "checkout_accept", `{"transaction_id":"T"}`), "module", "refused", "a module that it needs is off", `{"module":"checkout_accept","action":"checkout_accept"}`, 0, nil, 190043},
	{"module gate, attribute", nil, event("ada", "checkout", `{"transaction_id":"T","total":1,"total_quantity":1}`), "module", "refused", "a module that it needs is off", `{"module":"checkout_accept","property":"total_quantity"}`, 0, nil, 190042},
	{"only the platform writes it", nil, event("ada", "tier_up", `{}`), "module", "refused", "only the platform writes this action", `{"action":"tier_up"}`, 0, nil, 190044},
	{"standing, allowed", nil, event("ada", "visit", `{"url":"https://shop.test/"}`), "standing", "applied", "the customer's status allows this", `{"status":"active"}`, 0, nil, -1},
	{"standing, inactive", nil, event("ina", "point_add", `{"points":1}`), "standing", "refused", "the customer's status does not allow this", `{"status":"inactive"}`, 0, nil, 190041},
	{"standing, suspended", nil, event("sue", "point_spend", `{"points":1}`), "standing", "refused", "the customer's status does not allow this", `{"status":"suspended"}`, 0, nil, 110003},
	{"state", nil, event("ada", "unsuspend", `{"cf_why":"x"}`), "state", "refused", "the status does not allow this change", ``, 0, nil, 190040},
	{"earn by the rate", nil, event("ada", "checkout", `{"transaction_id":"T","total":60,"items":[`+teaLine+`]}`), "earn", "applied", "the subtotal times the rate, rounded as set in the programme", `{"product_id":"p-501","subtotal":60,"rate":1,"rounding":"floor"}`, 60, []string{"60"}, -1},
	{"earn by what was sent", nil, event("ada", "checkout", `{"transaction_id":"T","total":60,"items":[`+strings.Replace(teaLine, `"quantity"`, `"points_rewarded":5,"quantity"`, 1)+`]}`), "earn", "applied", "the points that were sent with it", `{"points_rewarded":5,"subtotal":60}`, 5, []string{"5"}, -1},
	{"earn without a rate", nil, event("ada", "checkout", `{"transaction_id":"T","total":60,"currency":"HUF","items":[`+teaLine+`]}`), "earn", "skipped", "its currency has no exchange rate, so it does not count", `{"product_id":"p-501","no_rate":"HUF"}`, 0, nil, -1},
	{"earn points", nil, event("ada", "point_add", `{"points":8}`), "earn", "applied", "points are earned", `{"points":8}`, 8, []string{"8"}, -1},
	{"burn", nil, event("ada", "checkout", `{"transaction_id":"T","total":60,"points_burned":10}`), "burn", "applied", "points are taken for the purchase", `{"points_burned":10,"transaction_id":"T"}`, -10, []string{"-10"}, -1},
	{"burn too much", nil, event("ada", "checkout", `{"transaction_id":"T","total":60,"points_burned":101}`), "burn", "refused", "there are not enough spendable points", `{"spendable":100}`, -101, nil, 0},
	{"spend", nil, event("ada", "point_spend", `{"points":30}`), "spend", "applied", "points are spent", `{"points":30}`, -30, []string{"-30"}, -1},
	{"spend too much", nil, event("ada", "point_spend", `{"points":300}`), "spend", "refused", "there are not enough spendable points", `{"spendable":100}`, -300, nil, 0},
	{"reserve", nil, event("ada", "reserve_points", `{"transaction_id":"T","points":30}`), "reserve", "applied", "points are held", `{"points":30}`, -30, []string{"-30"}, -1},
	{"coupon", nil, event("ada", "coupon_redeem", `{"code":"FIRST"}`), "coupon", "applied", "the coupon is redeemed", `{"code":"FIRST"}`, 0, nil, -1},
	{"coupon, redeemed before", nil, event("ada", "coupon_redeem", `{"code":"SECOND"}`), "coupon", "refused", "the coupon's state does not allow its use, or it belongs to another customer", `{"code":"SECOND","state":"redeemed"}`, 0, nil, 1601},
	{"campaign", nil, event("ada", "checkout", `{"transaction_id":"T","total":100}`), "campaign", "applied", "the campaign's condition holds", `{"campaign":"large","name":"Large","trigger":"checkout","condition":"event.data.total >= 100"}`, 11, []string{"11"}, -1},
	{"campaign, condition", nil, event("ada", "checkout", `{"transaction_id":"T","total":99}`), "campaign", "skipped", "its condition does not hold", `{"campaign":"large","condition":"event.data.total >= 100"}`, 0, nil, -1},
	{"campaign, condition of another kind", nil, event("ada", "point_sub", `{"points":1}`), "campaign", "skipped", "", `{"campaign":"odd"}`, 0, []string{"-1"}, -1},
	{"campaign, dates", [][2]string{event("sue", "visit", `{"url":"https://shop.test/"}`)}, event("sue", "unsuspend", `{}`), "campaign", "skipped", "it is not active now", `{"campaign":"past"}`, 0, nil, -1},
	{"campaign, limit", [][2]string{event("ada", "review", `{"item_id":"p"}`)}, event("ada", "review", `{"item_id":"p"}`), "campaign", "skipped", "the customer has reached the limit", `{"campaign":"once"}`, 0, nil, -1},
	{"campaign, total limit", [][2]string{event("ben", "review_submit", `{"item":"p","review":"x"}`)}, event("ada", "review_submit", `{"item":"p","review":"x"}`), "campaign", "skipped", "the limit for all customers is reached", `{"campaign":"first"}`, 0, nil, -1},
	{"challenge, progress", nil, event("ada", "video", `{"url":"https://video.test/"}`), "challenge", "applied", "it counts towards the challenge", `{"challenge":"twice"}`, 0, nil, -1},
	{"challenge, completed", [][2]string{event("ada", "video", `{"url":"https://video.test/"}`)}, event("ada", "video", `{"url":"https://video.test/"}`), "challenge", "applied", "the challenge is completed", `{"challenge":"twice"}`, 9, []string{"9"}, -1},
	{"challenge, full", [][2]string{event("ada", "video", `{"url":"https://video.test/"}`)}, event("ada", "video", `{"url":"https://video.test/"}`), "challenge", "skipped", "the challenge cannot be completed more often", `{"challenge":"twice"}`, 0, nil, -1},
	{"tier", nil, event("ada", "point_add", `{"points":3000}`), "tier", "applied", "the customer rises to a higher tier", `{"tier":"gold"}`, 0, []string{"3000"}, -1},
	{"referral", nil, event("kim", "opt_in", `{"email":"kim@shop.test","referrer":"ben"}`), "referral", "applied", "points for referring a customer, or for being referred", ``, 12, nil, -1},
}

// TestPreviewExplains: for each family of rules the preview names the rule, what it
// looked at, its verdict and its points, the lots that would change and the error
// that would come, in every language; and nothing whatever is written.
func TestPreviewExplains(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		for _, piece := range previewPieces {
			done(h, piece[0], piece[1])
		}

		db := contentsOf(t, url)
		for _, e := range explanations {
			t.Run(e.family, func(t *testing.T) {
				h.t, db.t = t, t
				for _, piece := range e.before {
					done(h, piece[0], piece[1])
				}
				before := db.untouched()
				e.check(h, h.post("/events/preview", e.event[1]).json(t))
				if db.file != "" {
					e.inEveryLanguage(h)
				}
				require.Equal(t, before, db.untouched(), "a preview writes nothing")
			})
		}

		h.t = t
		previewOfOperations(h)
		previewOfExpiry(h)
		previewOfManyLots(h)
	})
}

// untouched is what a preview must leave as it was: the rows of every table, the
// figures, and on SQLite the commits.
func (c *contents) untouched() []string {
	c.t.Helper()
	lines := append(c.sums(), fmt.Sprint(c.counts()))
	if c.file != "" {
		lines = append(lines, fmt.Sprint("commits ", c.logged()))
	}
	return lines
}

func (e explained) check(h *house, preview map[string]any) {
	t := h.t
	t.Helper()
	var sum int64
	found := false
	for _, one := range preview["rules"].([]any) {
		v := one.(map[string]any)
		require.NotEmpty(t, v["reason"])
		if v["rule"] != e.rule || v["verdict"] != e.verdict || (e.reason != "" && v["reason"] != e.reason) {
			continue
		}

		found = true
		n, err := v["points"].(json.Number).Int64()
		require.NoError(t, err)
		sum += n
		if e.input != "" {
			var want map[string]any
			require.NoError(t, json.Unmarshal([]byte(e.input), &want))
			input, _ := v["input"].(map[string]any)
			for name, value := range want {
				require.Equal(t, fmt.Sprint(value), fmt.Sprint(input[name]), "%s of %v", name, v)
			}
		}
	}

	require.True(t, found, "%v", preview["rules"])
	require.Equal(t, e.points, sum, "%v", preview["rules"])
	var lots []string
	for _, one := range preview["lots"].([]any) {
		lots = append(lots, fmt.Sprint(one.(map[string]any)["points"]))
	}

	if e.rule != "referral" { // of a customer who is not there yet
		require.Equal(t, e.lots, lots)
	}

	if e.code < 0 {
		require.NotContains(t, preview, "error")
		require.NotEmpty(t, preview["events"])
		return
	}

	require.Equal(t, fmt.Sprint(e.code), fmt.Sprint(preview["error"].(map[string]any)["code"]))
	require.Empty(t, preview["events"])
}

// inEveryLanguage: the reasons are words in each language, and others in each.
func (e explained) inEveryLanguage(h *house) {
	h.t.Helper()
	said := map[string]string{}
	for _, language := range []string{"en", "es", "fr", "hu"} {
		a := h.post("/events/preview", e.event[1], "Accept-language", language)
		require.Equal(h.t, http.StatusOK, a.status)
		require.NotRegexp(h.t, placeholder, strings.ReplaceAll(a.body, `{}`, ""))
		for _, one := range a.json(h.t)["rules"].([]any) {
			v := one.(map[string]any)
			if v["rule"] == e.rule {
				said[v["reason"].(string)] = language
			}
		}
	}

	require.GreaterOrEqual(h.t, len(said), 4, "%v", said)
}

// previewOfOperations: what operations do is explained to who asks the engine: the
// limits of a reward.
func previewOfOperations(h *house) {
	t := h.t
	t.Helper()
	for _, piece := range [][2]string{
		{"/entities/rewards/reward", `{"id":"mug","title":{"en":"Mug"},"type":"custom","points":20,"stock":1,"max_claims":1}`},
		{"/entities/rewards/reward", `{"id":"car","title":{"en":"Car"},"type":"custom","points":90000}`},
	} {
		done(h, piece[0], piece[1])
	}

	claim := func(customer, reward string) (loyalty.Outcome, error) {
		return h.engine.Preview(t.Context(), loyalty.Submission{Customer: customer, Action: "reward_claim", Operation: true, Data: json.RawMessage(`{"reward":"` + reward + `"}`)})
	}
	o, err := claim("ada", "mug")
	require.NoError(t, err)
	require.Contains(t, o.Trace, loyalty.Verdict{Rule: "reward", Verdict: "applied", Reason: "reason.claimed", Input: map[string]any{"reward": "mug"}, Points: -20})
	_, err = claim("ada", "car")
	require.ErrorIs(t, err, loyalty.ErrRewardPoints)
	done(h, "/customers/ada/activities/rewards/mug/claim", "")
	for customer, reason := range map[string]string{"ada": "reason.limit", "ben": "reason.stock"} {
		o, err = claim(customer, "mug")
		require.Error(t, err)
		require.Contains(t, o.Trace, loyalty.Verdict{Rule: "reward", Verdict: "refused", Reason: reason, Input: map[string]any{"reward": "mug"}}, customer)
	}
}

// previewOfExpiry: what is due before the event is told too.
func previewOfExpiry(h *house) {
	t := h.t
	t.Helper()
	done(h, "/admin/modules/points_economy", `{"config":{"expiry":{"policy":"rolling","days":1}}}`)
	at := time.Now().Add(-48 * time.Hour).UTC().Format(time.RFC3339)
	e := explained{rule: "expiry", verdict: "applied", reason: "points have expired", points: -4, code: -1}
	e.check(h, done(h, "/events/preview", `{"customer":"ben","action":"point_add","data":{"points":4,"effective_timestamp":"`+at+`"}}`))
}

// previewOfManyLots: the lots are told in the order in which they would be spent, whatever order a database
// gives them in.
func previewOfManyLots(h *house) {
	t := h.t
	t.Helper()
	done(h, event("mia", "opt_in", `{"email":"mia@shop.test"}`)[0], event("mia", "opt_in", `{"email":"mia@shop.test"}`)[1])
	done(h, "/admin/modules/points_economy", `{"config":{"expiry":{"policy":"none"}}}`)
	for _, hours := range []int{2, 7, 1, 9, 4, 8, 3, 6, 5} {
		at := time.Now().Add(-time.Duration(hours) * time.Hour).UTC().Format(time.RFC3339)
		done(h, "/events", fmt.Sprintf(`{"customer":"mia","action":"point_add","data":{"points":%d,"effective_timestamp":%q}}`, hours, at))
	}

	preview := done(h, "/events/preview", `{"customer":"mia","action":"point_spend","data":{"points":45}}`)
	var lots []string
	for _, one := range preview["lots"].([]any) {
		lots = append(lots, fmt.Sprint(one.(map[string]any)["points"]))
	}

	require.Equal(t, []string{"-9", "-8", "-7", "-6", "-5", "-4", "-3", "-2", "-1"}, lots)
}

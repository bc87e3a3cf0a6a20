package server_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inhabit makes what the examples of the documents name.
func (w *witness) inhabit() {
	w.furnish()
	for _, id := range []string{"member-1002", "member-1003", "member-1004"} {
		w.enrol(id)
	}
	for _, event := range []string{
		`"profile","data":{"external_ids":{"crm":"000417"}}`,
		`"point_add","data":{"points":100000}`,
		`"checkout","data":{"transaction_id":"T-1001","total":120.50,"items":[{"product_id":"p-501","product_name":"Beans","product_url":"https://shop.test/p/501","quantity":2,"subtotal":120.50}]}`,
		`"coupon_create","data":{"code":"COF-4711-XKCD","value":5}`,
	} {
		done(w.house, "/events", `{"customer":"member-1001","action":`+event+`}`)
	}
}

// fresh is a member with points whom no request has touched.
func (w *witness) fresh() string {
	w.made++
	id := "member-9" + strconv.Itoa(w.made)
	w.enrol(id)
	done(w.house, "/events", `{"customer":"`+id+`","action":"point_add","data":{"points":5000}}`)
	return id
}

// claimed is a member with a claim of a reward, and its id.
func (w *witness) claimed() (member, claim string) {
	member = w.fresh()
	return member, done(w.house, "/customers/"+member+"/activities/rewards/coffee/claim", "")["id"].(string)
}

type request = func(w *witness, o *offered, example string) (target, body string)

// special are the requests of operations whose examples name what only one request
// may use, or what the platform made up.
var special = map[string]request{
	"getKey": ownKey, "updateKey": ownKey, "rotateKey": ownKey, "revokeKey": ownKey,
	"claimReward": ofFresh, "enterContest": ofFresh, "spinPrizeWheel": ofFresh, "claimOffer": ofFresh,
	"answerQuiz": ofFresh, "answerQuestion": ofFresh, "mergeCustomer": ofFresh, "claimRewardFor": forFresh,
	"revokeReward": func(w *witness, o *offered, example string) (string, string) {
		member, claim := w.claimed()
		return strings.NewReplacer("{customer_id}", member, "{reward_id}", "coffee").Replace(o.path), `{"event":"` + claim + `"}`
	},
	"getRewardClaim": ownClaim, "redeemRewardClaim": ownClaim,
	"createEntity": func(w *witness, _ *offered, _ string) (string, string) {
		w.made++
		return "/entities/stores/store", fmt.Sprintf(`{"id":"own-%d","name":"Own"}`, w.made)
	},
	"archiveEntity": func(w *witness, _ *offered, _ string) (string, string) {
		w.made++
		id := fmt.Sprint("own-", w.made)
		done(w.house, "/entities/stores/store", `{"id":"`+id+`","name":"Own"}`)
		return "/entities/stores/store/" + id + "/archive", "{}"
	},
	"changeEntities": ownNames(`"id":"`), "createCouponPool": ownNames(`"id":"`),
	"addCodes": ownNames("SPRING-"),
	"submitEvent": func(*witness, *offered, string) (string, string) {
		return "/events", `{"customer":"member-1002","action":"point_add","data":{"points":1}}`
	},
	"getCustomerListStatus": ofBatch("/v1/bulk-operation/customer-list/add/spring-2026"), "listCustomerListErrors": ofBatch("/v1/bulk-operation/customer-list/add/spring-2026"),
	"getBulkClaimStatus": ofBatch("/v1/bulk-operation/reward/claim/coffee"), "listBulkClaimErrors": ofBatch("/v1/bulk-operation/reward/claim/coffee"),
	"getBacktest": func(w *witness, o *offered, _ string) (string, string) {
		a := w.post("/automation/campaigns/double/backtest", `{"from":"2026-01-01T00:00:00Z","to":"2026-02-01T00:00:00Z"}`)
		require.Less(w.t, a.status, 300, a.body)
		return strings.NewReplacer("{campaign_id}", "double", "{batch_id}", batchOf(a.json(w.t))).Replace(o.path), ""
	},
}

// ownKey is a request about an access key that is there.
func ownKey(w *witness, o *offered, example string) (string, string) {
	_, body := w.plainly(o, example)
	key := done(w.house, "/admin/keys", `{"label":"Own"}`)["data"].(map[string]any)["key_id"].(string)
	return strings.ReplaceAll(o.path, "{key_id}", key), body
}

// ofFresh is the example's request for a member of its own.
func ofFresh(w *witness, o *offered, example string) (string, string) {
	target, body := w.plainly(o, example)
	return strings.Replace(target, "member-1001", w.fresh(), 1), body
}

func forFresh(w *witness, o *offered, example string) (string, string) {
	target, body := w.plainly(o, example)
	return target, strings.Replace(body, "member-1001", w.fresh(), 1)
}

// ownClaim is a request about a claim that is there, and a purchase of who made it.
func ownClaim(w *witness, o *offered, example string) (string, string) {
	_, body := w.plainly(o, example)
	_, claim := w.claimed()
	return strings.ReplaceAll(o.path, "{claim_id}", claim), body
}

// ownNames is the example's request with names that nothing has yet: what follows
// the mark begins otherwise.
func ownNames(mark string) request {
	return func(w *witness, o *offered, example string) (string, string) {
		target, body := w.plainly(o, example)
		w.made++
		return target, strings.ReplaceAll(body, mark, mark+"own"+strconv.Itoa(w.made)+"-")
	}
}

func batchOf(answer map[string]any) string {
	return answer["data"].(map[string]any)["batch_id"].(string)
}

// ofBatch is a request about a bulk operation that was begun.
func ofBatch(begin string) request {
	return func(w *witness, o *offered, _ string) (string, string) {
		a := w.post(begin, `{"customers":["member-1001","nobody"]}`)
		require.Less(w.t, a.status, 300, a.body)
		return strings.ReplaceAll(o.path, "{batch_id}", batchOf(a.json(w.t))), ""
	}
}

// sentElsewhere names the tests that send every example of an operation's bodies.
var sentElsewhere = map[string]string{
	"submitEvent":  "TestEveryExampleWorks",
	"createEntity": "TestEveryEntityExampleWorks",
}

// otherwiseReached are the documented answers that only another test can reach.
var otherwiseReached = map[string][]int{}

// refusals reaches what only the right moment brings: conflicts and refusals of the
// programme's rules, one for each operation that documents them.
func (w *witness) refusals() {
	byID := map[string]*offered{}
	for i := range w.all {
		byID[w.all[i].OperationID] = &w.all[i]
	}
	for _, r := range refusalRows {
		for _, before := range r.before {
			target, body, _ := strings.Cut(before, " ")
			done(w.house, target, body)
		}
		o := byID[r.operation]
		require.NotNil(w.t, o, r.operation)
		a := w.call(o, w.key, r.target, r.body)
		assert.Equal(w.t, r.status, a.status, "%s: %s", r.operation, a.body)
		assert.Equal(w.t, r.code, a.fault(w.t).Code, "%s: %s", r.operation, a.body)
	}
}

// refusalRow is a request that is refused, after others that work.
type refusalRow struct {
	operation, target, body string
	status, code            int
	before                  []string // "target body"
}

const idle = "/customers/member-1004" // suspended first

var refusalRows = []refusalRow{
	{"submitEvent", "/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1001","total":1}}`, http.StatusConflict, 5003, nil},
	{"submitEvent", "/events", `{"customer":"nobody","action":"visit","data":{"url":"https://shop.test/"}}`, http.StatusNotFound, 160212, nil},
	{"submitEvent", "/events", `{"customer":"member-1003","action":"point_spend","data":{"points":1}}`, http.StatusUnprocessableEntity, 0, nil},
	{"claimReward", idle + "/activities/rewards/coffee/claim", "", http.StatusUnprocessableEntity, 110003, []string{`/events {"customer":"member-1004","action":"suspend","data":{}}`}},
	{"claimRewardFor", "/rewards/coffee/claim", `{"customer":"member-1004"}`, http.StatusUnprocessableEntity, 110003, nil},
	{"enterContest", idle + "/activities/contests/bicycle/enter", `{"count":1}`, http.StatusUnprocessableEntity, 110003, nil},
	{"mergeCustomer", idle + "/merge", `{"target":"member-1004"}`, http.StatusUnprocessableEntity, 190163, nil},
}

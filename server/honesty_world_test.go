package server_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/store/storetest"
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

// fresh is a member with points that no request has touched.
func (w *witness) fresh() string {
	w.made++
	id := "member-9" + strconv.Itoa(w.made)
	w.enrol(id)
	done(w.house, "/events", `{"customer":"`+id+`","action":"point_add","data":{"points":5000}}`)
	return id
}

// claimed is a member with a claim of a reward, and its id. Its stock lasts for any number
// of drawn requests.
func (w *witness) claimed() (member, claim string) {
	done(w.house, "/entities/rewards/reward/coffee", `{"stock":1000000000}`)
	member = w.fresh()
	return member, done(w.house, "/customers/"+member+"/activities/rewards/coffee/claim", "")["id"].(string)
}

type request = func(w *witness, o *offered, example string) (target, body string)

// special are the requests of operations whose examples name what only one request
// may use, or what the platform made up.
var special = map[string]request{
	"getKey": ownKey, "updateKey": ownKey, "rotateKey": ownKey, "revokeKey": ownKey,
	"getUser": ownUser, "updateUser": ownUser, "disableUser": ownUser, "inviteUser": ownUser, "resetSecondFactor": ownUser,
	"createUser": ownNames(`"login":"`), "endSession": ownSession,
	"getWebhook": ownWebhook, "getWebhookAttempts": ownWebhook, "updateWebhook": ownWebhook, "testWebhook": ownWebhook, "rotateWebhook": ownWebhook, "pauseWebhook": ownWebhook, "resumeWebhook": ownWebhook,
	"getImport": ownImport, "addImportFile": ownImport, "checkImport": ownImport, "applyImport": ownReadyImport, "reconcileImport": ownDoneImport, "listImportFindings": ownImport,
	"replayWebhook": ownWebhook, "removeWebhook": lastWebhook, "listDeliveries": ownWebhook, "retryDeliveries": ownWebhook, "getDelivery": ownWebhook, "retryDelivery": ownWebhook,
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
	"changeEntities": func(w *witness, o *offered, example string) (string, string) {
		target, body := w.plainly(o, example)
		w.made++ // what refers to another one of the same call refers to its own name
		own := "own" + strconv.Itoa(w.made) + "-"
		for _, id := range regexp.MustCompile(`"id":"([a-z0-9-]+)"`).FindAllStringSubmatch(body, -1) {
			body = strings.ReplaceAll(body, `"`+id[1]+`"`, `"`+own+id[1]+`"`)
		}
		return target, body
	},
	"createCouponPool": ownNames(`"id":"`),
	"addCodes":         ownNames("SPRING-"),
	"submitEvent": func(*witness, *offered, string) (string, string) {
		return "/events", `{"customer":"member-1002","action":"point_add","data":{"points":1}}`
	},
	"getCustomerListStatus": ofBatch("/v1/bulk-operation/customer-list/add/spring-2026"), "listCustomerListErrors": ofBatch("/v1/bulk-operation/customer-list/add/spring-2026"),
	"getBulkClaimStatus": ofBatch("/v1/bulk-operation/reward/claim/coffee"), "listBulkClaimErrors": ofBatch("/v1/bulk-operation/reward/claim/coffee"),
	"getPoolFillStatus": ofFill, "listPoolFillErrors": ofFill,
	"getBacktest": func(w *witness, o *offered, _ string) (string, string) {
		done(w.house, "/admin/jobs/bulk/run", "") // there is room for it
		a := w.post("/automation/campaigns/double/backtest", january)
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

// ownImport is a request about an import that is there, with a file of its own.
func ownImport(w *witness, o *offered, example string) (string, string) {
	_, body := w.plainly(o, example)
	return strings.ReplaceAll(o.path, "{import_id}", w.imported()), body
}

// ownReadyImport is one about an import that was found ready, ownDoneImport one about an import that is done.
func ownReadyImport(w *witness, o *offered, example string) (string, string) {
	return strings.ReplaceAll(o.path, "{import_id}", w.imported("check")), "{}"
}

func ownDoneImport(w *witness, o *offered, example string) (string, string) {
	return strings.ReplaceAll(o.path, "{import_id}", w.imported("check", "apply")), "{}"
}

func (w *witness) imported(steps ...string) string {
	w.made++
	i := w.newImport("{}")
	require.Equal(w.t, http.StatusOK, i.part("members", 1, "customer\nimported-"+strconv.Itoa(w.made)+"\n").status)
	for _, s := range steps {
		i.do(s)
	}
	return i.id
}

// ownUser is a request about a user who is there.
func ownUser(w *witness, o *offered, example string) (string, string) {
	_, body := w.plainly(o, example)
	return strings.ReplaceAll(o.path, "{user_id}", w.newUser()), body
}

func (w *witness) newUser() string {
	w.made++
	return done(w.house, "/admin/users", `{"login":"own-`+strconv.Itoa(w.made)+`","role":"viewer"}`)["data"].(map[string]any)["user_id"].(string)
}

// ownSession is a request about a session that is there.
func ownSession(w *witness, o *offered, _ string) (string, string) {
	_, hash := user.NewToken()
	now := time.Now().UTC()
	s := loyalty.Session{Hash: hash, User: uuid.MustParse(w.newUser()), CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(time.Hour)}
	require.NoError(w.t, w.store.AddSession(w.t.Context(), s))
	return strings.ReplaceAll(o.path, "{session_id}", base64.RawURLEncoding.EncodeToString(hash[:])), "{}"
}

// ownWebhook is a request about a webhook that is there, and its first delivery, which is dead.
func ownWebhook(w *witness, o *offered, example string) (string, string) {
	target, body := w.plainly(o, example)
	return strings.NewReplacer("0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01", w.withWebhook("active"), "/4711", "/1").Replace(target), body
}

// lastWebhook is ownWebhook for one that is gone afterwards.
func lastWebhook(w *witness, o *offered, example string) (string, string) {
	target, body := ownWebhook(w, o, example)
	w.webhook = ""
	return target, body
}

// withWebhook puts the one webhook of the house into a state, with a dead delivery.
func (w *witness) withWebhook(state string) string {
	if w.webhook == "" {
		made := done(w.house, "/admin/webhooks", `{"url":"https://hooks.shop.test/","types":["event.*"]}`)["data"].(map[string]any)
		w.webhook = made["webhook_id"].(string)
		done(w.house, "/admin/webhooks/"+w.webhook+"/test", "")
	}
	if w.below == nil {
		w.below = storetest.Raw(w.t, strings.Replace(w.databaseURL, "&pool_max_conns=1", "", 1))
	}
	for _, text := range []string{"UPDATE deliveries SET state = 'dead', front = (1 = 0)", "UPDATE webhooks SET state = '" + state + "'", "DELETE FROM replays"} {
		_, err := w.below.Exec(text)
		require.NoError(w.t, err)
	}
	return w.webhook
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

// ofFill is a request about a fill of a pool that was begun.
func ofFill(w *witness, o *offered, _ string) (string, string) {
	a := w.post("/coupon-pools/coffee-codes/codes", `{"generate":2001}`)
	require.Equal(w.t, http.StatusAccepted, a.status, a.body)
	return strings.ReplaceAll(o.path, "{batch_id}", batchOf(a.json(w.t))), ""
}

// ofBatch is a request about a bulk operation that was begun.
func ofBatch(begin string) request {
	return func(w *witness, o *offered, _ string) (string, string) {
		a := w.post(begin, `{"customers":["member-1001","nobody"]}`)
		require.Less(w.t, a.status, 300, a.body)
		return strings.ReplaceAll(o.path, "{batch_id}", batchOf(a.json(w.t))), ""
	}
}

// ownPath are the paths on which a query parameter means something, where it does
// not on the operation's own example.
var ownPath = map[string]string{
	"listEntities customer": "/entities/core/transaction",
}

// sentElsewhere names the tests that send every example of an operation's bodies.
var sentElsewhere = map[string]string{
	"submitEvent":  "TestEveryExampleWorks",
	"createEntity": "TestEveryEntityExampleWorks",
}

// otherwiseReached are the documented answers that only another test can reach.
var otherwiseReached = map[string][]int{
	"runJob":        {http.StatusConflict},            // TestJobUnderWay
	"createWebhook": {http.StatusUnprocessableEntity}, // TestWebhooksAreBounded
}

// refusals reaches what only the right moment brings: conflicts and refusals of the
// programme's rules, one for each operation that documents them.
func (w *witness) refusals() {
	revoked := w.newKey(admin.KeyChange{}).KeyID
	done(w.house, "/admin/keys/"+revoked+"/revoke", "")
	ended, imported := w.withWebhook("disabled"), w.imported()
	for _, r := range refusalRows {
		for _, before := range r.before {
			target, body, _ := strings.Cut(strings.NewReplacer("{webhook}", ended, "{import}", imported).Replace(before), " ")
			done(w.house, target, body)
		}
		a := w.call(w.operation(r.operation), w.key, strings.NewReplacer("{key}", revoked, "{webhook}", ended, "{import}", imported).Replace(r.target), r.body)
		assert.Equal(w.t, r.status, a.status, "%s: %s", r.operation, a.body)
		assert.Equal(w.t, r.code, a.fault(w.t).Code, "%s: %s", r.operation, a.body)
	}

	for _, id := range []string{"again", "verified", "searched"} {
		done(w.house, "/entities/automation/campaign/"+id, `{"status":"paused"}`)
	}

	w.undone()
	w.usedElsewhere()
}

// usedElsewhere sends a bulk under a key that was used at another path.
func (w *witness) usedElsewhere() {
	const event = `{"customer":"member-1002","action":"point_add","data":{"points":1}}`
	require.Equal(w.t, http.StatusOK, w.post("/events", event, "Idempotency-Key", "one-event").status)
	a := w.call(w.operation("submitEvents"), w.key, "/events/bulk", bulkOf([]string{event}), "Idempotency-Key", "one-event")
	assert.Equal(w.t, http.StatusConflict, a.status, a.body)
	a = w.call(w.operation("replayWebhook"), w.key, "/admin/webhooks/"+w.withWebhook("active")+"/replay", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`, "Idempotency-Key", "one-event")
	assert.Equal(w.t, http.StatusConflict, a.status, a.body)
}

// refusalRow is a request that is refused, after others that work.
type refusalRow struct {
	operation, target, body string
	status, code            int
	before                  []string // "target body"
}

const idle = "/customers/member-1004" // suspended

// happened is an event of a customer, as a step before a refusal.
func happened(customer, action, data string) string {
	return `/events {"customer":"` + customer + `","action":"` + action + `","data":` + data + `}`
}

// january is the period of a backtest.
const january = `{"from":"2026-01-01T00:00:00Z","to":"2026-02-01T00:00:00Z"}`

var refusalRows = []refusalRow{
	{"applyConfiguration", "/admin/configuration", `{"mode":"plan","configuration":{"modules":{"checkout_accept":{"enabled":true},"pending_events":{"enabled":true}}}}`, http.StatusUnprocessableEntity, 190049, nil},
	{"submitEvent", "/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1001","total":1}}`, http.StatusConflict, 5003, nil},
	{"submitEvent", "/events", `{"customer":"nobody","action":"visit","data":{"url":"https://shop.test/"}}`, http.StatusNotFound, 160212, nil},
	{"submitEvent", "/events", `{"customer":"member-1003","action":"point_spend","data":{"points":1}}`, http.StatusUnprocessableEntity, 0, nil},

	{"startBacktest", "/automation/campaigns/double/backtest", january, http.StatusUnprocessableEntity, 190241,
		append([]string{"/admin/jobs/bulk/run "}, slices.Repeat([]string{"/automation/campaigns/double/backtest " + january}, 10)...)},
	{"claimReward", idle + "/activities/rewards/coffee/claim", "", http.StatusUnprocessableEntity, 110003, []string{happened("member-1004", "suspend", "{}")}},
	{"claimRewardFor", "/rewards/coffee/claim", `{"customer":"member-1004"}`, http.StatusUnprocessableEntity, 110003, nil},
	{"enterContest", idle + "/activities/contests/bicycle/enter", `{"count":1}`, http.StatusUnprocessableEntity, 110003, nil},
	{"spinPrizeWheel", "/customers/member-1002/prize-wheels/daily", "", http.StatusUnprocessableEntity, 190143, []string{"/customers/member-1002/prize-wheels/daily "}},
	{"answerQuiz", "/customers/member-1002/activities/quizzes/origin/earn", `{"answer":"a"}`, http.StatusUnprocessableEntity, 190144, []string{`/customers/member-1002/activities/quizzes/origin/earn {"answer":"b"}`}},
	{"claimOffer", "/customers/member-1002/activities/offers/over/claim", "", http.StatusUnprocessableEntity, 190140, []string{
		`/entities/offers/offer {"id":"over","name":{"en":"Over"},"type":"cart","discount":{"type":"fixed_discount","value":1},"ends_at":"2026-01-02"}`}},
	{"answerQuestion", "/customers/member-1002/activities/profiling/later/questions/born", `{"answer":"1990-05-17"}`, http.StatusUnprocessableEntity, 190140, []string{
		`/entities/profiling/flow {"id":"later","title":{"en":"Later"},"questions":[{"id":"born","field":"birth_date","text":{"en":"When?"}}],"starts_at":"2099-01-01"}`}},
	{"giveLevel", "/customers/visitor/levels", `{"structure":"club","tier":"gold"}`, http.StatusUnprocessableEntity, 190041, []string{happened("visitor", "subscribe", `{"handler":"visitor"}`)}},
	{"mergeCustomer", idle + "/merge", `{"target":"member-1004"}`, http.StatusUnprocessableEntity, 190163, nil},

	{"testWebhook", "/admin/webhooks/{webhook}/test", "{}", http.StatusUnprocessableEntity, 190502, nil},
	{"pauseWebhook", "/admin/webhooks/{webhook}/pause", "{}", http.StatusUnprocessableEntity, 190502, nil},
	{"replayWebhook", "/admin/webhooks/{webhook}/replay", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`, http.StatusUnprocessableEntity, 190502, nil},
	{"getDelivery", "/admin/webhooks/{webhook}/deliveries/9", "", http.StatusNotFound, 190501, nil},
	{"retryDelivery", "/admin/webhooks/{webhook}/deliveries/9/retry", "{}", http.StatusNotFound, 190501, nil},
	{"retryDelivery", "/admin/webhooks/{webhook}/deliveries/1/retry", "{}", http.StatusUnprocessableEntity, 190504, []string{"/admin/webhooks/{webhook}/deliveries/1/retry {}"}},

	{"applyImport", "/admin/imports/{import}/apply", "{}", http.StatusUnprocessableEntity, 190511, nil},
	{"reconcileImport", "/admin/imports/{import}/reconcile", "{}", http.StatusUnprocessableEntity, 190511, nil},
	{"addImportFile", "/admin/imports/{import}/files", `{"file":"members","part":1,"content":"customer\nlate\n"}`, http.StatusUnprocessableEntity, 190511, []string{"/admin/imports/{import}/check {}"}},
	{"checkImport", "/admin/imports/{import}/check", "{}", http.StatusUnprocessableEntity, 190511, []string{"/admin/jobs/imports/run {}", "/admin/imports/{import}/apply {}"}},

	{"rotateKey", "/admin/keys/{key}/rotate", "{}", http.StatusUnprocessableEntity, 190050, nil},
	{"updateKey", "/admin/keys/{key}", `{"label":"x"}`, http.StatusUnprocessableEntity, 190050, nil},
	{"createUser", "/admin/users", `{"login":"Last.Owner","role":"owner"}`, http.StatusConflict, 190644, []string{`/admin/users {"login":"last.owner","role":"owner"}`}},
	{"updateUser", "/admin/users/last.owner", `{"role":"editor"}`, http.StatusUnprocessableEntity, 190645, nil},
	{"disableUser", "/admin/users/last.owner/disable", "", http.StatusUnprocessableEntity, 190645, nil},
	{"inviteUser", "/admin/users/gone/invite", "", http.StatusUnprocessableEntity, 190646, []string{`/admin/users {"login":"gone","role":"viewer"}`, "/admin/users/gone/disable "}},
	{"configureModule", "/admin/modules/pending_events", `{"enabled":true,"config":{"actions":["visit"],"days":3}}`, http.StatusUnprocessableEntity, 190049,
		[]string{`/admin/modules/checkout_accept {"enabled":true}`}},

	{"previewCampaigns", "/automation/campaigns/preview", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1001","total":1}}`, http.StatusConflict, 5003,
		[]string{`/admin/modules/checkout_accept {"enabled":false}`}},
	{"previewCampaigns", "/automation/campaigns/preview", `{"customer":"member-1003","action":"checkout","data":{"transaction_id":"T-9002","total":1,"points_burned":5}}`, http.StatusUnprocessableEntity, 0, nil},

	{"createCouponPool", "/coupon-pools", `{"id":"coffee-codes","name":"Twice","source":"uploaded","coupon":{"type":"amount","value":1,"name":{"en":"One"}}}`, http.StatusConflict, 190034, nil},
	{"addCodes", "/coupon-pools/shut/codes", `{"generate":1}`, http.StatusUnprocessableEntity, 190105, []string{
		`/coupon-pools {"id":"shut","name":"Shut","source":"uploaded","coupon":{"type":"amount","value":1,"name":{"en":"One"}}}`}},
	{"updateCouponPool", "/coupon-pools/shut", `{"name":"Open"}`, http.StatusUnprocessableEntity, 190054, []string{"/entities/coupons/pool/shut/archive "}},

	{"addToCustomerList", "/v1/bulk-operation/customer-list/add/old", `{"customers":["member-1001"]}`, http.StatusUnprocessableEntity, 190054, []string{
		`/entities/core/customer-list {"id":"old","name":"Old"}`, "/entities/core/customer-list/old/archive "}},
	{"removeFromCustomerList", "/v1/bulk-operation/customer-list/remove/old", `{"customers":["member-1001"]}`, http.StatusUnprocessableEntity, 190054, nil},
	{"claimRewardForMany", "/v1/bulk-operation/reward/claim/coffee", `{"list_id":"old"}`, http.StatusUnprocessableEntity, 190054, nil},
	{"getCustomerListStatus", "/v1/bulk-operation/customer-list/0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e99/status", "", http.StatusNotFound, 190240, nil},
	{"listCustomerListErrors", "/v1/bulk-operation/customer-list/0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e99/status/errors", "", http.StatusNotFound, 190240, nil},

	{"changeEntities", "/entities", `{"entities":[{"method":"update","type":"stores/store","id":"none","data":{"name":"x"}}]}`, http.StatusNotFound, 190025, nil},
	{"changeEntities", "/entities", `{"entities":[{"method":"archive","type":"core/customer","id":"member-1001"}]}`, http.StatusUnprocessableEntity, 190250, nil},
	{"createEntity", "/entities/core/customer", `{"id":"member-1007"}`, http.StatusUnprocessableEntity, 190250, nil},
	{"archiveEntity", "/entities/rewards/reward/coffee/archive", "", http.StatusUnprocessableEntity, 190053, nil},
	{"updateEntity", "/entities/core/customer-list/old", `{"name":"New"}`, http.StatusUnprocessableEntity, 190054, nil},

	// Rules that set each other off without end.
	{"verifyCustomer", "/customers/member-1002/verify", "", http.StatusUnprocessableEntity, 190052, []string{
		circling("again", "point_add"), circling("verified", "verify_customer"), circling("searched", "visual_search")}},
	{"recordVisualSearch", "/customers/member-1002/activities/visual-search", `{"bounds":[]}`, http.StatusUnprocessableEntity, 190052, nil},
}

// circling is a campaign that gives points for an action.
func circling(id, trigger string) string {
	return `/entities/automation/campaign {"id":"` + id + `","name":"Endless","trigger":"` + trigger + `","effects":[{"type":"points","points":1}],"status":"active"}`
}

// undone reaches the refusals of undoing and handing out a claim twice.
func (w *witness) undone() {
	for operation, path := range map[string]string{
		"revokeReward": "/customers/{customer_id}/activities/rewards/coffee/revoke", "redeemRewardClaim": "/rewards/claims/{claim_id}/redeem",
	} {
		member, claim := w.claimed()
		target := strings.NewReplacer("{customer_id}", member, "{claim_id}", claim).Replace(path)
		body := map[string]string{"revokeReward": `{"event":"` + claim + `"}`, "redeemRewardClaim": "{}"}[operation]
		done(w.house, target, body)
		o := w.operation(operation)
		a := w.call(o, w.key, target, body)
		assert.Equal(w.t, http.StatusUnprocessableEntity, a.status, "%s: %s", operation, a.body)
	}
}

// operation finds an operation by its name.
func (w *witness) operation(id string) *offered {
	for i := range w.all {
		if w.all[i].OperationID == id {
			return &w.all[i]
		}
	}
	require.Fail(w.t, "no such operation", id)
	return nil
}

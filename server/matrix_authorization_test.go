package server_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/signing"
)

// offered is one operation of the twelve documents.
type offered struct {
	api, method, path string
	*openapi3.Operation
	item *openapi3.PathItem
	doc  *openapi3.T
}

// everyOperation lists the operations of all documents, in the order of their
// documents and paths.
func everyOperation(t testing.TB) []offered {
	t.Helper()
	all, err := offeredOnce()
	require.NoError(t, err)
	return slices.Clone(all)
}

// offeredOnce reads the documents once for all tests.
var offeredOnce = sync.OnceValues(func() (all []offered, err error) {
	for _, api := range openapi.Names() {
		doc := servertest.Documents()[api]
		for _, path := range doc.Paths.InMatchingOrder() {
			item := doc.Paths.Value(path)
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if op := item.GetOperation(method); op != nil {
					all = append(all, offered{api, method, path, op, item, doc})
				}
			}
		}
	}
	return all, nil
})

var inPath = regexp.MustCompile(`\{([a-z_]+)\}`)

// target is the path with the examples of its parameters.
func (o *offered) target(t testing.TB) string { return o.targetOf(t, "") }

// targetOf is the path that an example of the body belongs to: it may have
// parameters of its own (x-path).
func (o *offered) targetOf(t testing.TB, example string) string {
	own := map[string]any{}
	if m := o.body(); m != nil && m.Examples[example] != nil {
		own, _ = m.Examples[example].Value.Extensions["x-path"].(map[string]any)
	}

	return inPath.ReplaceAllStringFunc(o.path, func(name string) string {
		if text, ok := own[strings.Trim(name, "{}")].(string); ok {
			return url.PathEscape(text)
		}
		for _, ref := range append(slices.Clone(o.item.Parameters), o.Parameters...) {
			if p := ref.Value; p.In == openapi3.ParameterInPath && "{"+p.Name+"}" == name {
				text, ok := p.Example.(string)
				require.True(t, ok, "%s: the parameter %s has no example", o.OperationID, p.Name)
				return url.PathEscape(text)
			}
		}
		require.Fail(t, "a parameter is not declared", "%s %s", o.OperationID, name)
		return ""
	})
}

// reads says whether the operation changes nothing.
func (o *offered) reads() bool {
	return o.method == http.MethodGet || o.Extensions["x-reads"] == true
}

// The rows of the authorization matrix: every operation, under the API whose keys
// may use it, with what it does. Somebody has to decide it for a new one.
var authorized = map[string]string{
	"listKeys":           "administration reads",
	"createKey":          "administration writes",
	"getKey":             "administration reads",
	"updateKey":          "administration writes",
	"rotateKey":          "administration writes",
	"revokeKey":          "administration writes",
	"listModules":        "administration reads",
	"getModule":          "administration reads",
	"configureModule":    "administration writes",
	"getSettings":        "administration reads",
	"updateSettings":     "administration writes",
	"createWebhook":      "administration writes",
	"updateWebhook":      "administration writes",
	"testWebhook":        "administration writes",
	"rotateWebhook":      "administration writes",
	"pauseWebhook":       "administration writes",
	"resumeWebhook":      "administration writes",
	"removeWebhook":      "administration writes",
	"replayWebhook":      "administration writes",
	"retryDeliveries":    "administration writes",
	"retryDelivery":      "administration writes",
	"listWebhooks":       "administration reads",
	"getWebhook":         "administration reads",
	"listDeliveries":     "administration reads",
	"countRequests":      "administration reads",
	"getWebhookAttempts": "administration reads",
	"getDelivery":        "administration reads",
	"listWebhookTypes":   "administration reads",
	"listJobs":           "administration reads",
	"runJob":             "administration writes",
	"listAudit":          "administration reads",

	"listUsers":         "administration reads",
	"createUser":        "administration writes",
	"getUser":           "administration reads",
	"updateUser":        "administration writes",
	"disableUser":       "administration writes",
	"inviteUser":        "administration writes",
	"resetSecondFactor": "administration writes",
	"listSessions":      "administration reads",
	"endSession":        "administration writes",
	"getMe":             "administration reads",

	"getLedger":          "administration reads",
	"listLedgerProofs":   "administration reads",
	"getStatistics":      "administration reads",
	"getSystem":          "administration reads",
	"listFailedRequests": "administration reads",
	"exportTable":        "administration reads",
	"exportCustomer":     "customers reads",
	"listImports":        "administration reads",
	"createImport":       "administration writes",
	"getImport":          "administration reads",
	"addImportFile":      "administration writes",
	"checkImport":        "administration writes",
	"applyImport":        "administration writes",
	"reconcileImport":    "administration writes",
	"listImportFindings": "administration reads",
	"getConfiguration":   "administration reads",
	"applyConfiguration": "administration writes",

	"listCampaigns":         "automation-campaigns reads",
	"previewCampaigns":      "automation-campaigns reads",
	"getCampaign":           "automation-campaigns reads",
	"getCampaignStatistics": "automation-campaigns reads",
	"startBacktest":         "automation-campaigns writes",
	"getBacktest":           "automation-campaigns reads",

	"listCoupons":      "coupon reads",
	"getCouponUsage":   "coupon reads",
	"getCoupon":        "coupon reads",
	"listCouponPools":  "coupon reads",
	"createCouponPool": "coupon writes",
	"getCouponPool":    "coupon reads",
	"updateCouponPool": "coupon writes",
	"addCodes":         "coupon writes",

	"getPoolFillStatus":  "coupon reads",
	"listPoolFillErrors": "coupon reads",

	"listCustomers":          "customers reads",
	"countCustomers":         "customers reads",
	"getCustomer":            "customers reads",
	"getCustomerPoints":      "customers reads",
	"mergeCustomer":          "customers writes",
	"verifyCustomer":         "customers writes",
	"addToCustomerList":      "customers writes",
	"removeFromCustomerList": "customers writes",
	"getCustomerListStatus":  "customers reads",
	"listCustomerListErrors": "customers reads",

	"listActivities":           "display reads",
	"listRewardActivities":     "display reads",
	"getRewardActivity":        "display reads",
	"listChallengeActivities":  "display reads",
	"listCompletedChallenges":  "display reads",
	"listChallengeProgress":    "display reads",
	"claimReward":              "display writes",
	"revokeReward":             "display writes",
	"enterContest":             "display writes",
	"getPrizeWheel":            "display reads",
	"spinPrizeWheel":           "display writes",
	"claimOffer":               "display writes",
	"answerQuiz":               "display writes",
	"answerQuestion":           "display writes",
	"recordVisualSearch":       "display writes",
	"listQuizzes":              "display reads",
	"getQuiz":                  "display reads",
	"listContests":             "display reads",
	"listTreasureHunts":        "display reads",
	"listOfferActivities":      "display reads",
	"listProfiling":            "display reads",
	"getNextQuestion":          "display reads",
	"listPrizeWheels":          "display reads",
	"listCustomerCoupons":      "display reads",
	"listClaimedRewards":       "display reads",
	"listCustomerEvents":       "display reads",
	"listEvents":               "display reads",
	"listTransactions":         "display reads",
	"getTransaction":           "display reads",
	"listTransactionEvents":    "display reads",
	"searchTransactions":       "display reads",
	"searchTransactionsByPost": "display reads",

	"changeEntities": "entities writes",
	"listEntities":   "entities reads",
	"createEntity":   "entities writes",
	"getEntity":      "entities reads",
	"updateEntity":   "entities writes",
	"archiveEntity":  "entities writes",

	"submitEvent":  "events writes",
	"submitEvents": "events writes",
	"previewEvent": "events reads",
	"followEvents": "events reads",

	"getLeaderboard":         "leaderboard reads",
	"getCustomerLeaderboard": "leaderboard reads",
	"getLeaderboardScores":   "leaderboard reads",

	"listLevels":           "levels reads",
	"listCustomerLevels":   "levels reads",
	"listRisingCustomers":  "levels reads",
	"listFallingCustomers": "levels reads",
	"giveLevel":            "levels writes",

	"readCustomers":    "loyalty-read reads",
	"readCustomer":     "loyalty-read reads",
	"readCoupons":      "loyalty-read reads",
	"readEvents":       "loyalty-read reads",
	"readTransactions": "loyalty-read reads",

	"listOffers":  "offers reads",
	"quoteOffers": "offers reads",
	"getOffer":    "offers reads",

	"listRewards":         "rewards reads",
	"getReward":           "rewards reads",
	"claimRewardFor":      "rewards writes",
	"getRewardClaim":      "rewards reads",
	"redeemRewardClaim":   "rewards writes",
	"claimRewardForMany":  "rewards writes",
	"getBulkClaimStatus":  "rewards reads",
	"listBulkClaimErrors": "rewards reads",
}

// tellingOperations change webhooks or have them send, for which a key needs the APIs events and
// display besides; creating one and a replay are refused for their bodies before.
var tellingOperations = map[string]bool{
	"updateWebhook": true, "testWebhook": true, "rotateWebhook": true, "pauseWebhook": true, "resumeWebhook": true, "removeWebhook": true,
	"retryDelivery": true, "retryDeliveries": true,
}

// TestAuthorizationMatrix tries every operation of every document with the keys
// that may use it and with those that may not: by API, by what it does, by address,
// by age. What is let through may answer anything but 401 and 403.
//
// spec: service.verbs
func TestAuthorizationMatrix(t *testing.T) {
	all := everyOperation(t)
	rows := map[string]string{}
	for _, o := range all {
		rows[o.OperationID] = o.api + map[bool]string{true: " reads", false: " writes"}[o.reads()]
	}

	require.Equal(t, authorized, rows, "the matrix has one row for each operation")

	h := open(t, patient)
	names := openapi.Names()
	byAPI, without := map[string]signing.Credential{}, map[string]signing.Credential{}
	for _, api := range names {
		byAPI[api] = h.newKey(admin.KeyChange{APIs: &[]string{api}})
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == api })
		without[api] = h.newKey(admin.KeyChange{APIs: &others})
	}

	telling := h.newKey(admin.KeyChange{APIs: &[]string{"administration", "events", "display"}})
	yes := true
	readOnly := h.newKey(admin.KeyChange{ReadOnly: &yes})
	here := h.newKey(admin.KeyChange{Addresses: &[]string{"192.0.2.0/24", "127.0.0.0/8"}})
	elsewhere := h.newKey(admin.KeyChange{Addresses: &[]string{"192.0.2.0/24"}})
	expired := h.expiredKey()
	revoked := h.newKey(admin.KeyChange{})
	require.Equal(t, http.StatusOK, h.post("/admin/keys/"+revoked.KeyID+"/revoke", "").status)

	for _, o := range all {
		target := o.target(t)
		try := func(key signing.Credential) answer {
			return h.signed(key, h.request(o.method, target, "{}", "Content-Type", jsonType))
		}
		passes := func(key signing.Credential, why string) {
			t.Helper()
			a := try(key)
			if a.status == http.StatusForbidden && a.fault(t).Code == 190320 {
				return // the key may ask; what it asks for, a key with all rights, is more than it has
			}
			require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, a.status, "%s %s: %s", o.OperationID, why, a.body)
		}

		refuses := func(key signing.Credential, status, code int, why string) {
			t.Helper()
			a := try(key)
			require.Equal(t, status, a.status, "%s %s: %s", o.OperationID, why, a.body)
			require.Equal(t, code, a.fault(t).Code, "%s %s", o.OperationID, why)
		}

		refuses(without[o.api], http.StatusForbidden, 190064, "with a key for every other API")
		refuses(elsewhere, http.StatusForbidden, 190065, "from an address that is not on the list")
		refuses(expired, http.StatusUnauthorized, 101024, "with an expired key")
		refuses(revoked, http.StatusUnauthorized, 101024, "with a revoked key")
		refuses(signing.Credential{KeyID: h.key.KeyID, Secret: strings.ToUpper(h.key.Secret)}, http.StatusUnauthorized, 101024, "with a wrong secret")
		unsigned := h.send(h.request(o.method, target, "{}", "Content-Type", jsonType))
		require.Equal(t, http.StatusUnauthorized, unsigned.status, o.OperationID)
		require.Equal(t, 101021, unsigned.fault(t).Code, o.OperationID)
		if key := byAPI[o.api]; tellingOperations[o.OperationID] {
			refuses(key, http.StatusForbidden, 190064, "with a key that may not read what webhooks tell")
			passes(telling, "with a key that may")
		} else {
			passes(key, "with a key for its API")
		}

		passes(here, "from an address on the list")
		if o.reads() {
			passes(readOnly, "with a read-only key")
		} else {
			refuses(readOnly, http.StatusForbidden, 190060, "with a read-only key")
		}
	}
}

package main

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

// promised are the operations of the screens, as the design has them. Not among them is what a screen reaches by another
// one (createCouponPool by createEntity, getTransaction by listTransactions, listEvents by followEvents), and what needs a thing
// that has gone wrong, such as a dead delivery, or that others do, such as verifyCustomer.
var promised = strings.Fields(`
	getStatistics getLedger listJobs listWebhooks listFailedRequests getSystem
	listCustomers countCustomers addToCustomerList getCustomerListStatus
	getCustomer getCustomerPoints listCustomerEvents listTransactions listTransactionEvents listCustomerCoupons listClaimedRewards
	listCustomerLevels listChallengeProgress getCustomerLeaderboard submitEvent mergeCustomer exportCustomer
	followEvents previewEvent previewCampaigns quoteOffers
	listEntities getEntity createEntity updateEntity archiveEntity changeEntities listAudit
	listCampaigns getCampaign getCampaignStatistics startBacktest
	listRewards claimRewardForMany getBulkClaimStatus listBulkClaimErrors redeemRewardClaim
	listCouponPools addCodes getCouponUsage listCoupons getCoupon
	listLevels getLeaderboard listLedgerProofs
	createWebhook getWebhook listDeliveries getDelivery getWebhookAttempts testWebhook pauseWebhook removeWebhook
	getConfiguration applyConfiguration
	listKeys createKey listUsers createUser listSessions listModules configureModule getSettings updateSettings runJob
	createImport checkImport applyImport exportTable getMe`)

// kept holds the screens to what they promise: each of the operations was asked for by a screen while its deeds were done.
func (b *browsed) kept() {
	b.t.Helper()
	type route struct {
		method, operation string
		shape             *regexp.Regexp
		holes             int
	}

	var routes []route
	read := openapi.Reader()
	for _, name := range openapi.Names() {
		doc, err := read(name)
		require.NoError(b.t, err)
		for path, item := range doc.Paths.Map() {
			for method, o := range item.Operations() {
				shape := "^" + regexp.MustCompile(`\\\{[^}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$"
				routes = append(routes, route{method, o.OperationID, regexp.MustCompile(shape), strings.Count(path, "{")})
			}
		}
	}

	slices.SortFunc(routes, func(a, b route) int { return a.holes - b.holes }) // a path without a hole is the nearer one
	asked := map[string]bool{}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.requests {
		at, err := url.Parse(a.url)
		require.NoError(b.t, err)
		path, bridged := strings.CutPrefix(at.EscapedPath(), "/console/api")
		if !bridged || a.test {
			continue
		}
		if i := slices.IndexFunc(routes, func(r route) bool { return r.method == a.method && r.shape.MatchString(path) }); i >= 0 {
			asked[routes[i].operation] = true
		}
	}

	var missing []string
	for _, operation := range promised {
		if !asked[operation] {
			missing = append(missing, operation)
		}
	}

	assert.Empty(b.t, missing, "operations that no screen asked for")
}

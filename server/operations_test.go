package server

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// TestFilterChoices: what the contract lets a filter be is what the rules know, so that no
// state is left out of a list.
func TestFilterChoices(t *testing.T) {
	dates := named(loyalty.DateStatuses...)
	rewards := named(reward.RewardTypes...)
	want := map[string]map[string][]string{
		"listCoupons":          {"status": named(loyalty.CouponStates...), "type": {"amount", "percentage", "free_shipping", "gift_card"}},
		"listCustomerCoupons":  {"status": named(loyalty.CouponStates...), "type": {"amount", "percentage", "free_shipping", "gift_card"}},
		"listCustomers":        {"status": named(loyalty.Statuses...)},
		"countCustomers":       {"status": named(loyalty.Statuses...)},
		"listTransactions":     {"status": named(loyalty.TransactionStates...)},
		"listRewards":          {"status": dates, "type": rewards},
		"listRewardActivities": {"status": dates, "type": rewards},
		"getRewardActivity":    {"status": dates, "type": rewards},
		"listClaimedRewards": {"status": dates, "type": rewards, "state": named(
			loyalty.ClaimClaimed, loyalty.ClaimRedeemed, loyalty.ClaimRevoked, loyalty.ClaimTransferred)},
		"listCampaigns": {"status": named(
			campaign.CampaignDraft, loyalty.StatusScheduled, campaign.CampaignActive, campaign.CampaignPaused, loyalty.StatusCompleted)},
		"listQuizzes": {"status": dates}, "listContests": {"status": dates}, "listTreasureHunts": {"status": dates},
		"listOfferActivities": {"status": dates, "type": {"cart", "item", "combined"}},
		"listOffers":          {"status": dates, "type": {"cart", "item", "combined"}}, "listProfiling": {"status": dates},
		"listPrizeWheels":    {"status": dates},
		"searchTransactions": {"status": named(loyalty.TransactionStates...)},
		"listDeliveries":     {"state": named(loyalty.DeliveryWaiting, loyalty.DeliverySent, loyalty.DeliveryDead, loyalty.DeliverySkipped)},
	}

	documents, err := contract.Documents()
	require.NoError(t, err)
	operations, err := api.OperationsOf(documents)
	require.NoError(t, err)
	for _, o := range operations {
		id := o.Route.Operation.OperationID
		for name, f := range o.Fields {
			require.Contains(t, o.Parameters, name, id)
			if f.Kind == list.Choice {
				require.ElementsMatch(t, want[id][name], f.Choices, "%s %s", id, name)
				delete(want[id], name)
			}
		}

		for name := range o.Filters {
			attribute, _ := list.SplitOperator(name)
			require.Contains(t, o.Fields, attribute, "%s: filters.yaml lacks a line", id)
			require.Positive(t, api.Longest(o.Filters[name].Schema.Value), id)
		}

		require.Empty(t, want[id], id)
	}
}

func named[T any](values ...T) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = fmt.Sprint(v)
	}
	return names
}

// TestFiltersAreExpanded: the documents have the operators that filters.yaml gives them.
func TestFiltersAreExpanded(t *testing.T) {
	all, err := openapi.LoadFilters(openapi.Reader())
	require.NoError(t, err)
	for api, filters := range all {
		there, err := openapi.FS.ReadFile(api + ".yaml")
		require.NoError(t, err)
		text, err := filters.Expand(there)
		require.NoError(t, err)
		require.Equal(t, string(there), string(text), "make filters")
	}
}

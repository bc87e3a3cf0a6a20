package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// exchangeRates makes a programme in euros know what forints are worth.
const exchangeRates = `{"enabled":true,"config":{"exchange_rates":{"HUF":0.0025}}}`

// TestQuotesInAnotherCurrency: a cart tells what it is in, an offer is compared and taken off by the
// exchange rate and rounded to the currency's smallest unit, and without a rate it does not fit.
func TestQuotesInAnotherCurrency(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.does("/admin/modules/tiers", exchangeRates)
		h.entity("offers/offer", `{"id":"percent","name":{"en":"O"},"type":"cart","weight":3,"discount":{"type":"percent_discount","value":40}}`)
		h.entity("offers/offer", `{"id":"fixed","name":{"en":"O"},"type":"cart","weight":2,"discount":{"type":"fixed_discount","value":5}}`)
		h.entity("offers/offer", `{"id":"least","name":{"en":"O"},"type":"cart","weight":1,"min_total":50,"discount":{"type":"percent_discount","value":10}}`)
		for cart, want := range map[string]string{
			`{"total":51.86}`:                    "percent 20.74, fixed 5, least 5.19",
			`{"total":51.86,"currency":"EUR"}`:   "percent 20.74, fixed 5, least 5.19",
			`{"total":20000,"currency":"huf"}`:   "percent 8000, fixed 2000, least 2000",
			`{"total":19999,"currency":"HUF"}`:   "percent 7999.6, fixed 2000, least cart",
			`{"total":985,"currency":"JPY"}`:     "percent 394, fixed no_rate, least no_rate",
			`{"total":9.999,"currency":"KWD"}`:   "percent 4, fixed no_rate, least no_rate",
			`{"total":10.0013,"currency":"KWD"}`: "percent 4.001, fixed no_rate, least no_rate",
		} {
			require.Equal(t, want, h.quotes(`{"eligible_only":false,"cart":`+cart+`}`), cart)
		}
	})
}

// TestConditionsBlindToCurrency: a condition that compares an amount and asks for no currency is saved
// with a warning, wherever conditions are saved, where the programme has a rate for another currency.
func TestConditionsBlindToCurrency(t *testing.T) {
	h := open(t)
	campaigns := 0
	campaign := func(condition string) string {
		campaigns++
		trigger := "checkout"
		if strings.HasPrefix(condition, "item.") {
			trigger = "checkout_item"
		}
		return fmt.Sprintf(`{"id":"c-%d","name":"C","trigger":%q,"condition":%q,"effects":[{"type":"points","points":1}]}`, campaigns, trigger, condition)
	}

	warned := func(a answer, status int, fields ...any) {
		t.Helper()
		require.Equal(t, status, a.status, a.body)
		list, _ := a.json(t)["warnings"].([]any)
		var at []any
		for _, w := range list {
			require.EqualValues(t, "190811", fmt.Sprint(w.(map[string]any)["code"]))
			require.Contains(t, w.(map[string]any)["message"], "transaction.total_in_base, which is in EUR")
			at = append(at, w.(map[string]any)["field"])
		}
		require.Equal(t, fields, at, a.body)
	}

	warned(h.post("/entities/automation/campaign", campaign("transaction.total >= 100")), http.StatusCreated)

	h.does("/admin/modules/tiers", exchangeRates)
	for _, blind := range []string{
		"transaction.total >= 100", "transaction.original_total < 5", "transaction.refunded == 0", "item.subtotal > 5 or item.price > 5", "event.data.total >= 100",
		"transaction.data.shipping > 3", "any(transaction.items, .subtotal > 50)", "sum(transaction.items, .price) > 50", "event.data.items[0].subtotal > 5",
	} {
		warned(h.post("/entities/automation/campaign", campaign(blind)), http.StatusCreated, "condition")
	}

	for _, sees := range []string{
		"transaction.total_in_base >= 100", `transaction.total >= 100 and transaction.currency == "EUR"`, `event.data.total > 5 and (event.data.currency ?? "EUR") == "EUR"`,
		"transaction.earned > 5", "customer.score >= 100", "item.quantity > 3",
	} {
		warned(h.post("/entities/automation/campaign", campaign(sees)), http.StatusCreated)
	}

	warned(h.post("/entities/automation/campaign/c-1", `{"condition":"transaction.total > 7"}`), http.StatusOK, "condition")
	warned(h.post("/entities/automation/campaign/c-1", `{"name":"Another"}`), http.StatusOK)
	warned(h.post("/entities/challenges/challenge", `{"id":"ch","title":{"en":"C"},"criteria":[{"action":"visit","threshold":1},{"action":"checkout","condition":"transaction.total > 5","sum":"transaction.total","threshold":5}]}`),
		http.StatusCreated, "criteria[1].condition")
	warned(h.post("/entities", `{"entities":[{"method":"update","type":"automation/campaign","id":"c-1","data":{"condition":"transaction.total > 5"}}]}`), http.StatusOK, "entities[0].data.condition")
}

// TestWarningsOfConfigurations: a webhook's filter and a configuration that is planned or put in force are warned of as well, in the language
// of the request.
func TestWarningsOfConfigurations(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.does("/admin/modules/tiers", exchangeRates)
		told := func(a answer, status int) (fields, messages []string) {
			t.Helper()
			require.Equal(t, status, a.status, a.body)
			list, _ := a.json(t)["warnings"].([]any)
			for _, w := range list {
				w := w.(map[string]any)
				fields, messages = append(fields, w["field"].(string)), append(messages, w["message"].(string))
			}
			return fields, messages
		}

		r := newReceiver(t)
		hook := h.post("/admin/webhooks", `{"url":"`+r.URL+`/hook","types":["event.checkout"],"filter":"event.data.total > 5"}`)
		fields, _ := told(hook, http.StatusCreated)
		require.Equal(t, []string{"filter"}, fields)
		path := fmt.Sprint("/admin/webhooks/", data(t, hook)["webhook_id"])
		fields, _ = told(h.post(path, `{"filter":"event.data.total > 6"}`), http.StatusOK)
		require.Equal(t, []string{"filter"}, fields)
		fields, _ = told(h.post(path, `{"filter":"event.points > 6"}`), http.StatusOK)
		require.Empty(t, fields)

		const place = "configuration.entities.automation/campaign.c.condition"
		for _, mode := range []string{"plan", "apply"} {
			body := `{"mode":"` + mode + `","configuration":{"entities":{"automation/campaign":{"c":{"name":"C","trigger":"checkout","condition":"transaction.total >= 100","effects":[{"type":"points","points":1}]}}}}}`
			fields, messages := told(h.post("/admin/configuration", body, "Accept-Language", "hu"), http.StatusOK)
			require.Equal(t, []string{place}, fields, mode)
			require.Contains(t, messages[0], "transaction.total_in_base")
			require.NotContains(t, messages[0], "which is in EUR", "it is told in Hungarian")
		}
	})
}

// TestNoRateIsTraced: a preview tells that a purchase does not count for a sum of money, because its currency has no rate.
func TestNoRateIsTraced(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.does("/admin/modules/tiers", exchangeRates)
		h.entity("challenges/challenge", `{"id":"big","title":{"en":"B"},"criteria":[{"action":"checkout","sum":"transaction.total","threshold":1000}],"points":5}`)
		h.enrol("member-1")
		for currency, traced := range map[string]bool{"JPY": true, "HUF": false, "EUR": false} {
			a := h.post("/events/preview", `{"customer":"member-1","action":"checkout","data":{"transaction_id":"T-1","total":1200,"currency":"`+currency+`"}}`)
			require.Equal(t, http.StatusOK, a.status, a.body)
			line := ""
			for _, rule := range a.json(t)["rules"].([]any) {
				if rule := rule.(map[string]any); rule["rule"] == "challenge" {
					line += fmt.Sprint(rule["verdict"], " ", rule["reason"], " ", rule["input"].(map[string]any)["no_rate"])
				}
			}
			if traced {
				require.Equal(t, "skipped its currency has no exchange rate, so it does not count JPY", line)
			} else {
				require.NotContains(t, line, "no rate")
			}
		}
	})
}

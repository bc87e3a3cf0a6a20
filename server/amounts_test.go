package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// computedAmount is what a client made of (price - discount) x quantity, of a sum
// or of a price with tax, as its language writes the result, and what it means.
// testdata/amounts.json holds 500 of them: JavaScript's JSON.stringify, Python's
// json.dumps and the 17 digits of PHP.
type computedAmount struct{ By, Sent, Means string }

// TestComputedAmounts: amounts of clients that count in binary are taken as what
// they mean, in JSON and in forms.
func TestComputedAmounts(t *testing.T) {
	raw, err := os.ReadFile("testdata/amounts.json")
	require.NoError(t, err)
	var amounts []computedAmount
	require.NoError(t, json.Unmarshal(raw, &amounts))
	require.Len(t, amounts, 500)
	storetest.EachURL(t, func(t *testing.T, address string) {
		h := openOn(t, address, patient)
		h.enrol("json")
		h.enrol("form")
		for i := 0; i < len(amounts); i += 250 {
			half := amounts[i : i+250]
			h.takesAll(h.post("/events/bulk", purchasesAsJSON(half, i)), len(half))
			h.takesAll(h.form("/events/bulk", purchasesAsForm(half, i)), len(half))
		}

		for _, customer := range []string{"json", "form"} {
			a := h.sees("/customers/" + customer + "/transactions?limit=1000")
			var list struct {
				Data []struct {
					ID    string
					Total json.Number
				}
			}

			require.NoError(t, json.Unmarshal([]byte(a.body), &list))
			require.Len(t, list.Data, len(amounts))
			totals := map[string]string{}
			for _, transaction := range list.Data {
				totals[transaction.ID] = transaction.Total.String()
			}

			for i, amount := range amounts {
				require.Equal(t, amount.Means, totals[fmt.Sprintf("%s-%d", customer, i)], "%s of %s", amount.Sent, amount.By)
			}
		}
	})
}

// takesAll requires that a bulk had no error.
func (h *house) takesAll(a answer, events int) {
	h.t.Helper()
	require.Equal(h.t, http.StatusOK, a.status, a.body)
	var done struct {
		Total, Errors int
		Results       []json.RawMessage
	}
	require.NoError(h.t, json.Unmarshal([]byte(a.body), &done))
	require.Equal(h.t, events, done.Total)
	for _, result := range done.Results {
		require.NotContains(h.t, string(result), `"error"`)
	}
}

func purchasesAsJSON(amounts []computedAmount, from int) string {
	var events []string
	for i, amount := range amounts {
		events = append(events, fmt.Sprintf(
			`{"customer":"json","action":"checkout","data":{"transaction_id":"json-%d","total":%s,"items":[`+
				`{"product_id":"p","product_name":"P","product_url":"https://shop.test/p","quantity":2.0,"subtotal":%s}]}}`,
			from+i, amount.Sent, amount.Sent))
	}
	return `{"events":[` + strings.Join(events, ",") + `]}`
}

func purchasesAsForm(amounts []computedAmount, from int) string {
	form := url.Values{}
	for i, amount := range amounts {
		at := fmt.Sprintf("events[%d]", i)
		form.Set(at+"[customer]", "form")
		form.Set(at+"[action]", "checkout")
		form.Set(at+"[data][transaction_id]", fmt.Sprintf("form-%d", from+i))
		form.Set(at+"[data][total]", amount.Sent)
		form.Set(at+"[data][items][0][product_id]", "p")
		form.Set(at+"[data][items][0][product_name]", "P")
		form.Set(at+"[data][items][0][product_url]", "https://shop.test/p")
		form.Set(at+"[data][items][0][quantity]", "2.0")
		form.Set(at+"[data][items][0][subtotal]", amount.Sent)
	}

	return form.Encode()
}

package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestErrorsOfTheSpecification is the specification's table of errors, row by row:
// each code with its exact message, for every action that it applies to, as JSON,
// as a form and inside a bulk.
//
// spec: error.empty, error.burned, error.transaction_id, error.5003, error.911001, error.1601, error.1606, error.birth_date, rule.opt_in.birth_date, rule.profile.birth_date, service.form, service.json
func TestErrorsOfTheSpecification(t *testing.T) {
	const (
		notFound = "Transaction not found"
		broke    = "Customer doesn't have enough points for discount"
		noID     = "Property transaction_id cannot be empty"
	)

	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("ada")
		done(h, "/admin/modules/checkout_accept", `{"enabled":true}`)
		for _, name := range []string{"T-1", "T-2", "T-3"} {
			done(h, "/events", fmt.Sprintf(`{"customer":"ada","action":"checkout","data":{"transaction_id":%q,"total":10}}`, name))
		}

		done(h, "/events", `{"customer":"ada","action":"checkout_accept","data":{"transaction_id":"T-2"}}`)
		done(h, "/events", `{"customer":"ada","action":"checkout_reject","data":{"transaction_id":"T-3"}}`)
		done(h, "/events", `{"customer":"ada","action":"coupon_create","data":{"code":"CARD","value":0,"amount":10}}`)
		before := contentsOf(t, url).counts()
		for _, row := range []struct {
			action, data string
			status, code int
			message      string
		}{
			{"checkout", `{"total":1}`, 400, 0, noID},
			{"checkout", `{"transaction_id":"T-9"}`, 400, 0, "Property total cannot be empty"},
			{"checkout", `{"transaction_id":" ","total":1}`, 400, 0, noID},
			{"checkout", `{"transaction_id":"T-9","total":1,"items":[` + strings.Replace(teaLine, `"product_id":"p-501"`, `"product_id":""`, 1) + `]}`, 400, 0, "Property product_id cannot be empty"},
			{"visit", `{"type":"x"}`, 400, 0, "Property url cannot be empty"},
			{"opt_in", `{"first_name":"x"}`, 400, 0, "Property email cannot be empty"},
			{"review_submit", `{"item":"p-501"}`, 400, 0, "Property review cannot be empty"},
			{"checkout_accept", `{"cf_a":"1"}`, 400, 0, noID},
			{"checkout_reject", `{"cf_a":"1"}`, 400, 0, noID},
			{"checkout_update", `{"total":1}`, 400, 0, noID},
			{"checkout", `{"transaction_id":"T-9","total":1,"points_burned":1}`, 422, 0, broke},
			{"checkout_update", `{"transaction_id":"T-1","total":1,"points_burned":1}`, 422, 0, broke},
			{"checkout", `{"transaction_id":"T-1","total":1}`, 409, 5003, "ERR_TX_ALREADY_EXISTS"},
			{"checkout", `{"transaction_id":"T-3","total":1}`, 409, 5003, "ERR_TX_ALREADY_EXISTS"},
			{"checkout_accept", `{"transaction_id":"T-9"}`, 404, 911001, notFound},
			{"checkout_reject", `{"transaction_id":"T-9"}`, 404, 911001, notFound},
			{"checkout_update", `{"transaction_id":"T-9","total":1}`, 404, 911001, notFound},
			{"checkout_accept", `{"transaction_id":"T-2"}`, 404, 911001, notFound},
			{"checkout_reject", `{"transaction_id":"T-2"}`, 404, 911001, notFound},
			{"checkout_update", `{"transaction_id":"T-2","total":1}`, 404, 911001, notFound},
			{"checkout_accept", `{"transaction_id":"T-3"}`, 404, 911001, notFound},
			{"checkout_reject", `{"transaction_id":"T-3"}`, 404, 911001, notFound},
			{"checkout_update", `{"transaction_id":"T-3","total":1}`, 404, 911001, notFound},
			{"coupon_redeem", `{"code":"NONE"}`, 404, 1601, "Coupon not found"},
			{"coupon_redeem", `{"code":"CARD","amount":10.0001}`, 422, 1606, "The coupon balance is lower than the amount"},
		} {
			event := fmt.Sprintf(`{"customer":"ada","action":%q,"data":%s}`, row.action, row.data)
			for form, a := range map[string]answer{"JSON": h.post("/events", event), "form": h.form("/events", formOf(t, event))} {
				require.Equal(t, row.status, a.status, "%s as %s: %s", event, form, a.body)
				f := a.fault(t)
				require.Equal(t, []any{row.code, row.message, kinds[row.status]}, []any{f.Code, f.Message, f.Type}, event)
			}
			bulk := h.post("/events/bulk", bulkOf([]string{event}))
			require.Equal(t, http.StatusOK, bulk.status)
			failed := bulk.json(t)["results"].([]any)[0].(map[string]any)["error"].(map[string]any)
			require.Equal(t, fmt.Sprint(row.code, row.message, kinds[row.status]), fmt.Sprint(failed["code"], failed["message"], failed["type"]), event)
		}

		require.Equal(t, before, contentsOf(t, url).counts(), "nothing was recorded")
		for _, broken := range []string{"2023-02-30", "yesterday", "1990-5-17"} { // an invalid birth_date rejects the event
			for _, action := range []string{"opt_in", "profile"} {
				a := h.post("/events", fmt.Sprintf(`{"customer":"eve","action":%q,"data":{"email":"eve@shop.test","opt_in":true,"birth_date":%q}}`, action, broken))
				require.Equal(t, http.StatusBadRequest, a.status, a.body)
				require.Contains(t, a.fault(t).fields(), "data.birth_date")
			}
		}

		require.Equal(t, http.StatusNotFound, h.get("/customers/eve").status)
	})
}

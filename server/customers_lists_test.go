package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

const (
	springList = "/v1/bulk-operation/customer-list/add/spring"
	noBatch    = "0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01"
)

// begun requires that a bulk operation was taken on and gives its id.
func begun(t *testing.T, a answer, total int) string {
	t.Helper()
	require.Equal(t, http.StatusAccepted, a.status, a.body)
	d := data(t, a)
	require.Equal(t, fmt.Sprint("queued 0 ", total, " 0"), standing(d))
	require.NotEmpty(t, d["created_at"])
	require.NotContains(t, d, "finished_at")
	return d["batch_id"].(string)
}

// standing is what an operation says of itself.
func standing(d map[string]any) string {
	return fmt.Sprint(d["status"], " ", d["done"], " ", d["total"], " ", d["errors"])
}

// work has the job do what there is to do.
func (h *house) work(done int) {
	h.t.Helper()
	ran := succeeded(h.t, h.post("/admin/jobs/bulk/run", ""))
	require.Equal(h.t, fmt.Sprint(done, " 0"), fmt.Sprint(ran["last_result"].(map[string]any)["done"], " ", ran["last_result"].(map[string]any)["failed"]), ran)
}

// refusals lists the customers that an operation refused, each with the code.
func refusals(t *testing.T, a answer) []string {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	list := []string{}
	for _, e := range a.json(t)["data"].([]any) {
		e := e.(map[string]any)
		list = append(list, fmt.Sprint(e["customer"], " ", e["error"].(map[string]any)["code"]))
	}
	return list
}

// TestCustomerLists fills a list, reads it, and takes customers off it.
func TestCustomerLists(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		require.Equal(t, http.StatusCreated, h.post("/entities/core/customer-list", `{"id":"spring","name":"Spring"}`).status)
		for i := range 4 {
			h.enrol(fmt.Sprintf("member-100%d", i+1))
		}

		for _, event := range []string{
			`{"customer":"member-1003","action":"profile","data":{"external_ids":{"crm":"000512"}}}`,
			`{"customer":"lead-1","action":"subscribe","data":{"handler":"lead-1"}}`,
		} {
			require.Equal(t, http.StatusOK, h.post("/events", event).status)
		}

		const body = `{"customers":["member-1001","member-1002","nobody","crm:000512","crm:1","member-1001","lead-1"]}`
		first := h.post(springList, body, "Idempotency-Key", "k")
		batch := begun(t, first, 6)
		again := h.post(springList, body, "Idempotency-Key", "k")
		require.Equal(t, []any{http.StatusAccepted, first.body, "true"}, []any{again.status, again.body, again.header.Get("Idempotency-Replayed")})
		refused(t, h.post(springList, `{"customers":["member-1001"]}`, "Idempotency-Key", "k"), http.StatusConflict, 190031)

		status := "/v1/bulk-operation/customer-list/" + batch + "/status"
		require.Equal(t, "queued 0 6 0", standing(succeeded(t, h.get(status))))
		require.Empty(t, refusals(t, h.get(status+"/errors")))
		h.work(6)
		ended := succeeded(t, h.get(status))
		require.Equal(t, "done 6 6 2", standing(ended))
		require.NotEmpty(t, ended["finished_at"])
		require.Equal(t, []string{"nobody 160212", "crm:1 160212"}, refusals(t, h.get(status+"/errors")))
		require.Contains(t, h.get(status+"/errors").body, "Customer not found")
		require.NotContains(t, h.get(status+"/errors", "Accept-language", "hu").body, "Customer not found", "worded for who asks")
		h.work(0)

		on := []string{"member-1001", "member-1002", "member-1003", "lead-1"}
		require.Equal(t, on, names(t, h.get("/customers?list=spring")))
		require.Equal(t, on, names(t, h.get("/customers?list.in=summer,spring")))
		require.Equal(t, []string{"member-1004"}, names(t, h.get("/customers?list.ne=spring")))
		require.Equal(t, []string{"member-1004"}, names(t, h.get("/customers?list.nin=spring,summer")))
		require.Equal(t, []string{"lead-1"}, names(t, h.get("/customers?list.eq=spring&status=inactive")))
		require.Empty(t, names(t, h.get("/customers?list=summer")))
		require.Equal(t, "4", fmt.Sprint(succeeded(t, h.get("/customers/-/count?list=spring"))["count"]))

		require.Equal(t, []string{"member-1002"}, names(t, h.get("/customers?email=MEMBER-1002@shop.test")))
		require.Equal(t, []string{"member-1001", "lead-1"}, names(t, h.get("/customers?email.nin=member-1002@shop.test,member-1003@shop.test,member-1004@shop.test")), "who has none has another")
		require.Equal(t, []string{"lead-1"}, names(t, h.get("/customers?handler.in=LEAD-1,nobody&list=spring")))
		require.Equal(t, "1", fmt.Sprint(succeeded(t, h.get("/customers/-/count?handler=lead-1"))["count"]))

		begun(t, h.form(strings.Replace(springList, "/add/", "/remove/", 1), "customers[]=member-1002&customers[]=member-1004"), 2)
		h.work(2)
		require.Equal(t, []string{"member-1001", "member-1003", "lead-1"}, names(t, h.get("/customers?list=spring")))

		h.does("/customers/member-1003/merge", `{"target":"member-1004"}`)
		require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"lead-1","action":"opt_out","data":{}}`).status)
		require.Equal(t, []string{"member-1001", "member-1004"}, names(t, h.get("/customers?list=spring")), "membership goes with a merge and ends with an opt_out")
		begun(t, h.post(springList, `{"customers":["member-1003","lead-1"]}`), 2)
		h.work(2)
		require.Equal(t, []string{"member-1001", "member-1004"}, names(t, h.get("/customers?list=spring")))
		audited := h.get("/admin/audit")
		require.Equal(t, http.StatusOK, audited.status)
		require.Contains(t, audited.body, batch)
		require.NotContains(t, audited.body, "member-1001")
	})
}

// TestCustomerListRefusals: what cannot be begun, and what is not there.
func TestCustomerListRefusals(t *testing.T) {
	h := open(t)
	require.Equal(t, http.StatusCreated, h.post("/entities/core/customer-list", `{"id":"spring","name":"Spring"}`).status)
	for body, field := range map[string]string{
		`{}`: "customers", `{"customers":[]}`: "customers", `{"customers":[""]}`: "customers[0]", `{"customers":"member-1001"}`: "customers",
		`{"customers":["member-1001"],"list_id":"spring"}`: "list_id",
	} {
		a := h.post(springList, body)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
		require.Equal(t, []string{field}, a.fault(t).fields(), body)
	}

	many, err := json.Marshal(map[string]any{"customers": make([]int, 100_001)})
	require.NoError(t, err)
	tooMany := h.post(springList, strings.ReplaceAll(string(many), "0", `"a"`))
	require.Equal(t, http.StatusBadRequest, tooMany.status)
	require.Equal(t, []string{"customers"}, tooMany.fault(t).fields())
	require.Equal(t, http.StatusRequestEntityTooLarge, h.post(springList, `{"customers":["`+strings.Repeat("x", 16<<20)+`"]}`).status)

	refused(t, h.post("/v1/bulk-operation/customer-list/add/none", `{"customers":["member-1001"]}`), http.StatusNotFound, 190025)
	require.Equal(t, http.StatusOK, h.post("/entities/core/customer-list/spring/archive", "").status)
	refused(t, h.post(springList, `{"customers":["member-1001"]}`), http.StatusUnprocessableEntity, 190054)
	refused(t, h.get("/v1/bulk-operation/customer-list/"+noBatch+"/status"), http.StatusNotFound, 190240)
	refused(t, h.get("/v1/bulk-operation/customer-list/"+noBatch+"/status/errors"), http.StatusNotFound, 190240)
	require.Equal(t, http.StatusNotFound, h.get("/v1/bulk-operation/customer-list/spring/status").status)
	require.Equal(t, http.StatusMethodNotAllowed, h.get(springList).status)
}

// TestBulkErrorPages walks through the refused customers, forwards and back.
//
// spec: endpoint.pages:/v1/bulk-operation/customer-list/{batch_id}/status/errors, version.prefix
func TestBulkErrorPages(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		require.Equal(t, http.StatusCreated, h.post("/entities/core/customer-list", `{"id":"spring","name":"Spring"}`).status)
		h.enrol("member-1001")
		list := make([]string, 300)
		for i := range list {
			list[i] = fmt.Sprintf("nobody-%d", i)
		}

		list[150] = "member-1001"
		body, err := json.Marshal(map[string]any{"customers": list})
		require.NoError(t, err)
		batch := begun(t, h.post(springList, string(body)), 300)
		h.work(300)
		status := "/v1/bulk-operation/customer-list/" + batch + "/status"
		require.Equal(t, "done 300 300 299", standing(succeeded(t, h.get(status))))

		var walked []string
		link, back := any(status+"/errors?limit=120"), any(nil)
		for link != nil {
			a := h.get(link.(string))
			walked = append(walked, refusals(t, a)...)
			link, back = a.json(t)["next"], a.json(t)["previous"]
		}

		require.Len(t, walked, 299)
		require.Equal(t, []string{"nobody-0 160212", "nobody-149 160212", "nobody-151 160212", "nobody-299 160212"},
			[]string{walked[0], walked[149], walked[150], walked[298]})
		require.Equal(t, walked[120:240], refusals(t, h.get(back.(string))))
		require.Equal(t, walked[290:], refusals(t, h.get(status+"/errors?offset=290")))
	})
}

// TestBulkForgetsWhoLeft: the names in a bulk operation are gone with their customer.
func TestBulkForgetsWhoLeft(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		require.Equal(t, http.StatusCreated, h.post("/entities/core/customer-list", `{"id":"spring","name":"Spring"}`).status)
		h.enrol("member-1001")
		require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"member-1001","action":"profile","data":{"external_ids":{"crm":"000512"}}}`).status)
		batch := begun(t, h.post(springList, `{"customers":["member-1001","crm:000512","nobody"]}`), 3)
		require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"member-1001","action":"opt_out","data":{}}`).status)
		var left int
		require.NoError(t, storetest.Raw(t, url).QueryRow(`SELECT count(*) FROM bulk_items WHERE customer IS NOT NULL`).Scan(&left))
		require.Equal(t, 1, left)
		h.work(3)
		errors := h.get("/v1/bulk-operation/customer-list/" + batch + "/status/errors")
		require.Equal(t, []string{"<nil> 160212", "<nil> 160212", "nobody 160212"}, refusals(t, errors))
	})
}

// TestReferrer: a customer tells who brought them, as callers know that customer.
func TestReferrer(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		require.Equal(t, http.StatusOK, h.post("/admin/modules/friend_referral", `{"enabled":true}`).status)
		for _, id := range []string{"member-1001", "member-1003", "member-1004"} {
			h.enrol(id)
		}

		for id, by := range map[string]string{"member-1002": "member-1001", "member-1005": "member-1004"} {
			h.does("/events", `{"customer":"`+id+`","action":"opt_in","data":{"email":"x@shop.test","referrer":"`+by+`"}}`)
		}

		referrer := func(id string) any { return succeeded(t, h.get("/customers/"+id))["referrer"] }
		require.Equal(t, "member-1001", referrer("member-1002"))
		require.Nil(t, referrer("member-1001"))
		require.NotContains(t, succeeded(t, h.get("/customers/member-1002?fields=status")), "referrer")
		require.Equal(t, map[string]any{"id": "member-1002", "referrer": "member-1001"}, succeeded(t, h.get("/customers/member-1002?fields=referrer")))
		listed := h.get("/customers?fields=referrer").json(t)["data"].([]any)
		require.ElementsMatch(t, []any{
			map[string]any{"id": "member-1001"}, map[string]any{"id": "member-1003"}, map[string]any{"id": "member-1004"},
			map[string]any{"id": "member-1002", "referrer": "member-1001"}, map[string]any{"id": "member-1005", "referrer": "member-1004"},
		}, listed)

		require.Equal(t, http.StatusOK, h.post("/customers/member-1001/merge", `{"target":"member-1003"}`).status)
		require.Equal(t, "member-1003", referrer("member-1002"), "who they became")
		for _, id := range []string{"member-1003", "member-1005"} {
			require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"`+id+`","action":"opt_out","data":{}}`).status)
		}

		require.Nil(t, referrer("member-1002"), "nobody is named who left")
		require.NotContains(t, h.get("/customers?status=opted_out").body, "referrer")
	})
}

// TestCustomersByTier: the list of customers of a tier is those whose levels say that they have it, whatever gave or took it.
func TestCustomersByTier(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newLadder(t, url)
		everybody := []string{"member-0", "member-1", "member-2", "member-3", "member-4"}
		for i, points := range []int{90, 150, 310, 320, 0} {
			s.enrol(everybody[i])
			s.Wait(time.Second)
			if points > 0 {
				s.scores(everybody[i], points)
			}
		}

		agrees := func(want map[string][]string) {
			t.Helper()
			for _, tier := range []string{"silver", "gold", "head", "regular"} {
				var have, without []string
				for _, c := range names(t, s.get("/customers?status.in=active,suspended")) {
					if slices.ContainsFunc(s.levels(c), func(l string) bool { return strings.HasPrefix(l, tier+" current") }) {
						have = append(have, c)
					} else {
						without = append(without, c)
					}
				}
				require.Equal(t, want[tier], have, tier)
				require.ElementsMatch(t, have, names(t, s.get("/customers?tier="+tier)), tier)
				require.ElementsMatch(t, have, names(t, s.get("/customers?sort=last_name&tier.in=nothing,"+tier)), tier)
				require.ElementsMatch(t, without, names(t, s.get("/customers?status.in=active,suspended&tier.ne="+tier)), tier)
				require.Equal(t, fmt.Sprint(len(have)), fmt.Sprint(succeeded(t, s.get("/customers/-/count?tier="+tier))["count"]), tier)
			}
		}

		agrees(map[string][]string{"silver": {"member-1"}, "gold": {"member-2", "member-3"}})
		s.happens("member-0", "visit", `{"url":"https://shop.test"}`)      // hires
		s.happens("member-4", "video", `{"url":"https://shop.test/film"}`) // gives gold
		s.buys("member-0", "T-1", "100")
		s.scores("member-3", -200)
		agrees(map[string][]string{"silver": {"member-0", "member-1"}, "gold": {"member-2", "member-3", "member-4"}, "head": {"member-0"}, "regular": {"member-0"}})
		s.Wait(8 * 24 * time.Hour) // what came on the first day is out of the window, and the grace is over
		succeeded(t, s.post("/admin/jobs/tiers/run", ""))
		agrees(map[string][]string{"gold": {"member-4"}, "head": {"member-0"}, "regular": {"member-0"}})

		require.Equal(t, http.StatusOK, s.post("/customers/member-4/merge", `{"target":"member-0"}`).status)
		s.happens("member-2", "suspend", `{}`)
		s.scores("member-1", 120)
		agrees(map[string][]string{"silver": {"member-1"}, "gold": {"member-0"}, "head": {"member-0"}, "regular": {"member-0"}})
		require.Equal(t, []string{"member-1"}, names(t, s.get("/customers?tier.in=silver,gold&tier.nin=head&status=active")))
		require.Empty(t, names(t, s.get("/customers?tier=nothing")))
	})
}

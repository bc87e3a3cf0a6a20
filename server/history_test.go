package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// told sends events that must be recorded.
func (h *house) told(events ...string) {
	h.t.Helper()
	for _, e := range events {
		time.Sleep(2 * time.Millisecond) // instants have milliseconds, and lists are in their order
		h.does("/events", e)
	}
}

// column reads one property of every entry of a page.
func column(t *testing.T, a answer, name string) []string {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	list := []string{}
	for _, entry := range a.json(t)["data"].([]any) {
		list = append(list, fmt.Sprint(entry.(map[string]any)[name]))
	}
	return list
}

// walk follows next from a page and gives a property of every entry, and the last page.
func (h *house) walk(target, name string) (all []string, last answer) {
	h.t.Helper()
	for {
		last = h.get(target)
		all = append(all, column(h.t, last, name)...)
		next, ok := last.json(h.t)["next"].(string)
		if !ok {
			return all, last
		}
		target = next
	}
}

// back follows previous from a page.
func (h *house) back(last answer, name string) []string {
	h.t.Helper()
	all := column(h.t, last, name)
	for {
		previous, ok := last.json(h.t)["previous"].(string)
		if !ok {
			return all
		}
		last = h.get(previous)
		all = append(column(h.t, last, name), all...)
	}
}

func reversed(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// pastMembers is a house in which two members have a history; another customer was merged into the second.
func pastMembers(t *testing.T, u string) *house {
	h := openOn(t, u, patient)
	h.everyModule()
	for _, c := range []string{"member-1001", "member-1002", "member-1003"} {
		h.enrol(c)
	}

	require.Equal(t, http.StatusCreated, h.post("/entities/custom-events/action", `{"name":"store_visit","schema":{"type":"object","properties":{"floor":{"type":"integer"}}}}`).status)
	h.told(
		`{"customer":"member-1001","action":"point_add","data":{"points":500}}`,
		`{"customer":"member-1001","action":"point_add","data":{"points":70,"effective_timestamp":"2026-01-31T12:00:00Z"}}`,
		`{"customer":"member-1001","action":"store_visit","data":{"floor":2}}`,
		`{"customer":"member-1001","action":"profile","data":{"first_name":"Sample"}}`,
		`{"customer":"member-1001","action":"coupon_create","data":{"code":"C-1","value":3}}`,
		`{"customer":"member-1001","action":"coupon_transfer","data":{"code":"C-1","target":"member-1002"}}`,
		`{"customer":"member-1003","action":"visit","data":{"url":"https://shop.test/a"}}`,
	)

	require.Equal(t, http.StatusOK, h.post("/customers/member-1003/merge", `{"target":"member-1002"}`).status)
	h.told(`{"customer":"member-1002","action":"point_add","data":{"points":5}}`)
	return h
}

// spec: filter.events.*, order.on:/customers/-/events, order.on:/customers/{customer_id}/events, error.display-filters, service.api.display, operator.eq, operator.gt, operator.gte, operator.in, operator.lt, operator.lte, operator.ne, operator.nin, operator.ranges
func TestEventLists(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, u string) {
		today, tomorrow := days(t)
		h := pastMembers(t, u)
		const of1001, of1002, everybody = "/customers/member-1001/events", "/customers/member-1002/events", "/customers/-/events"
		stream := []string{"coupon_transfer", "coupon_create", "profile", "store_visit", "point_add", "point_add", "opt_in"}
		require.Equal(t, stream, column(t, h.get(of1001), "action"))
		require.Equal(t, []string{"point_add", "merge", "visit", "coupon_receive", "opt_in", "opt_in"}, column(t, h.get(of1002), "action"))
		require.Equal(t, column(t, h.get(of1002), "id"), column(t, h.get("/customers/member-1003/events"), "id"), "a merged one is the other")
		require.Equal(t, []string{"map[id:member-1002]"}, slices.Compact(column(t, h.get(of1002), "customer")))
		require.Len(t, column(t, h.get(everybody), "id"), 13)

		entry := func(a answer, i int) map[string]any { return a.json(t)["data"].([]any)[i].(map[string]any) }
		require.Equal(t, map[string]any{"code": "C-1", "target": "member-1002"}, entry(h.get(of1001), 0)["data"])
		require.Equal(t, map[string]any{"code": "C-1", "original": "member-1001"}, entry(h.get(of1002), 3)["data"])
		require.Equal(t, map[string]any{"first_name": "Sample"}, entry(h.get(of1001), 2)["data"], "what is personal is opened")
		require.Equal(t, "2026-01-31T12:00:00.000Z", entry(h.get(of1001), 4)["timestamp"])
		require.Equal(t, "70", fmt.Sprint(entry(h.get(of1001), 4)["points"]))
		require.Equal(t, entry(h.get(of1001), 0)["id"], entry(h.get(of1002), 3)["parent"])
		labels := column(t, h.get(of1001, "Accept-language", "hu"), "label")
		require.Equal(t, "store_visit", labels[3], "an action of the programme's own is called by its name")
		require.NotEqual(t, labels[4], column(t, h.get(of1001), "label")[4])

		for query, want := range map[string]int{
			"action=point_add":                             2,
			"action=point_add&action=profile":              3,
			"action.eq=profile":                            1,
			"action.ne=point_add":                          5,
			"action.in=point_add,opt_in":                   3,
			"action.nin=point_add,opt_in":                  4,
			"action=point_add&action.ne=point_add":         0,
			"action=none":                                  0,
			"date=2026-01-31":                              1,
			"date.eq=2026-01-31T12:00:00Z":                 1,
			"date.ne=2026-01-31":                           6,
			"date.gt=2026-01-31":                           6,
			"date.gte=2026-01-31":                          7,
			"date.lt=" + today:                             1,
			"date.lte=2026-01-31":                          1,
			"date.lt=2026-01-31":                           0,
			"date.in=2026-01-31,2026-02-01":                1,
			"date.nin=2026-01-31,2026-02-01":               6,
			"date.gte=2026-01-01&date.lt=" + tomorrow:      7,
			"date.gte=" + today + "&action=point_add":      1,
			"date=2026-02-30":                              0,
			"date.gte=yesterday":                           0,
			"date.lt=2026-02-01&sort=date":                 1,
			"date.lt=" + tomorrow + "&action=point_add":    2,
			"date.lt=" + tomorrow + "&sort=date&order=asc": 7,
		} {
			require.Len(t, column(t, h.get(of1001+"?"+query), "id"), want, query)
			mine := 0
			for _, c := range column(t, h.get(everybody+"?"+query), "customer") {
				if c == "map[id:member-1001]" {
					mine++
				}
			}
			require.Equal(t, want, mine, "among everybody's: %s", query)
		}

		for _, list := range []string{of1001, of1002, everybody} {
			newest := column(t, h.get(list), "id")
			walked, last := h.walk(list+"?limit=2", "id")
			require.Equal(t, newest, walked)
			require.Equal(t, newest, h.back(last, "id"))
			rising := column(t, h.get(list+"?sort=date"), "timestamp")
			require.True(t, slices.IsSorted(rising), rising)
			require.Equal(t, rising, reversed(column(t, h.get(list+"?sort=date&order=desc"), "timestamp")))
			walked, last = h.walk(list+"?limit=2&sort=date&order=desc", "id")
			require.ElementsMatch(t, newest, walked)
			require.Equal(t, walked, h.back(last, "id"))
			require.Equal(t, newest[1:3], column(t, h.get(list+"?limit=2&offset=1"), "id"))
			refused(t, h.get(list+"?sort=points"), http.StatusBadRequest, 190070)
			refused(t, h.get(list+"?sort=date&order=up"), http.StatusBadRequest, 190070)
			refused(t, h.get(list+"?actoin=visit"), http.StatusBadRequest, 190069)
		}

		refused(t, h.get("/customers/nobody/events"), http.StatusNotFound, 160212)
		stolen, err := url.Parse(h.get(of1001 + "?limit=2").json(t)["next"].(string))
		require.NoError(t, err)
		refused(t, h.get(of1002+"?cursor="+stolen.Query().Get("cursor")), http.StatusBadRequest, 190070)
	})
}

// TestEventsNameNobodyWhoLeft: the events stay, and say nothing of the person, in
// their own list and in those of others.
func TestEventsNameNobodyWhoLeft(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, u string) {
		h := pastMembers(t, u)
		require.Equal(t, http.StatusOK, h.post("/admin/modules/events_api", `{"enabled":true,"config":{"suppress_pii":true}}`).status)
		require.Contains(t, h.get("/customers/-/events").body, "Sample", "suppress_pii is for the answers of the Events API")
		h.told(`{"customer":"member-1001","action":"opt_out","data":{"reason":"moved away"}}`)
		a := h.get("/customers/-/events")
		require.Len(t, column(t, a, "id"), 14)
		for _, secret := range []string{"member-1001", "Sample", "moved away"} {
			require.NotContains(t, a.body, secret)
		}
		require.Equal(t, 8, strings.Count(strings.Join(column(t, a, "customer"), " "), "<nil>"))
		received := h.get("/customers/member-1002/events?action=coupon_receive").json(t)["data"].([]any)[0].(map[string]any)
		require.Equal(t, map[string]any{"code": "C-1"}, received["data"])
	})
}

const basket = `"items":[{"product_id":"p-1","product_name":"Beans","product_url":"https://shop.test/p-1","quantity":1,"subtotal":60},
	{"product_id":"p-2","product_name":"Milk","product_url":"https://shop.test/p-2","quantity":3,"subtotal":39.99,"cf_colour":"white"}]`

func bought(customer, id, more string) string {
	return `{"customer":"` + customer + `","action":"checkout","data":{"transaction_id":"` + id + `","total":99.99,"currency":"EUR","channel":"online",` + basket + more + `}}`
}

func TestTransactions(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, u string) {
		today, _ := days(t)
		h := openOn(t, u, patient)
		for _, c := range []string{"member-1001", "member-1002"} {
			h.enrol(c)
		}

		h.told(
			`{"customer":"member-1001","action":"point_add","data":{"points":1000}}`,
			bought("member-1001", "T-1001", `,"points_burned":30,"effective_timestamp":"2026-01-31T12:00:00Z"`),
			`{"customer":"member-1001","action":"point_add","data":{"points":7,"transaction_id":"T-1001"}}`,
			`{"customer":"member-1001","action":"partial_refund","data":{"transaction_id":"T-1001","amount":33.33}}`,
			bought("member-1002", "T-2001", ""),
		)

		require.Equal(t, http.StatusOK, h.post("/customers/member-1002/merge", `{"target":"member-1001"}`).status)
		require.Equal(t, http.StatusOK, h.post("/admin/modules/checkout_accept", `{"enabled":true}`).status)
		h.told(bought("member-1001", "T-3001", `,"points_burned":10,"auto_accept":"2126-01-01"`), bought("member-1001", "T-4001", ""),
			`{"customer":"member-1001","action":"checkout_accept","data":{"transaction_id":"T-4001"}}`)
		const list = "/customers/member-1001/transactions"

		one := succeeded(t, h.get(list+"/T-1001"))
		for name, want := range map[string]string{
			"id": "T-1001", "status": "accepted", "checkout_date": "2026-01-31T12:00:00.000Z", "currency": "EUR", "channel": "online",
			"total": "66.66", "original_total": "99.99", "refunded": "33.33", "points_rewarded": "99", "earned": "66", "burned": "20",
		} {
			require.Equal(t, want, fmt.Sprint(one[name]), name)
		}

		line := one["items"].([]any)[1].(map[string]any)
		require.Equal(t, "white", line["cf_colour"], "what is personal of a line is opened")
		require.Equal(t, "39.99", fmt.Sprint(line["subtotal"]))
		require.Equal(t, []string{"point_burn -30", "checkout_item 60", "checkout_item 39", "point_add 7", "partial_refund -33", "point_unburn 10"}, breakdown(one))
		require.Equal(t, []string{"reserve_points -10", "checkout_item 60", "checkout_item 39"}, breakdown(succeeded(t, h.get(list+"/T-3001"))))
		require.Equal(t, []string{"checkout_accept_item 60", "checkout_accept_item 39"}, breakdown(succeeded(t, h.get(list+"/T-4001"))))
		require.Equal(t, "T-2001", succeeded(t, h.get("/customers/member-1002/transactions/T-2001"))["id"])
		refused(t, h.get(list+"/T-9"), http.StatusNotFound, 911001)
		refused(t, h.get(list+"/T-9/events"), http.StatusNotFound, 911001)
		refused(t, h.get("/customers/nobody/transactions"), http.StatusNotFound, 160212)

		require.Equal(t, []string{"point_unburn", "partial_refund", "point_add", "checkout_item", "checkout_item", "point_burn", "checkout"},
			column(t, h.get(list+"/T-1001/events"), "action"))
		events, last := h.walk(list+"/T-1001/events?limit=3", "id")
		require.Equal(t, column(t, h.get(list+"/T-1001/events"), "id"), events)
		require.Equal(t, events, h.back(last, "id"))
		require.Len(t, column(t, h.get(list+"/T-2001/events"), "id"), 3, "of the one who was merged")

		all := []string{"T-4001", "T-3001", "T-2001", "T-1001"}
		for query, want := range map[string][]string{
			"":                                  all,
			"id=T-1001":                         {"T-1001"},
			"id.ne=T-1001":                      all[:3],
			"id.in=T-1001,T-3001,T-9":           {"T-3001", "T-1001"},
			"id.nin=T-1001,T-3001":              {"T-4001", "T-2001"},
			"status=pending":                    {"T-3001"},
			"status.ne=pending":                 {"T-4001", "T-2001", "T-1001"},
			"status.in=pending,rejected":        {"T-3001"},
			"status.nin=accepted":               {"T-3001"},
			"status=dancing":                    {},
			"date=2026-01-31":                   {"T-1001"},
			"date.ne=2026-01-31":                all[:3],
			"date.gt=2026-01-31":                all[:3],
			"date.gte=2026-01-31":               all,
			"date.lt=" + today:                  {"T-1001"},
			"date.lte=2026-01-31T12:00:00Z":     {"T-1001"},
			"date.in=2026-01-31":                {"T-1001"},
			"date.nin=2026-01-31":               all[:3],
			"date=2026-02-30":                   {},
			"status=accepted&date.gte=" + today: {"T-4001", "T-2001"},
		} {
			require.Equal(t, want, column(t, h.get(list+"?"+query), "id"), query)
		}

		walked, last := h.walk(list+"?limit=1", "id")
		require.Equal(t, all, walked)
		require.Equal(t, all, h.back(last, "id"))

		for query, want := range map[string][]string{
			"":                                  all,
			"?id=T-1001&id=T-2001":              {"T-2001", "T-1001"},
			"?id=T-1001,T-2001&status=accepted": {"T-2001", "T-1001"},
			"?status=pending&status=refunded":   {"T-3001"},
			"?status=pending,accepted&id=T-9":   {},
			"?status=dancing":                   {},
		} {
			require.Equal(t, want, column(t, h.get(list+"/-/search"+query), "id"), query)
		}

		found := h.post(list+"/-/search?limit=1", `{"id":["T-1001","T-3001","T-9"],"status":["accepted","pending"]}`)
		require.Equal(t, []string{"T-3001"}, column(t, found, "id"))
		require.Equal(t, []string{"T-1001"}, column(t, h.get(found.json(t)["next"].(string)), "id"), "the link is that of the search by GET")
		require.Equal(t, all, column(t, h.form(list+"/-/search", ""), "id"))
		require.Equal(t, []string{"T-3001"}, column(t, h.form(list+"/-/search", "id[]=T-3001&status[]=pending"), "id"))
		require.Equal(t, []string{"status[0]"}, refused(t, h.post(list+"/-/search", `{"status":["dancing"]}`), http.StatusBadRequest, 190010).fields())
		h.told(`{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-1001"}}`)
		require.Equal(t, "refunded", succeeded(t, h.get(list+"/T-1001"))["status"])
	})
}

// breakdown words what moved points for a purchase.
func breakdown(transaction map[string]any) (moves []string) {
	for _, m := range transaction["breakdown"].([]any) {
		move := m.(map[string]any)
		moves = append(moves, fmt.Sprint(move["action"], " ", move["points"]))
	}
	return moves
}

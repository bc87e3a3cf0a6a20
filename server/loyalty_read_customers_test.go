package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// bracketQuery writes a query in brackets with what a URL has to escape.
func bracketQuery(text string) string {
	var parts []string
	for pair := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(pair, "=")
		parts = append(parts, url.QueryEscape(name)+"="+url.QueryEscape(value))
	}
	return strings.Join(parts, "&")
}

// spec: read.filter, read.filter.combine, read.date.invalid, error.read-dates, read.sort, read.sort.ties
func TestReadCustomers(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		today, tomorrow := days(t)
		h := openOn(t, url, patient)
		for i := range 7 {
			h.enrol(fmt.Sprint("m", i))
			time.Sleep(2 * time.Millisecond) // created one after another
		}

		h.happens("m1", "suspend", "{}")
		h.happens("m4", "suspend", "{}")
		h.happens("m2", "opt_out", "{}")
		h.does("/customers/m3/merge", `{"target":"m0"}`)
		h.happens("walk-in", "subscribe", `{"handler":"walk"}`)
		created := func(id string) string { return succeeded(t, h.get("/v1/customers/"+id))["created_at"].(string) }
		fourth := created("m4")
		gone := column(t, h.get("/customers?status=opted_out"), "id")[0]
		all := "m0 m1 m3 m4 m5 m6 walk-in" // who left is asked for by status only

		read := func(query string) string {
			t.Helper()
			return strings.Join(column(t, h.get("/v1/customers?"+bracketQuery(query)), "id"), " ")
		}

		for query, want := range map[string]string{
			"limit=1000":                                                                            all,
			"filter[status][eq]=suspended":                                                          "m1 m4",
			"filter[status][ne]=active":                                                             "m1 " + gone + " m3 m4 walk-in",
			"filter[status][in]=suspended,inactive":                                                 "m1 m4 walk-in",
			"filter[status][in][]=suspended&filter[status][in][]=merged":                            "m1 m3 m4",
			"filter[status][nin]=active,merged,opted_out":                                           "m1 m4 walk-in",
			"filter[status][in]=active&filter[status][ne]=active":                                   "",
			"filter[created_at][eq]=" + fourth:                                                      "m4",
			"filter[created_at][ne]=" + fourth:                                                      "m0 m1 m3 m5 m6 walk-in",
			"filter[created_at][gt]=" + fourth:                                                      "m5 m6 walk-in",
			"filter[created_at][gte]=" + fourth:                                                     "m4 m5 m6 walk-in",
			"filter[created_at][lt]=" + fourth:                                                      "m0 m1 m3",
			"filter[created_at][lte]=" + fourth:                                                     "m0 m1 m3 m4",
			"filter[created_at][in]=" + fourth + ",2020-01-01":                                      "m4",
			"filter[created_at][nin]=" + fourth:                                                     "m0 m1 m3 m5 m6 walk-in",
			"filter[created_at][gte]=" + today:                                                      all,
			"filter[created_at][gte]=" + tomorrow:                                                   "",
			"filter[created_at][eq]=" + today:                                                       "",
			"filter[status][eq]=suspended&filter[created_at][gte]=" + fourth:                        "m4",
			"sort[0][field]=created_at":                                                             all,
			"sort[0][field]=created_at&sort[0][direction]=desc":                                     "walk-in m6 m5 m4 m3 m1 m0",
			"sort[0][field]=status":                                                                 "m0 m5 m6 walk-in m3 m1 m4",
			"sort[0][field]=status&sort[0][direction]=desc":                                         "m4 m1 m3 walk-in m6 m5 m0",
			"sort[0][field]=status&sort[1][field]=created_at&sort[1][direction]=desc":               "m6 m5 m0 walk-in m3 m4 m1",
			"sort[0][field]=created_at&sort[1][field]=status&sort[1][direction]=desc":               all,
			"sort[0][field]=status&filter[status][in]=suspended,active":                             "m0 m5 m6 m1 m4",
			"filter[status][in]=suspended,active&sort[0][field]=created_at&sort[0][direction]=desc": "m6 m5 m4 m1 m0",
		} {
			require.Equal(t, want, read(query), query)
			require.Equal(t, want, strings.Join(h.walkBoth("/v1/customers?limit=2&"+bracketQuery(strings.TrimPrefix(query, "limit=1000")), "id"), " "), query)
		}

		for query, field := range map[string]string{
			"filter[status][gt]=active":                   "filter[status][gt]",
			"filter[status][eq]=alive":                    "filter[status][eq]",
			"filter[score][eq]=1":                         "filter[score][eq]",
			"filter[created_at][gte]=2023-02-30":          "filter[created_at][gte]",
			"sort[0][field]=score":                        "sort[0][field]",
			"sort[0][field]=status&sort[0][direction]=up": "sort[0][direction]",
		} {
			a := h.get("/v1/customers?" + bracketQuery(query))
			require.Equal(t, http.StatusUnprocessableEntity, a.status, "%s: %s", query, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), query)
		}

		refused(t, h.get("/v1/customers?status=active"), http.StatusBadRequest, 190069)
	})
}

func TestReadCustomer(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("member-1001")
		h.enrol("member-1002")
		h.happens("member-1001", "profile", `{"first_name":"Sample","external_ids":{"crm":"000417"},"cf_shoe_size":38}`)
		h.happens("member-1001", "point_add", `{"points":40}`)
		require.Equal(t, data(t, h.get(member)), data(t, h.get("/v1"+member)), "the record of the Customers API")
		require.Equal(t, "member-1001 40 Sample", fmt.Sprint(succeeded(t, h.get("/v1/customers/crm:000417"))["id"], " ",
			succeeded(t, h.get("/v1"+member))["spendable"], " ", succeeded(t, h.get("/v1"+member))["first_name"]))
		require.Equal(t, []string{"Sample", "<nil>"}, column(t, h.get("/v1/customers"), "first_name"))
		h.does(member+"/merge", `{"target":"member-1002"}`)
		require.Equal(t, "member-1002", succeeded(t, h.get("/v1"+member))["id"])
		h.happens("member-1002", "opt_out", "{}")
		require.NotContains(t, h.get("/v1/customers").body, "shop.test")
		refused(t, h.get("/v1/customers/nobody"), http.StatusNotFound, 160212)
	})
}

// spec: read.filter, read.sort
func TestReadCoupons(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		today, tomorrow := days(t)
		h := wallet(t, url)
		const list = "/v1" + member + "/coupons"
		read := func(query string) []string {
			t.Helper()
			return column(t, h.get(list+"?"+bracketQuery(query)), "code")
		}

		used := func(code string) string { return succeeded(t, h.get("/coupons/"+code))["redeemed_at"].(string) }
		for query, want := range map[string]string{
			"limit=10":                                                                            "A10 BAD GIFT OLD S-1 SHIP",
			"filter[status][eq]=claimed":                                                          "S-1 SHIP",
			"filter[status][ne]=claimed":                                                          "A10 BAD GIFT OLD",
			"filter[status][in]=expired,redeemed":                                                 "A10 OLD",
			"filter[status][nin]=expired,redeemed":                                                "BAD GIFT S-1 SHIP",
			"filter[status][eq]=created":                                                          "",
			"filter[claimed_at][gte]=" + today:                                                    "A10 BAD GIFT OLD S-1 SHIP",
			"filter[claimed_at][gt]=" + tomorrow:                                                  "",
			"filter[claimed_at][lte]=" + tomorrow:                                                 "A10 BAD GIFT OLD S-1 SHIP",
			"filter[claimed_at][lt]=" + today:                                                     "",
			"filter[claimed_at][eq]=" + today + "T00:00:00":                                       "",
			"filter[claimed_at][ne]=" + today:                                                     "A10 BAD GIFT OLD S-1 SHIP",
			"filter[claimed_at][in]=" + today:                                                     "",
			"filter[claimed_at][nin]=" + today:                                                    "A10 BAD GIFT OLD S-1 SHIP",
			"filter[redeemed_at][eq]=" + used("A10"):                                              "A10",
			"filter[redeemed_at][ne]=" + used("A10"):                                              "BAD GIFT OLD S-1 SHIP",
			"filter[redeemed_at][in]=" + used("A10") + "," + used("GIFT"):                         "A10 GIFT",
			"filter[redeemed_at][nin]=" + used("A10"):                                             "BAD GIFT OLD S-1 SHIP",
			"filter[redeemed_at][gte]=" + today:                                                   "A10 GIFT",
			"filter[redeemed_at][lte]=" + tomorrow:                                                "A10 GIFT",
			"filter[expiration_date][eq]=2126-06-30":                                              "", // midnight, and the coupon is good until the day's end
			"filter[expiration_date][gte]=2126-06-30&filter[expiration_date][lt]=2126-07-01":      "A10",
			"filter[expiration_date][ne]=2126-06-30":                                              "A10 BAD GIFT OLD S-1 SHIP",
			"filter[expiration_date][gt]=2126-06-29T23:59:59":                                     "A10",
			"filter[expiration_date][gt]=2126-06-30T01:00:00+02:00":                               "A10",
			"filter[expiration_date][gt]=2126-07-01T02:00:00+02:00":                               "",
			"filter[expiration_date][gte]=2020-01-01":                                             "A10 OLD",
			"filter[expiration_date][lt]=" + today:                                                "OLD",
			"filter[expiration_date][lte]=2020-01-02":                                             "OLD",
			"filter[expiration_date][in]=2126-06-30,2020-01-01":                                   "",
			"filter[expiration_date][nin][]=2126-06-30&filter[expiration_date][nin][]=2020-01-01": "A10 BAD GIFT OLD S-1 SHIP",
		} {
			require.Equal(t, want, sortedOf(t, h.get(list+"?"+bracketQuery(query)), "code"), query)
		}

		require.Equal(t, column(t, h.get(member+"/coupons"), "code"), read("limit=10"), "what they got last first")
		byExpiry := read("sort[0][field]=expiration_date&sort[1][field]=status")
		require.Equal(t, []string{"OLD", "A10"}, byExpiry[:2], "what never expires comes last")
		require.Equal(t, []string{"BAD", "GIFT"}, byExpiry[4:], "equal ones by their status")
		require.Equal(t, []string{"A10", "OLD"}, read("sort[0][field]=expiration_date&sort[0][direction]=desc")[:2])
		require.Equal(t, []string{"A10", "GIFT"}, read("sort[0][field]=redeemed_at")[:2])
		require.Equal(t, []string{"GIFT", "A10"}, read("sort[0][field]=redeemed_at&sort[0][direction]=desc")[:2])
		byStatus := read("sort[0][field]=status&sort[1][field]=claimed_at&sort[1][direction]=desc")
		require.Equal(t, []string{"SHIP", "S-1", "OLD", "BAD", "GIFT", "A10"}, byStatus)
		require.Equal(t, byStatus, h.walkBoth(list+"?limit=2&"+bracketQuery("sort[0][field]=status&sort[1][field]=claimed_at&sort[1][direction]=desc"), "code"))
		require.Equal(t, read("limit=10"), h.walkBoth(list+"?limit=4", "code"))

		one := h.get(list + "?" + bracketQuery("filter[status][eq]=redeemed")).json(t)["data"].([]any)[0].(map[string]any)
		require.Equal(t, "2126-06-30T23:59:59.999Z map[id:member-1001] EUR", fmt.Sprint(one["expiration_date"], " ", one["customer"], " ", one["currency"]))
		require.NotContains(t, one, "expires_at")
		for query, field := range map[string]string{
			"filter[expires_at][eq]=2026-01-01": "filter[expires_at][eq]", "filter[claimed_at][eq]=2023-02-30": "filter[claimed_at][eq]",
			"filter[status][like]=x": "filter[status][like]", "sort[0][field]=code": "sort[0][field]",
		} {
			a := h.get(list + "?" + bracketQuery(query))
			require.Equal(t, http.StatusUnprocessableEntity, a.status, "%s: %s", query, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), query)
		}

		h.does("/customers/member-1002/merge", `{"target":"member-1001"}`)
		require.Contains(t, column(t, h.get("/v1/customers/member-1002/coupons?"+bracketQuery("sort[0][field]=status")), "code"), "THEIRS")
		refused(t, h.get("/v1/customers/nobody/coupons"), http.StatusNotFound, 160212)
		h.does("/admin/modules/coupons", `{"enabled":false}`)
		refused(t, h.get(list), http.StatusNotFound, 160600)
		refused(t, h.get("/coupons/-/usage"), http.StatusNotFound, 160600)
		refused(t, h.get("/coupon-pools/spring"), http.StatusNotFound, 160600)
	})
}

// Customers of this API are those of the Customers API, with who referred them; a referrer who left is not named.
func TestReadCustomersReferrer(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.does("/admin/modules/friend_referral", `{"enabled":true}`)
		h.enrol("ann")
		h.happens("ben", "opt_in", `{"email":"ben@shop.test","referrer":"ann"}`)
		require.Equal(t, "ann", succeeded(t, h.get("/v1/customers/ben"))["referrer"])
		require.Contains(t, column(t, h.get("/v1/customers"), "referrer"), "ann")
		h.happens("ann", "opt_out", "{}")
		require.NotContains(t, succeeded(t, h.get("/v1/customers/ben")), "referrer")
	})
}

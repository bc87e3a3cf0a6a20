package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// question writes a query of the bracket grammar, name=value name=value, encoded.
func question(text string) string {
	var parts []string
	for p := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(p, "=")
		parts = append(parts, url.QueryEscape(name)+"="+url.QueryEscape(value))
	}
	return "?" + strings.Join(parts, "&")
}

// spec: read.filter, read.filter.combine, read.date.date, read.date.local, read.date.utc, read.date.offset, read.sort, read.sort.ties, service.api.loyalty-read
func TestLoyaltyRead(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, u string) {
		today, _ := days(t)
		h := openOn(t, u, patient)
		for _, c := range []string{"member-1001", "member-1002"} {
			h.enrol(c)
		}

		h.told(
			`{"customer":"member-1001","action":"visit","data":{"url":"https://shop.test/a","effective_timestamp":"2026-03-01T00:00:00Z"}}`,
			`{"customer":"member-1001","action":"point_add","data":{"points":500,"effective_timestamp":"2026-03-01T09:30:00Z"}}`,
			`{"customer":"member-1001","action":"point_add","data":{"points":70,"effective_timestamp":"2026-03-01T09:30:00Z"}}`,
			`{"customer":"member-1001","action":"point_sub","data":{"points":20}}`,
			bought("member-1001", "T-1", ""), bought("member-1001", "T-2", `,"points_burned":40`), bought("member-1002", "T-3", ""),
			`{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-1"}}`,
		)

		require.Equal(t, http.StatusOK, h.post("/customers/member-1002/merge", `{"target":"member-1001"}`).status)
		require.Equal(t, http.StatusOK, h.post("/admin/modules/checkout_accept", `{"enabled":true}`).status)
		h.told(bought("member-1001", "T-4", `,"auto_accept":"2126-03-20T00:00:00+02:00"`))
		const events, transactions = "/v1/customers/member-1001/events", "/v1/customers/member-1001/transactions"
		early := "filter[date][lt]=" + today + " "

		for query, want := range map[string][]string{
			early:                                   {"point_add", "point_add", "visit"},
			early + "filter[action][eq]=visit":      {"visit"},
			early + "filter[action][ne]=visit":      {"point_add", "point_add"},
			early + "filter[action][in]=visit,none": {"visit"},
			early + "filter[action][in][]=visit filter[action][in][]=none":        {"visit"},
			early + "filter[action][in][0]=visit filter[action][in][1]=point_add": {"point_add", "point_add", "visit"},
			early + "filter[action][nin]=visit":                                   {"point_add", "point_add"},
			early + "filter[points][eq]=0":                                        {"visit"},
			early + "filter[points][ne]=0":                                        {"point_add", "point_add"},
			early + "filter[points][gt]=70":                                       {"point_add"},
			early + "filter[points][gte]=70":                                      {"point_add", "point_add"},
			early + "filter[points][lt]=70":                                       {"visit"},
			early + "filter[points][lte]=70":                                      {"point_add", "visit"},
			early + "filter[points][in]=70,500,9":                                 {"point_add", "point_add"},
			early + "filter[points][nin]=70,500":                                  {"visit"},
			"filter[points][eq]=-20":                                              {"point_sub"},
			"filter[date][eq]=2026-03-01":                                         {"visit"},
			"filter[date][eq]=2026-03-01T09:30:00":                                {"point_add", "point_add"},
			"filter[date][eq]=2026-03-01T09:30:00Z":                               {"point_add", "point_add"},
			"filter[date][eq]=2026-03-01T11:30:00+02:00":                          {"point_add", "point_add"},
			"filter[date][eq]=2026-03-01T04:30:00.000-05:00":                      {"point_add", "point_add"},
			"filter[date][lte]=2026-03-01":                                        {"visit"},
			"filter[date][gt]=2026-03-01 " + early:                                {"point_add", "point_add"},
			"filter[date][gte]=2026-03-01 " + early:                               {"point_add", "point_add", "visit"},
			"filter[date][in]=2026-03-01,2026-03-01T09:30:00Z":                    {"point_add", "point_add", "visit"},
			"filter[date][nin]=2026-03-01,2026-03-01T09:30:00Z " + early:          {},
			"filter[date][ne]=2026-03-01 " + early:                                {"point_add", "point_add"},
			"filter[expdate][gte]=2000-01-01":                                     {},
			"filter[expdate][ne]=2000-01-01 " + early:                             {"point_add", "point_add", "visit"},
			early + "sort[0][field]=action":                                       {"point_add", "point_add", "visit"},
			early + "sort[0][field]=action sort[0][direction]=desc":               {"visit", "point_add", "point_add"},
			early + "sort[0][field]=date":                                         {"visit", "point_add", "point_add"},
			early + "sort[5][field]=points sort[5][direction]=asc sort[2][field]=date sort[2][direction]=desc": {"point_add", "point_add", "visit"},
		} {
			require.Equal(t, want, column(t, h.get(events+question(query)), "action"), query)
		}

		sorted := func(query string) []string { return column(t, h.get(events+question(early+query)), "points") }
		require.Equal(t, []string{"70", "500", "0"}, sorted("sort[0][field]=date sort[0][direction]=desc sort[1][field]=points"))
		require.Equal(t, []string{"0", "500", "70"}, sorted("sort[1][field]=points sort[1][direction]=desc sort[0][field]=date"))
		require.Equal(t, []string{"500", "70", "0"}, sorted("sort[0][field]=points sort[0][direction]=desc"))

		all := []string{"T-4", "T-3", "T-2", "T-1"}
		for query, want := range map[string][]string{
			"":                                                    all,
			"filter[status][eq]=pending":                          {"T-4"},
			"filter[status][ne]=accepted":                         {"T-4", "T-1"},
			"filter[status][in]=refunded,pending":                 {"T-4", "T-1"},
			"filter[status][nin][]=accepted":                      {"T-4", "T-1"},
			"filter[checkout_date][gte]=" + today:                 all,
			"filter[checkout_date][lt]=" + today:                  {},
			"filter[auto_accept][gt]=2126-03-19":                  {"T-4"},
			"filter[auto_accept][eq]=2126-03-19T22:00:00Z":        {"T-4"},
			"filter[auto_accept][ne]=2126-03-19":                  all,
			"filter[points_rewarded][gte]=1":                      {"T-3", "T-2", "T-1"},
			"filter[earned][eq]=0 filter[points_rewarded][eq]=99": {"T-1"},
			"filter[burned][gt]=0":                                {"T-2"},
			"filter[burned][lte]=40 filter[earned][gt]=0 filter[status][eq]=accepted":                                 {"T-3", "T-2"},
			"sort[0][field]=status sort[1][field]=burned sort[1][direction]=desc":                                     {"T-2", "T-3", "T-4", "T-1"},
			"sort[0][field]=auto_accept sort[1][field]=checkout_date":                                                 {"T-4", "T-1", "T-2", "T-3"},
			"sort[0][field]=auto_accept sort[0][direction]=desc sort[1][field]=checkout_date sort[1][direction]=desc": all,
		} {
			require.Equal(t, want, column(t, h.get(transactions+question(query)), "id"), query)
		}

		require.Equal(t, all, column(t, h.get("/v1/customers/member-1002/transactions"), "id"), "a merged one is the other")
		for _, target := range []string{events, transactions} {
			for _, query := range []string{"limit=2", "limit=2 sort[0][field]=" + map[string]string{events: "date", transactions: "earned"}[target],
				"limit=3 sort[0][field]=" + map[string]string{events: "points", transactions: "status"}[target]} {
				whole := column(t, h.get(target+question(strings.Replace(query, "limit=", "limit=10", 1))), "id")
				walked, last := h.walk(target+question(query), "id")
				require.Equal(t, whole, walked, query)
				require.Equal(t, whole, h.back(last, "id"), query)
			}
		}

		refused(t, h.get("/v1/customers/nobody/events"), http.StatusNotFound, 160212)
		refused(t, h.get(events+"?limit=0"), http.StatusBadRequest, 190070)
		refused(t, h.get(events+question("filter[points][eq]=1 filter[points][eq]=2")), http.StatusBadRequest, 190070)
		refused(t, h.get(events+"?action=visit"), http.StatusBadRequest, 190069)
	})
}

// TestLoyaltyReadRefusals: what the endpoint does not declare, and what cannot be
// read, is 422 and names the parameter.
func TestLoyaltyReadRefusals(t *testing.T) {
	h := open(t, patient)
	h.enrol("member-1001")
	const events, transactions = "/v1/customers/member-1001/events", "/v1/customers/member-1001/transactions"
	for _, c := range []struct {
		target, name, value string
		code                int
	}{
		{events, "filter[colour][eq]", "red", 190200},
		{events, "filter[status][eq]", "accepted", 190200},
		{transactions, "filter[date][eq]", "2026-01-01", 190200},
		{events, "filter[points][like]", "1", 190201},
		{events, "filter[action][gt]", "a", 190201},
		{transactions, "filter[status][lt]", "pending", 190201},
		{events, "filter[date][eq]", "2026-02-30", 190202},
		{events, "filter[date][gte]", "2025-02-29T00:00:00Z", 190202},
		{events, "filter[date][lt]", "2026-13-01", 190202},
		{events, "filter[date][lt]", "2026-01-01T24:00:00", 190202},
		{events, "filter[date][lt]", "2026-01-01 00:00:00", 190202},
		{events, "filter[date][lt]", "yesterday", 190202},
		{events, "filter[date][lt]", "", 190202},
		{events, "filter[date][in]", "2026-01-01,2026-02-30", 190202},
		{events, "filter[date][in][]", "2026-02-30", 190202},
		{events, "filter[points][eq]", "many", 190202},
		{events, "filter[points][eq]", "1.5", 190202},
		{events, "filter[points][eq]", "9223372036854775808", 190202},
		{events, "filter[expdate][eq]", "2026-06-31", 190202},
		{transactions, "filter[status][eq]", "dancing", 190202},
		{transactions, "filter[checkout_date][nin][3]", "2026-00-10", 190202},
		{events, "filter", "x", 190203},
		{events, "filter[points]", "1", 190203},
		{events, "filter[points][eq", "1", 190203},
		{events, "filter[points]eq]", "1", 190203},
		{events, "filter[points][eq][]", "1", 190203},
		{events, "filter[points][in][x]", "1", 190203},
		{events, "filter[points][in][0][1]", "1", 190203},
		{events, "sort", "date", 190203},
		{events, "sort[field]", "date", 190203},
		{events, "sort[-1][field]", "date", 190203},
		{events, "sort[0][colour]", "date", 190203},
		{events, "sort[0][field]", "colour", 190204},
		{events, "sort[0][field]", "", 190340},
		{transactions, "sort[0][field]", "id", 190204},
		{events, "sort[0][direction]", "asc", 190340},
		{events, "filter[][eq]", "x", 190203},
		{events, "sort[0][direction]", "up", 190205},
	} {
		a := h.get(c.target + "?" + url.QueryEscape(c.name) + "=" + url.QueryEscape(c.value))
		f := refused(t, a, http.StatusUnprocessableEntity, c.code)
		require.Equal(t, "RuleException", f.Type)
		require.Equal(t, []string{c.name}, f.fields())
	}

	twice := refused(t, h.get(events+question("sort[0][field]=date sort[3][field]=date")), http.StatusUnprocessableEntity, 190204)
	require.Equal(t, []string{"sort[3][field]"}, twice.fields())
	inHungarian := h.get(events+question("filter[date][eq]=2026-02-30"), "Accept-language", "hu").fault(t)
	require.NotEqual(t, h.get(events+question("filter[date][eq]=2026-02-30")).fault(t).Message, inHungarian.Message)
}

package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// names lists the ids of a page.
func names(t *testing.T, a answer) []string {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	list := []string{}
	for _, c := range a.json(t)["data"].([]any) {
		list = append(list, c.(map[string]any)["id"].(string))
	}
	return list
}

// spec: endpoint.pages:/customers, page.links, list.next, list.previous
func TestListWalk(t *testing.T) {
	h := open(t)
	for i := range 7 {
		h.enrol(fmt.Sprintf("c%d", i))
	}

	want := names(t, h.get("/customers"))
	require.ElementsMatch(t, []string{"c0", "c1", "c2", "c3", "c4", "c5", "c6"}, want)
	require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"off","action":"subscribe","data":{"handler":"off"}}`).status)
	var forward []string
	a := h.get("/customers?status=active&limit=3&fields=id")
	require.Nil(t, a.json(t)["previous"])
	for forward = names(t, a); a.json(t)["next"] != nil; forward = append(forward, names(t, a)...) {
		a = h.get(a.json(t)["next"].(string))
	}

	require.Equal(t, want, forward)
	h.enrol("late")
	backward := names(t, a)
	for a.json(t)["previous"] != nil {
		a = h.get(a.json(t)["previous"].(string))
		backward = append(names(t, a), backward...)
	}

	require.Equal(t, want, backward)

	require.Equal(t, want[2:4], names(t, h.get("/customers?status=active&limit=2&offset=2")))
	require.Equal(t, want[:2], names(t, h.get(h.get("/customers?status=active&limit=2&offset=2").json(t)["previous"].(string))))
	stolen, err := url.Parse(h.get("/customers?status=active&limit=3").json(t)["next"].(string))
	require.NoError(t, err)
	a = h.get("/customers?status=inactive&cursor=" + stolen.Query().Get("cursor"))
	require.Equal(t, http.StatusBadRequest, a.status)
	require.Equal(t, []string{"cursor"}, a.fault(t).fields(), "a cursor belongs to its filters")
	empty := h.get("/customers?offset=500&limit=3").json(t)
	require.Empty(t, empty["data"])
	require.Nil(t, empty["next"])
}

// spec: operator.eq, operator.gt, operator.gte, operator.in, operator.lt, operator.lte, operator.ne, operator.nin, operator.ranges
func TestCustomerFilters(t *testing.T) {
	today, tomorrow := days(t)
	h := open(t)
	h.enrol("ada")
	h.enrol("bela")
	require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"ada","action":"point_add","data":{"points":500}}`).status)
	require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"bela","action":"profile","data":{"language":"hun","handler":"Béla"}}`).status)
	both, nobody := []string{"ada", "bela"}, []string{}

	for query, want := range map[string][]string{
		"":                                  both,
		"score=500":                         {"ada"},
		"score.gte=1&score.lt=501":          {"ada"},
		"score.ne=500":                      {"bela"},
		"score.in=0,500":                    both,
		"spendable.nin=500":                 {"bela"},
		"language=hun":                      {"bela"},
		"language.ne=hun":                   {"ada"},
		"status=active":                     both,
		"status.in=inactive,suspended":      nobody,
		"created_at=" + today:               both,
		"created_at.gte=" + today:           both,
		"created_at.gt=" + today:            nobody,
		"created_at.lt=" + tomorrow:         both,
		"created_at.lte=" + today:           both,
		"created_at=2023-02-30":             nobody,
		"score=many":                        nobody,
		"status=dancing":                    nobody,
		"score.gt=":                         nobody,
		"search=bél":                        {"bela"},
		"search=ADA":                        {"ada"},
		"search=zzz":                        nobody,
		"search=  ":                         nobody,
		"score.gte=0&created_at=2023-02-30": nobody,
	} {
		require.Equal(t, want, names(t, h.get("/customers?"+url.PathEscape(query))), query)
		count := h.get("/customers/-/count?" + url.PathEscape(query)).json(t)["data"].(map[string]any)["count"]
		require.Equal(t, fmt.Sprint(len(want)), fmt.Sprint(count), query)
	}
}

func TestGetCustomer(t *testing.T) {
	h := open(t)
	require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"ada@shop.test/7","action":"opt_in","data":{"email":"ada@shop.test"}}`).status)
	require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"ada@shop.test/7","action":"profile","data":{
		"first_name":"Ada","labels":["vip"],"external_ids":{"crm":"000417"},"cf_size":38.50,"score":1,"shoe":"x"}}`).status)
	a := h.sees("/customers/" + url.PathEscape("ada@shop.test/7"))
	c := a.json(t)["data"].(map[string]any)
	require.Equal(t, "ada@shop.test/7", c["id"])
	require.Equal(t, "Ada", c["first_name"])
	require.Equal(t, "0", fmt.Sprint(c["score"]), "an attribute cannot stand in for a figure")
	require.Contains(t, a.body, `"cf_size":38.50`)
	require.Contains(t, c, "shoe")
	require.Equal(t, c, h.get("/customers/crm:000417").json(t)["data"])

	require.Equal(t, map[string]any{"id": "ada@shop.test/7", "status": "active", "cf_size": c["cf_size"]},
		h.get("/customers/crm:000417?fields=status,%20cf_size").json(t)["data"])
	require.Equal(t, http.StatusNotFound, h.get("/customers/nobody").status)
	require.Equal(t, 160212, h.get("/customers/-").fault(t).Code)
}

// spec: service.api.customers, state.customer.opt_out
func TestForgottenCustomer(t *testing.T) {
	h := open(t)
	h.enrol("ada.kovacs")
	require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"ada.kovacs","action":"opt_out","data":{}}`).status)
	a := h.get("/customers?status=opted_out")
	require.Len(t, a.json(t)["data"], 1)
	require.NotContains(t, a.body, "kovacs")
	require.NotContains(t, a.body, "email")
}

// TestCustomersByID: customers are listed and counted by an id, also by an external one, and an unknown id finds none.
func TestCustomersByID(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, at string) {
		h := openOn(t, at)
		for _, name := range []string{"ada", "bob", "cleo", "dora"} {
			h.enrol(name)
		}

		done(h, "/events", `{"customer":"bob","action":"profile","data":{"external_ids":{"crm":"000417"},"email":"bob@shop.test"}}`)
		done(h, "/events", `{"customer":"cleo","action":"suspend","data":{}}`)
		require.Equal(t, http.StatusOK, h.post("/customers/dora/merge", `{"target":"ada"}`).status)
		for query, want := range map[string][]string{
			"id=ada": {"ada"}, "id.eq=ada": {"ada"}, "id=crm:000417": {"bob"}, "id.in=cleo,crm:000417,nobody": {"bob", "cleo"}, "id=dora": {"ada"},
			"id=nobody": {}, "id=ada&status=suspended": {}, "id=cleo&status=suspended": {"cleo"}, "id.in=ada,bob&email=bob@shop.test": {"bob"},
			"id.in=cleo,bob&sort=email": {"bob", "cleo"}, "id.in=ada,cleo&limit=1&offset=1": {"cleo"},
			"id.in=ada,bob&created_at.gte=0001-01-01": {"ada", "bob"},
		} {
			require.Equal(t, want, names(t, h.get("/customers?"+query)), query)
			if !strings.Contains(query, "sort") && !strings.Contains(query, "limit") {
				require.Equal(t, fmt.Sprint(len(want)), fmt.Sprint(data(t, h.get("/customers/-/count?"+query))["count"]), query)
			}
		}

		require.Equal(t, http.StatusBadRequest, h.get("/customers?id.ne=ada").status)
		require.Equal(t, http.StatusBadRequest, h.get("/entities/core/customer?id=ada").status)
	})
}

// TestPointsByActivityAsOf: where points live by activity, a statement as of an instant has them expire by the activity
// until then, and not by what the customer did since.
func TestPointsByActivityAsOf(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("ada")
		require.Equal(t, http.StatusOK, h.post("/admin/modules/points_economy", `{"config":{"expiry":{"policy":"last_activity","days":10}}}`).status)
		expires := func(query string) string {
			p := data(t, h.get("/customers/ada/points"+query))
			at := p["lots"].([]any)[0].(map[string]any)["expires_at"].(string)
			require.Equal(t, at, p["expiring"].([]any)[0].(map[string]any)["expires_at"])
			return at
		}

		later := func() string {
			time.Sleep(5 * time.Millisecond) // instants are kept in milliseconds
			at := time.Now().UTC().Format(time.RFC3339Nano)
			time.Sleep(5 * time.Millisecond)
			return at
		}

		h.does("/events", `{"customer":"ada","action":"point_add","data":{"points":100}}`)
		first, before := expires(""), later()
		h.does("/events", `{"customer":"ada","action":"visit","data":{"url":"https://shop.test/"}}`)
		second, between := expires(""), later()
		h.does("/events", `{"customer":"ada","action":"visit","data":{"url":"https://shop.test/"}}`)
		require.NotContains(t, []string{first, second}, expires(""), "every activity moves it")
		require.Equal(t, first, expires("?as_of="+before))
		require.Equal(t, second, expires("?as_of="+between))
		require.Equal(t, expires(""), expires("?as_of="+later()))
	})
}

func TestCustomerPoints(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	require.Equal(t, http.StatusOK, h.post("/admin/modules/points_economy", `{"config":{"expiry":{"policy":"rolling","days":10}}}`).status)
	for _, points := range []int{100, 50} {
		body := fmt.Sprintf(`{"customer":"ada","action":"point_add","data":{"points":%d}}`, points)
		require.Equal(t, http.StatusOK, h.post("/events", body).status)
	}

	before := time.Now().UTC().Format(time.RFC3339Nano)
	time.Sleep(2 * time.Millisecond) // instants are kept in milliseconds
	require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"ada","action":"point_spend","data":{"points":120}}`).status)
	a := h.sees("/customers/ada/points")
	p := a.json(t)["data"].(map[string]any)
	require.Equal(t, "150 120 30 0", fmt.Sprintf("%v %v %v %v", p["score"], p["spent"], p["spendable"], p["debt"]))
	require.Len(t, p["lots"], 1)
	require.Len(t, p["expiring"], 1)
	require.Equal(t, "30", fmt.Sprint(p["expiring"].([]any)[0].(map[string]any)["points"]))
	then := h.get("/customers/ada/points?as_of=" + url.QueryEscape(before)).json(t)["data"].(map[string]any)
	require.Equal(t, "150 0 150", fmt.Sprintf("%v %v %v", then["score"], then["spent"], then["spendable"]))
	require.Len(t, then["lots"], 2)
	used := func(query string) (rows []string) {
		for _, l := range data(t, h.get("/customers/ada/points?used_up=true"+query))["lots"].([]any) {
			l := l.(map[string]any)
			rows = append(rows, fmt.Sprint(l["points"], " ", l["remaining"], " ", l["spent"], " ", l["expired"]))
		}
		return rows
	}

	require.Equal(t, []string{"50 30 20 0", "100 0 100 0"}, used(""), "what is used up comes behind what is left")
	require.Len(t, used("&as_of="+url.QueryEscape(before)), 2, "then nothing was")
	require.NotContains(t, used("&as_of="+url.QueryEscape(before)), "100 0 100 0")
	require.Equal(t, []string{"50 30 20 0", "100 0 100 0"}, used("&as_of="+url.QueryEscape(time.Now().UTC().Format(time.RFC3339Nano))))
	require.Empty(t, used("&as_of=2020-01-01"))
	require.Equal(t, "0", fmt.Sprint(h.get("/customers/ada/points?as_of=2020-01-01").json(t)["data"].(map[string]any)["score"]))
	require.Equal(t, http.StatusNotFound, h.get("/customers/nobody/points").status)
}

// TestReadsSettleFirst: no read shows points that have expired.
func TestReadsSettleFirst(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	require.Equal(t, http.StatusOK, h.post("/admin/modules/points_economy", `{"config":{"expiry":{"policy":"rolling","days":1}}}`).status)
	earned := time.Now().Add(-24*time.Hour + 1500*time.Millisecond).UTC().Format(time.RFC3339Nano)
	h.does("/events", `{"customer":"ada","action":"point_add","data":{"points":70,"effective_timestamp":"`+earned+`"}}`)
	require.Eventually(t, func() bool {
		return fmt.Sprint(h.get("/customers/ada").json(t)["data"].(map[string]any)["expired"]) == "70"
	}, time.Minute, 100*time.Millisecond)
	c, err := h.store.Customer(context.Background(), "ada")
	require.NoError(t, err)
	require.EqualValues(t, 70, c.Figures.Expired, "and it is recorded")
}

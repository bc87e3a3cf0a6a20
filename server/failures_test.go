package server_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// failures lists what a query finds.
func (h *house) failures(query string) []map[string]any {
	h.t.Helper()
	a := h.sees("/admin/requests/errors?" + query)
	list := []map[string]any{}
	for _, f := range a.json(h.t)["data"].([]any) {
		list = append(list, f.(map[string]any))
	}
	return list
}

// TestFailedRequests: what went wrong is told, and nothing that was sent.
func TestFailedRequests(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		h := openOn(t, address)
		h.enrol("member-1001")
		bird := newCage(t)
		name, text := bird.name("path"), url.QueryEscape(bird.text("query"))
		ids := map[string]string{}
		ask := func(what string, status int, a answer) {
			require.Equal(t, status, a.status, "%s: %s", what, a.body)
			ids[what] = a.header.Get("X-Request-Id")
		}

		ask("path", 404, h.get("/customers/"+name))
		ask("query", 400, h.get("/customers?"+text+"="+text+"&limit=1"))
		ask("value", 400, h.get("/customers?limit="+text))
		ask("body", 400, h.post("/events", `{"customer":"`+name+`","action":"checkout","data":{"transaction_id":"`+name+`","total":"`+name+`","items":[{"`+name+`":"`+name+`"}]}}`))
		ask("names", 400, h.post("/events", `{"customer":"member-1001","action":"profile","data":{"external_ids":{"`+bird.email("key")+`":5},"`+bird.email("name")+`":1}}`))
		ask("rule", 422, h.post("/events", `{"customer":"member-1001","action":"point_spend","data":{"points":99}}`))
		ask("nowhere", 404, h.get("/"+name+"/"+name))
		ask("method", 405, h.post("/admin/audit", `{"`+name+`":1}`))
		ask("place", 400, h.post("/admin/configuration", `{"mode":"plan","configuration":{"entities":{"rewards/reward":{"`+name+`":{"`+name+`":"`+name+`"}}}}}`))
		ask("unsigned", 401, h.send(h.request(http.MethodGet, "/customers/"+name+"?"+text, "")))
		ask("wrong", 401, h.signed(signing.Credential{KeyID: name, Secret: bird.name("secret")}, h.request(http.MethodGet, "/customers", "")))
		once := h.post("/events", `{"customer":"member-1001","action":"point_spend","data":{"points":98}}`, "Idempotency-Key", name)
		ask("again", 422, h.post("/events", `{"customer":"member-1001","action":"point_spend","data":{"points":98}}`, "Idempotency-Key", name))
		require.Equal(t, 422, once.status)

		by := map[string]map[string]any{}
		all := h.failures("")
		require.Len(t, all, len(ids)+1)
		for what, id := range ids {
			for _, f := range all {
				if f["request_id"] == id {
					by[what] = f
				}
			}
			require.NotNil(t, by[what], what)
		}

		told := func(what string) string {
			f := by[what]
			return fmt.Sprint(f["method"], " ", f["route"], " ", f["api"], " ", f["status"], " ", f["type"], " ", f["code"], " ", f["fields"])
		}

		for what, want := range map[string]string{
			"path":     "GET /customers/{customer_id} customers 404 NotFoundException 160212 []",
			"query":    "GET /customers customers 400 BadRequestException 190069 [*]",
			"value":    "GET /customers customers 400 BadRequestException 190070 [limit]",
			"rule":     "POST /events events 422 RuleException 0 [data.points]",
			"nowhere":  "GET <nil> <nil> 404 NotFoundException 190066 []",
			"method":   "POST <nil> <nil> 405 MethodNotAllowedException 190067 []",
			"place":    "POST /admin/configuration administration 400 BadRequestException 0 [configuration.entities[*].*.title configuration.entities[*].*.type configuration.entities[*].*.*]",
			"unsigned": fmt.Sprintf("GET /customers/{customer_id} customers 401 UnauthorizedException %d [Authorization]", signing.CodeHeader),
			"wrong":    fmt.Sprintf("GET /customers customers 401 UnauthorizedException %d []", signing.CodeSignature),
			"again":    "POST /events events 422 RuleException <nil> []",
		} {
			require.Equal(t, want, told(what))
		}

		require.Contains(t, told("body"), "[data.items[0].product_id data.items[0].product_name data.items[0].product_url ", "empty properties come before all others")
		require.Contains(t, told("names"), "[data.external_ids.*.*]")
		require.Equal(t, h.key.KeyID, by["path"]["key_id"])
		require.NotContains(t, by["wrong"], "key_id", "claimed, and not proven")

		var kept bytes.Buffer
		fmt.Fprint(&kept, all)
		for _, c := range bird.all {
			require.NotContains(t, strings.ToLower(kept.String()), strings.ToLower(c.text), c.place)
		}

		require.NotContains(t, strings.ToLower(kept.String()), "kanary")
		require.NotContains(t, kept.String(), h.key.Secret)
		require.NotContains(t, kept.String(), "member-1001")

		require.Len(t, h.failures("status=422"), 3)
		require.Len(t, h.failures("status.gte=404&status.lt=405"), 2)
		require.Len(t, h.failures("code=190066"), 1)
		require.Len(t, h.failures("route="+url.QueryEscape("/customers/{customer_id}")), 2)
		require.Len(t, h.failures("api.in=customers,administration"), 6)
		require.Empty(t, h.failures("key_id=LKNOBODY"))
		require.Len(t, h.failures("key_id="+h.key.KeyID), len(ids)-1)
		require.Empty(t, h.failures("status=many"))
		require.Len(t, h.failures("since="+time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)), len(ids)+1)
		require.Empty(t, h.failures("since=2126-01-01"))

		seen := []map[string]any{}
		for next := "/admin/requests/errors?limit=5"; next != ""; {
			a := h.get(next)
			for _, f := range a.json(t)["data"].([]any) {
				seen = append(seen, f.(map[string]any))
			}
			next, _ = a.json(t)["next"].(string)
		}

		require.Equal(t, all, seen)
	})
}

// TestFailedRequestsAreForgotten: those that are too old, and all but the newest.
func TestFailedRequestsAreForgotten(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx, now := context.Background(), time.Now().UTC().Truncate(time.Millisecond)
		var all []loyalty.FailedRequest
		for i := range 250 { // two statements and a half
			at := now.Add(-time.Duration(i) * time.Second)
			all = append(all, loyalty.FailedRequest{ID: loyalty.NewID(at, loyalty.ID{}), At: at, RequestID: fmt.Sprint(i), Method: "GET", Status: 400, Code: int64(i)})
		}

		require.NoError(t, s.AddFailures(ctx, all))
		require.NoError(t, s.AddFailures(ctx, all), "again: a node that did not hear the answer")
		count := func() int {
			list, err := s.Failures(ctx, loyalty.FailureQuery{Page: loyalty.Page{Limit: 1000}})
			require.NoError(t, err)
			return len(list)
		}

		require.Equal(t, 250, count())
		require.NoError(t, s.ForgetFailures(ctx, now.Add(-199*time.Second), 1000))
		require.Equal(t, 200, count())
		require.NoError(t, s.ForgetFailures(ctx, now.Add(-199*time.Second), 50))
		require.Equal(t, 50, count())
		list, err := s.Failures(ctx, loyalty.FailureQuery{Page: loyalty.Page{Limit: 1}})
		require.NoError(t, err)
		require.Equal(t, all[0], list[0])
	})
}

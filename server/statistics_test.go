package server_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// statistic reads a statistic.
func (h *house) statistic(query string) map[string]any {
	h.t.Helper()
	a := h.sees("/admin/statistics?" + query)
	return data(h.t, a)
}

// shownSeries are series in words: name, currency, total and values.
func shownSeries(of map[string]any) string {
	var all []string
	for _, s := range of["series"].([]any) {
		s := s.(map[string]any)
		text := ""
		for _, part := range []string{"name", "currency"} {
			if s[part] != nil {
				text += fmt.Sprintf("%q ", s[part])
			}
		}
		all = append(all, text+fmt.Sprint(s["total"], " ", s["values"]))
	}
	return strings.Join(all, "; ")
}

// spec: service.api.administration
func TestStatistics(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		require.Equal(t, http.StatusOK, h.post("/admin/settings", `{"time_zone":"Europe/Budapest","currency":"EUR"}`).status)
		loc, err := time.LoadLocation("Europe/Budapest")
		require.NoError(t, err)
		today := time.Now().In(loc)
		noon := time.Date(today.Year(), today.Month(), today.Day(), 12, 0, 0, 0, loc)
		day := func(back int) string { return noon.AddDate(0, 0, -back).Format(time.DateOnly) }
		must := func(customer, action, data string) {
			t.Helper()
			h.does("/events", fmt.Sprintf(`{"customer":%q,"action":%q,"data":%s}`, customer, action, data))
		}

		late := func(back int) string {
			return fmt.Sprintf(`,"effective_timestamp":%d`, noon.AddDate(0, 0, -back).Unix())
		}
		must("member-1", "opt_in", `{"email":"member-1@shop.test"}`)
		must("member-1", "checkout", `{"transaction_id":"S-1","total":10.5,"store":"north","currency":"eur"}`)
		must("member-1", "checkout", `{"transaction_id":"S-2","total":20,"channel":"web"}`)
		must("member-1", "checkout", `{"transaction_id":"S-3","total":0.0001,"store":"south","currency":"USD"}`)
		must("member-1", "checkout", `{"transaction_id":"S-4","total":7,"store":"north"`+late(2)+`}`)
		must("member-1", "partial_refund", `{"transaction_id":"S-2","amount":5.25}`)

		range3 := "&from=" + day(2) + "&to=" + day(0)
		got := h.statistic("metric=revenue" + range3)
		require.Equal(t, `"EUR" 37.5 [7 0 30.5]; "USD" 0.0001 [0 0 0.0001]`, shownSeries(got))
		require.Equal(t, true, got["complete"])
		require.Equal(t, []any{day(2), day(1), day(0)}, got["periods"])
		require.Equal(t, "Europe/Budapest", got["time_zone"])
		require.Equal(t, `"" "EUR" 20 [0 0 20]; "north" "EUR" 17.5 [7 0 10.5]; "south" "USD" 0.0001 [0 0 0.0001]`, shownSeries(h.statistic("metric=revenue&by=store"+range3)))
		require.Equal(t, `"EUR" 5.25 [0 0 5.25]`, shownSeries(h.statistic("metric=refunds"+range3)))
		joined := strconv.Quote(today.Format("2006-01"))
		require.Equal(t, joined+` "EUR" 37.5 [7 0 30.5]; `+joined+` "USD" 0.0001 [0 0 0.0001]`, shownSeries(h.statistic("metric=revenue&by=joined"+range3)), "also what was dated back")
		require.Equal(t, joined+" 1 [0 0 1]", shownSeries(h.statistic("metric=enrolments&by=joined"+range3)))
		require.Equal(t, "4 [1 0 3]", shownSeries(h.statistic("metric=purchases"+range3)))
		require.Equal(t, `"EUR" 3 [1 0 2]; "USD" 1 [0 0 1]`, shownSeries(h.statistic("metric=purchases&by=currency"+range3)))
		require.Equal(t, "1 [0 0 1]", shownSeries(h.statistic("metric=enrolments"+range3)))
		require.Empty(t, shownSeries(h.statistic("metric=redemption_value&by=pool"+range3)))

		compared := h.statistic("metric=purchases&compare=previous&from=" + day(1) + "&to=" + day(0))
		require.Equal(t, "3 [0 3]", shownSeries(compared))
		before := compared["compare"].(map[string]any)
		require.Equal(t, "1 [0 1]", shownSeries(map[string]any{"series": before["series"]}), "%v", before)
		require.Equal(t, []any{day(3), day(2)}, before["periods"])
		month := h.statistic("metric=purchases&interval=month&from=" + day(40) + "&to=" + day(0))
		require.Contains(t, month["periods"].([]any), noon.AddDate(0, 0, 1-noon.Day()).Format(time.DateOnly))
		require.Equal(t, "4", fmt.Sprint(month["series"].([]any)[0].(map[string]any)["total"]))

		require.Equal(t, http.StatusOK, h.post("/admin/jobs/statistics/run", "").status)
		must("member-1", "point_add", `{"points":30}`)
		must("member-1", "point_spend", `{"points":5}`)
		state := h.statistic("metric=members" + range3)
		require.Equal(t, "1 [<nil> <nil> 1]", shownSeries(state))
		require.NotEmpty(t, state["photographed_at"])
		rate := h.statistic("metric=redemption_rate&from=" + day(0) + "&to=" + day(0))
		require.Equal(t, "0.166667 [0.166667]", shownSeries(rate), "5 of 30")
		require.Equal(t, "<nil> [<nil>]", shownSeries(h.statistic("metric=breakage&from="+day(9)+"&to="+day(9))), "nothing was earned")

		for _, code := range []string{"0", "0", "110003"} {
			if code == "110003" {
				must("member-1", "suspend", `{}`)
				refused(t, h.post("/events", `{"customer":"member-1","action":"point_spend","data":{"points":1}}`), http.StatusUnprocessableEntity, 110003)
				continue
			}
			require.Equal(t, http.StatusBadRequest, h.post("/events", `{"customer":"member-1","action":"point_add","data":{}}`).status)
		}

		h.does("/events/bulk", `{"events":[{"customer":"member-1","action":"point_spend","data":{"points":1}},{"customer":"member-1","action":"visit","data":{"url":"https://shop.test/"}}]}`)
		require.Equal(t, `"0" 2 [0 0 2]; "110003" 2 [0 0 2]`, shownSeries(h.statistic("metric=refused_events&by=code"+range3)))
		require.Equal(t, "4 [0 0 4]", shownSeries(h.statistic("metric=refused_events"+range3)))

		require.Equal(t, http.StatusOK, h.post("/admin/settings", `{"time_zone":"Pacific/Kiritimati"}`).status)
		moved := h.statistic("metric=purchases&from=" + day(3) + "&to=" + noon.AddDate(0, 0, 1).Format(time.DateOnly))
		require.Equal(t, "Pacific/Kiritimati", moved["time_zone"])
		require.Equal(t, "4", fmt.Sprint(moved["series"].([]any)[0].(map[string]any)["total"]), "folded anew")
		require.Equal(t, "4", fmt.Sprint(h.statistic("metric=refused_events&from=" + day(3))["series"].([]any)[0].(map[string]any)["total"]), "these cannot be")
	})
}

// TestStatisticsAreAskedFor: what cannot be read names the parameter.
func TestStatisticsAreAskedFor(t *testing.T) {
	h := open(t)
	for query, field := range map[string]string{
		"metric=weather": "metric", "metric=enrolments&by=store": "by", "metric=purchases&by=planet": "by", "metric=redemption_rate&by=store": "by",
		"metric=purchases&from=2026-02-30": "from", "metric=purchases&from=2026-02-02&to=2026-02-01": "from", "metric=purchases&from=2016-01-02&to=2026-02-01": "from",
		"metric=purchases&to=soon": "to", "metric=purchases&interval=year": "interval", "metric=purchases&compare=next": "compare",
		"metric=purchases&from=2026-02-02&to=2026-02-03&compare=2026-02-02": "compare", "metric=purchases&from=2026-02-02&to=2026-02-03&compare=2025-02-31": "compare",
	} {
		a := h.get("/admin/statistics?" + query)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", query, a.body)
		require.Contains(t, a.body, `"field":"`+field+`"`, query)
	}

	got := h.statistic("metric=purchases&by=store&interval=month&from=2024-02-01&to=2024-03-31&compare=previous")
	require.Equal(t, []any{"2024-02-01", "2024-03-01"}, got["periods"])
	require.Equal(t, []any{"2023-12-01", "2024-01-01"}, got["compare"].(map[string]any)["periods"], "whole months")
	got = h.statistic("metric=purchases&interval=week&from=2024-02-01&to=2024-02-15&compare=2024-01-03")
	require.Equal(t, []any{"2024-02-01", "2024-02-05", "2024-02-12"}, got["periods"])
	require.Equal(t, "2024-01-17", got["compare"].(map[string]any)["to"])
}

// TestStatisticsOfAnySize: sums that fit no 64 bits, and more parts than are shown.
func TestStatisticsOfAnySize(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("member-1")
		var events []string
		for i := range 1200 {
			events = append(events, fmt.Sprintf(`{"customer":"member-1","action":"checkout","data":{"transaction_id":"B-%d","total":900000000000,"store":"s-%d"}}`, i, i%130))
		}

		h.bulk(events...)
		var got map[string]any
		require.Eventually(t, func() bool { // a busy machine folds more events than a reader waits for
			got = h.statistic("metric=revenue&from=" + time.Now().UTC().AddDate(0, 0, -2).Format(time.DateOnly))
			return got["complete"] == true
		}, 2*time.Minute, 50*time.Millisecond)

		require.Equal(t, "1080000000000000", fmt.Sprint(got["series"].([]any)[0].(map[string]any)["total"]))
		got = h.statistic("metric=purchases&by=store")
		require.Len(t, got["series"], 100)
		require.Equal(t, "30", fmt.Sprint(got["left_off"]))
	})
}

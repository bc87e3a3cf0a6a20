package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestWebhookChangesHoldForWhatWaits: what waits when types or filter are changed is judged again when its turn comes. What is
// not wanted any more is skipped, with the reason, and the customer's next ones go on.
func TestWebhookChangesHoldForWhatWaits(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.enrol("member-2")
		h.numbered()
		r, c := newReceiver(t), h.courier()
		id := h.hook(r, `["event.*"]`, "")
		path := "/admin/webhooks/" + id
		r.status(http.StatusInternalServerError)
		h.add("member-1", "5")
		require.Equal(t, 200, h.post("/events", `{"customer":"member-1","action":"profile","data":{"first_name":"A"}}`).status)
		h.add("member-1", "20")
		h.add("member-2", "30")
		require.Equal(t, 201, h.post(path+"/test", `{}`).status)
		require.Equal(t, 200, h.post("/events", `{"customer":"member-2","action":"opt_out","data":{}}`).status)
		c.run() // the first of each customer, and the test, are tried
		require.Equal(t, 200, h.post(path, `{"types":["event.point_*","event.opt_out"],"filter":"event.points > 10"}`).status)
		r.status(http.StatusNoContent)
		c.pass(time.Minute)
		c.run()
		var got []any
		for _, m := range r.all() {
			got = append(got, fmt.Sprint(m.Type, " ", m.Data["change"]))
		}

		require.ElementsMatch(t, []any{"event.point_add 20", "event.point_add 30", "event.opt_out 0", "webhook.test <nil>"}, got)
		said := map[string]string{} // by what was not sent
		for _, d := range h.deliveries(id, "?state=skipped") {
			said[d["type"].(string)] = d["reason"].(string)
			log := data(t, h.get(fmt.Sprintf("%s/deliveries/%v", path, d["delivery"])))["log"].([]any)
			if d["reason"] == "types" {
				require.Empty(t, log, "to skip is no attempt")
				require.NotContains(t, d, "last_attempt_at")
			} else {
				require.Len(t, log, 1)
				require.Equal(t, json.Number("500"), d["last_status"], "what it came to stays")
			}
			require.NotContains(t, d, "next_attempt_at")
		}

		require.Equal(t, map[string]string{"event.point_add": "filter", "event.profile": "types"}, said)
		for _, d := range h.deliveries(id, "?state=sent") {
			require.NotContains(t, d, "reason")
		}

		require.Equal(t, json.Number("0"), data(t, h.get(path))["backlog"].(map[string]any)["waiting"])
	})
}

// TestWebhookFiltersHoldUntilChanged: what a filter said of a customer holds for what waits, until types or filter are
// changed; a dead letter that is sent again by hand is judged like everything else.
func TestWebhookFiltersHoldUntilChanged(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.add("member-1", "100")
		h.numbered()
		r, c := newReceiver(t), h.courier()
		id := h.hook(r, `["event.point_add"]`, `,"filter":"customer.spendable > 90"`)
		path := "/admin/webhooks/" + id
		dies := func() string { // tells the target of a delivery that is dead
			t.Helper()
			h.add("member-1", "1")
			r.status(http.StatusBadRequest)
			c.run()
			raw := storetest.Raw(t, url)
			_, err := raw.Exec("UPDATE deliveries SET state = 'dead', front = (1 = 0) WHERE state = 'waiting'")
			require.NoError(t, err)
			r.status(http.StatusNoContent)
			return fmt.Sprintf("%s/deliveries/%v", path, h.deliveries(id, "?state=dead")[0]["delivery"])
		}

		target := dies()
		require.Equal(t, 200, h.post("/events", `{"customer":"member-1","action":"point_sub","data":{"points":50}}`).status)
		require.Equal(t, 200, h.post(path, `{"label":"CRM","types":["event.point_add"],"filter":"customer.spendable > 90"}`).status, "as they were")
		require.Equal(t, "waiting", data(t, h.post(target+"/retry", `{}`))["state"])
		c.run()
		require.Len(t, r.all(), 1, "it fitted when it was decided")

		require.Equal(t, 200, h.post(path, `{"filter":""}`).status)
		one := dies()
		require.Equal(t, 200, h.post(path, `{"filter":"customer.spendable > 90"}`).status)
		require.Equal(t, "waiting", data(t, h.post(one+"/retry", `{}`))["state"])
		c.run()
		require.Empty(t, r.all())
		skipped := data(t, h.get(one))
		require.Equal(t, []any{"skipped", "filter"}, []any{skipped["state"], skipped["reason"]})
		require.Equal(t, 422, h.post(one+"/retry", `{}`).status)

		require.Equal(t, 200, h.post(path, `{"filter":""}`).status)
		h.add("member-1", "1")
		r.status(http.StatusBadRequest)
		c.run()
		require.Equal(t, 200, h.post(path+"/pause", `{}`).status)
		require.Equal(t, 200, h.post(path+"/resume", `{"skip":true}`).status)
		require.Equal(t, "resumed", h.deliveries(id, "")[0]["reason"])
	})
}

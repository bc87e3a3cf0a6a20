package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestRemoveWebhook: a webhook goes with everything that it has, once under a key, leaves a line in the audit trail and no
// trace elsewhere. Another one goes on.
func TestRemoveWebhook(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.numbered()
		r, other, c := newReceiver(t), newReceiver(t), h.courier()
		id := h.hook(r, `["event.point_add"]`, `,"label":"Old CRM","include":["personal"],"confirm_personal":true,"headers":{"authorization":"Bearer x"}`)
		stays := h.hook(other, `["event.point_add","webhook.*","programme.changed"]`, "")
		path := "/admin/webhooks/" + id
		require.Equal(t, 200, h.post(path+"/rotate", `{"overlap_seconds":3600}`).status)
		r.status(http.StatusInternalServerError)
		for range 3 {
			h.add("member-1", "5")
		}

		c.run()
		require.Equal(t, 200, h.post(path+"/replay", `{"from_sequence":1}`).status)
		h.add("member-1", "7")
		h.numbered()
		tried := r.tried()
		require.Positive(t, tried)

		remove := func() answer { return h.post(path+"/remove", `{}`, "Idempotency-Key", "remove-it") }
		first := remove()
		require.Equal(t, 200, first.status, first.body)
		was := data(t, first)
		require.Equal(t, []any{id, "Old CRM", "active"}, []any{was["webhook_id"], was["label"], was["state"]})
		require.NotContains(t, first.body, "whsec_")
		again := remove()
		require.Equal(t, []any{200, first.body, "true"}, []any{again.status, again.body, again.header.Get("Idempotency-Replayed")})
		raw := storetest.Raw(t, url)
		for table, column := range map[string]string{"webhooks": "id", "webhook_secrets": "webhook_id", "deliveries": "webhook_id", "attempts": "webhook_id", "replays": "webhook_id"} {
			var left int
			require.NoError(t, raw.QueryRow("SELECT count(DISTINCT "+column+") FROM "+table).Scan(&left))
			require.LessOrEqual(t, left, 1, table)
			require.NotContains(t, h.get("/admin/webhooks").body, id)
		}

		for _, gone := range []string{"", "/attempts", "/deliveries", "/deliveries/1"} {
			a := h.get(path + gone)
			require.Equal(t, []any{404, 190500}, []any{a.status, a.fault(t).Code}, gone)
		}

		for gone, body := range map[string]string{
			"": `{"label":"x"}`, "/test": `{}`, "/rotate": `{}`, "/pause": `{}`, "/resume": `{}`, "/remove": `{}`, "/replay": `{"from_sequence":1}`, "/deliveries/-/retry": `{}`, "/deliveries/1/retry": `{}`,
		} {
			a := h.post(path+gone, body)
			require.Equal(t, []any{404, 190500}, []any{a.status, a.fault(t).Code}, gone)
		}

		line := h.get("/admin/audit?action=webhook.remove")
		require.Contains(t, line.body, id)
		require.Contains(t, line.body, "Old CRM")
		require.NotContains(t, line.body, "Bearer")
		require.Len(t, line.json(t)["data"], 1)

		c.pass(time.Minute)
		c.run()
		c.pass(time.Minute)
		c.run()
		require.Equal(t, tried, r.tried(), "nothing more is sent")
		require.Len(t, other.all(), 4, "the other one hears what happened, and of no webhook")
		require.Len(t, h.deliveries(stays, ""), 4)
		require.Equal(t, 200, h.post("/admin/jobs/webhooks/run", "").status)
		require.Len(t, h.deliveries(stays, ""), 4)
	})
}

// tried tells how often a receiver was asked.
func (r *receiver) tried() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// TestWebhookIsRemovedWhileItSends: two nodes have messages of a webhook under way when it is removed. These end, and nothing
// else does; neither node has anything to report.
func TestWebhookIsRemovedWhileItSends(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		for i := range 6 {
			h.enrol(fmt.Sprint("member-", i))
		}

		h.numbered()
		r := newReceiver(t)
		id := h.hook(r, `["event.point_add"]`, "")
		held := make(chan struct{})
		r.says(func(http.ResponseWriter, *received) bool { <-held; return true })
		give := func(from, to int) {
			for i := from; i < to; i++ {
				h.add(fmt.Sprint("member-", i), "1")
			}
			h.numbered()
		}

		one, two := h.courier(), h.courier()
		for sending, c := range []*courier{one, two} {
			give(3*sending, 3*sending+3)
			_, err := c.Turn(context.Background())
			require.NoError(t, err)
			require.Eventually(t, func() bool { return r.tried() == 3*sending+3 }, 10*time.Second, 5*time.Millisecond)
		}

		give(0, 6)
		_, err := two.Turn(context.Background()) // each waits for the one before it
		require.NoError(t, err)
		require.Len(t, h.deliveries(id, "?state=waiting"), 12)
		give(0, 6) // the job has not looked at these yet
		require.Equal(t, 200, h.post("/admin/webhooks/"+id+"/remove", `{}`).status)
		close(held)
		for range 2 {
			for _, c := range []*courier{one, two} {
				c.Wait()
				_, err := c.Turn(context.Background())
				require.NoError(t, err)
				c.pass(time.Minute)
			}
		}

		one.Wait()
		two.Wait()
		require.Len(t, r.all(), 6, "what was under way")
		require.Equal(t, 6, r.tried())
		for _, table := range []string{"deliveries", "attempts", "webhook_secrets", "replays"} {
			var left int
			require.NoError(t, storetest.Raw(t, url).QueryRow("SELECT count(*) FROM "+table).Scan(&left))
			require.Zero(t, left, table)
		}
	})
}

// TestRemovedWebhooksMakeRoom: a hundredth and first one fits after one was removed.
func TestRemovedWebhooksMakeRoom(t *testing.T) {
	h := open(t, patient)
	const another = `{"url":"https://hooks.shop.test/","types":["event.*"]}`
	var last string
	for range 100 {
		last = data(t, h.post("/admin/webhooks", another))["webhook_id"].(string)
	}
	require.Equal(t, 190503, h.post("/admin/webhooks", another).fault(t).Code)
	require.Equal(t, 200, h.post("/admin/webhooks/"+strings.ToUpper(last)+"/remove", "").status)
	require.Equal(t, 201, h.post("/admin/webhooks", another).status)
	require.Equal(t, 190503, h.post("/admin/webhooks", another).fault(t).Code)
}

package server_test

import (
	"bufio"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// senders says of each row what happened and who sent it.
func senders(rows []fed) (list []string) {
	for _, r := range rows {
		list = append(list, r.Action+" "+r.ActorKind+" "+r.KeyID)
	}
	return list
}

// TestFeedSenders: the journal keeps whose request an event came of, with what follows from it at once, by whatever
// operation; the feed shows it and is filtered by it, in each of its forms. What the platform does by itself has no
// sender, also if it is recorded with a caller's request.
func TestFeedSenders(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openConsole(t, url)
		h.watched()
		till := h.newKey(admin.KeyChange{})
		by := func(key signing.Credential, target, body string) answer {
			t.Helper()
			a := h.signed(key, h.request(http.MethodPost, target, body, "Content-Type", jsonType))
			require.Less(t, a.status, 300, a.body)
			return a
		}

		seen := func(query string, n int) (rows []fed) {
			t.Helper()
			require.Eventually(t, func() bool { rows = h.feed("?limit=5000" + query).Data; return len(rows) >= n }, time.Minute, 20*time.Millisecond)
			return rows
		}

		h.entity("automation/campaign", `{"id":"thanks","name":"Thanks","trigger":"visit","effects":[{"type":"points","points":7}],"status":"active"}`)
		h.entity("rewards/reward", `{"id":"mug","title":{"en":"Mug"},"type":"physical","points":5}`)
		now := h.feed("?after=now").Next

		h.enrol("member-1")
		by(till, "/events", `{"customer":"member-1","action":"visit","data":{"url":"https://shop.test/"}}`)
		by(h.key, "/events/bulk", `{"events":[{"customer":"member-1","action":"visit","data":{"url":"https://shop.test/"}}]}`)
		by(till, "/customers/member-1/activities/rewards/mug/claim", "")
		by(till, "/entities/core/customer/member-1", `{"first_name":"Ada"}`)
		batch := begun(t, by(till, claimMugs, `{"customers":["member-1"]}`), 1)
		h.work(1)
		require.NotEmpty(t, batch)
		ada := h.enter("ada", loyalty.RoleOperator, true)
		require.Equal(t, http.StatusOK, ada.post(bridged+"/events", `{"customer":"member-1","action":"visit","data":{"url":"https://shop.test/"}}`).status)

		key, user := " key "+till.KeyID, " user ada"
		want := []string{
			"opt_in key " + h.key.KeyID, "visit" + key, "point_add" + key, "visit key " + h.key.KeyID, "point_add key " + h.key.KeyID,
			"reward_claim" + key, "profile" + key, "reward_claim" + key, "visit" + user, "point_add" + user,
		}

		all := seen("", len(want))
		require.Equal(t, want, senders(all))
		of := func(some ...int) (rows []fed) {
			for _, i := range some {
				rows = append(rows, all[i])
			}
			return rows
		}

		tills := of(1, 2, 5, 6, 7)
		plain := func(rows []fed) []int64 { return sequences(rows) } // cursors are those of the list
		require.Equal(t, plain(tills), plain(seen("&key_id="+till.KeyID, 5)))
		require.Equal(t, plain(of(8, 9)), plain(seen("&key_id=ada", 2)))
		require.Equal(t, plain(of(0, 3, 4, 8, 9)), plain(seen("&key_id=ada,"+h.key.KeyID, 5)))
		require.Equal(t, plain(of(2)), plain(seen("&types=event.point_*&key_id="+till.KeyID, 1)))
		require.Empty(t, h.feed("?key_id=LKNOBODY").Data)

		some := h.feed("?limit=2&key_id=" + till.KeyID)
		require.Equal(t, plain(tills[:2]), plain(some.Data))
		require.Equal(t, plain(tills[2:]), plain(h.feed("?key_id="+till.KeyID+"&after="+some.Next).Data))
		for _, other := range []string{"", "key_id=ada&"} {
			a := h.get("/events/feed?" + other + "after=" + some.Next)
			require.Equal(t, []string{"after"}, a.fault(t).fields(), "a cursor is of its filter: %s", a.body)
		}

		for _, bad := range []string{"key_id=", "key_id=a,,b", "key_id=,"} {
			require.Equal(t, []string{"key_id"}, h.get("/events/feed?"+bad).fault(t).fields(), bad)
		}

		lines := h.stream(t.Context(), "application/x-ndjson", "?key_id="+till.KeyID)
		read := bufio.NewScanner(lines.Body)
		for i := range tills {
			require.True(t, read.Scan())
			require.Contains(t, read.Text(), `"key_id":"`+till.KeyID+`","actor_kind":"key"`)
			require.Contains(t, read.Text(), `"id":"`+tills[i].ID+`"`)
		}

		require.False(t, read.Scan(), read.Text())
		require.NoError(t, lines.Body.Close())

		live := h.stream(t.Context(), "text/event-stream", "?after=now&key_id="+till.KeyID)
		told := sse(t, bufio.NewScanner(live.Body))
		by(h.key, "/events", `{"customer":"member-1","action":"point_add","data":{"points":1}}`)
		by(till, "/events", `{"customer":"member-1","action":"point_add","data":{"points":2}}`)
		row := <-told
		require.Equal(t, []any{till.KeyID, "2"}, []any{row.KeyID, fmt.Sprint(row.Data["points"])}, "not the one of the other key")
		require.NoError(t, live.Body.Close())

		list := h.get("/customers/member-1/events?limit=100")
		require.NotContains(t, list.body, till.KeyID, "other lists are as they were")
		require.NotContains(t, list.body, "actor_kind")
		require.NotEmpty(t, h.feed("?after="+now).Data, "cursors of before there was the filter are good")
		h.proven()
	})
}

// TestFeedSendersOfWhatIsDue: events that fall due have no sender, whether a job applies them or the next request of a
// key.
func TestFeedSendersOfWhatIsDue(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		require.Equal(t, http.StatusOK, h.post("/admin/modules/points_economy", `{"config":{"expiry":{"policy":"rolling","days":1}}}`).status)
		// soon gives a new member points that expire in a moment.
		soon := func(name string) (who string) {
			for left := 300 * time.Millisecond; ; left *= 2 { // a slow machine records the points when they have expired already
				who = name + left.String()
				h.enrol(who)
				at := time.Now().Add(left).AddDate(0, 0, -1).UTC().Format(time.RFC3339Nano)
				require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"`+who+`","action":"point_add","data":{"points":10,"effective_timestamp":"`+at+`"}}`).status)
				if c, err := h.store.Customer(t.Context(), who); err == nil && c.Figures.Expired == 0 {
					time.Sleep(time.Until(c.DueAt) + 10*time.Millisecond)
					return who
				}
			}
		}

		idle, busy := soon("idle-"), soon("busy-")
		h.happens(busy, "visit", `{"url":"https://shop.test/"}`)
		require.Equal(t, http.StatusOK, h.post("/admin/jobs/expiry/run", "").status)
		h.numbered()
		mine := " key " + h.key.KeyID
		got := map[string][]string{}
		for _, r := range h.feed("?limit=5000").Data {
			got[r.Customer.ID] = append(got[r.Customer.ID], senders([]fed{r})...)
		}

		require.Equal(t, []string{"opt_in" + mine, "point_add" + mine, "point_expire  "}, got[idle])
		require.Equal(t, []string{"opt_in" + mine, "point_add" + mine, "point_expire  ", "visit" + mine}, got[busy])
		for _, r := range h.feed("?limit=5000&key_id=" + h.key.KeyID).Data {
			require.NotEqual(t, "point_expire", r.Action)
		}
	})
}

// TestFeedSendersForRoles: who sent an event is for keys that are told whose it is, and for users who
// may read the audit trail.
func TestFeedSendersForRoles(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	p.enrol("member-1")
	p.numbered()
	sent := `"key_id":"` + p.key.KeyID + `","actor_kind":"key"`
	filtered := "/events/feed?key_id=" + p.key.KeyID
	for role, may := range map[loyalty.Role]bool{loyalty.RoleViewer: false, loyalty.RoleEditor: false, loyalty.RoleOperator: true, loyalty.RoleOwner: true} {
		v := p.enter("a-"+string(role), role, true)
		a := v.get(bridged + "/events/feed")
		require.Contains(t, a.body, `"action":"opt_in"`, role)
		if a = v.get(bridged + "/events/feed"); may {
			require.Contains(t, a.body, sent, role)
			require.Contains(t, v.get(bridged+filtered).body, sent, role)
			continue
		}
		require.NotContains(t, a.body, p.key.KeyID, role)
		require.NotContains(t, a.body, "actor_kind", role)
		refused(t, v.get(bridged+filtered), http.StatusForbidden, 190640)
	}

	till := p.newKey(admin.KeyChange{APIs: &[]string{"events"}})
	a := p.signed(till, p.request(http.MethodGet, "/events/feed", ""))
	require.Contains(t, a.body, `"action":"opt_in"`)
	require.NotContains(t, a.body, p.key.KeyID)
	refused(t, p.signed(till, p.request(http.MethodGet, filtered, "")), http.StatusForbidden, 190064)
}

// TestExportsSenders: an export of events has who sent them; users are named only with personal data.
func TestExportsSenders(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		p.enrol("member-1")
		ada := p.enter("ada", loyalty.RoleOperator, true)
		require.Equal(t, http.StatusOK, ada.post(bridged+"/events", `{"customer":"member-1","action":"visit","data":{"url":"https://shop.test/"}}`).status)
		p.numbered()
		for query, login := range map[string]any{"": nil, "personal=true": "ada"} {
			rows := p.exported("events", query)
			require.Len(t, rows, 2)
			require.Equal(t, []any{p.key.KeyID, "key"}, []any{rows[0]["key_id"], rows[0]["actor_kind"]})
			require.Equal(t, []any{login, "user"}, []any{rows[1]["key_id"], rows[1]["actor_kind"]}, query)
		}
		require.Equal(t, []string{p.key.KeyID, ""}, []string{p.spreadsheet("events", "")[0]["key_id"], p.spreadsheet("events", "")[1]["key_id"]})
	})
}

package server_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestSeveralExternalIDs: a member has several cards under one name, by events, forms and entities; each finds them, is theirs alone,
// comes along in a merge and is free after an opt_out.
func TestSeveralExternalIDs(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		h := openOn(t, address)
		for _, name := range []string{"ada", "ben", "cili"} {
			h.enrol(name)
		}

		has := func(ref string, want any) {
			t.Helper()
			for _, path := range []string{"/customers/" + ref, "/entities/core/customer/" + ref} {
				require.Equal(t, want, data(t, h.sees(path))["external_ids"], path)
			}
		}

		h.does("/events", `{"customer":"ada","action":"profile","data":{"external_ids":{"card":["4711"," 4712 "],"crm":"1"}}}`)
		for _, ref := range []string{"ada", "card:4711", "card:4712", "crm:1"} {
			has(ref, map[string]any{"card": []any{"4711", "4712"}, "crm": "1"})
		}

		require.Equal(t, "ada", h.sees("/customers?id=card:4712").json(t)["data"].([]any)[0].(map[string]any)["id"])
		h.does("/events", `{"customer":"4712","external_id":"card","action":"point_add","data":{"points":5}}`)
		sent := h.sees("/customers/ada/events?action=profile").json(t)["data"].([]any)[0].(map[string]any)["data"].(map[string]any)
		require.Equal(t, map[string]any{"card": []any{"4711", "4712"}, "crm": "1"}, sent["external_ids"])

		taken := refused(t, h.post("/events", `{"customer":"ben","action":"profile","data":{"external_ids":{"card":["4713","4712"]}}}`), http.StatusConflict, 190030)
		require.Equal(t, []string{"data.external_ids.card[1]"}, taken.fields())
		taken = refused(t, h.post("/entities/core/customer/ben", `{"external_ids":{"card":["4712"]}}`), http.StatusConflict, 190030)
		require.Equal(t, []string{"external_ids.card"}, taken.fields())
		twice := refused(t, h.form("/events", "customer=ben&action=profile&data[external_ids][card][]=1&data[external_ids][card][]=+1"), http.StatusBadRequest, 190010)
		require.Equal(t, []string{"data.external_ids.card"}, twice.fields())

		require.Equal(t, http.StatusOK, h.form("/events", "customer=ben&action=profile&data[external_ids][card][]=b1&data[external_ids][card][]=b2").status)
		has("ben", map[string]any{"card": []any{"b1", "b2"}})
		require.Equal(t, http.StatusOK, h.form("/entities/core/customer/ben", "external_ids[card][0]=b2&external_ids[card][1]=b3&external_ids[crm]=").status)
		has("ben", map[string]any{"card": []any{"b2", "b3"}})
		require.Equal(t, http.StatusNotFound, h.get("/customers/card:b1").status)

		h.does("/customers/ben/merge", `{"target":"ada"}`)
		has("card:b3", map[string]any{"card": []any{"4711", "4712", "b2", "b3"}, "crm": "1"})
		h.does("/entities/core/customer/ada", `{"external_ids":{"card":[],"crm":null}}`)
		require.Empty(t, data(t, h.sees("/customers/ada"))["external_ids"])
		h.does("/entities/core/customer/ada", `{"external_ids":{"card":["4711","4712"]}}`)
		h.does("/entities/core/customer/ada", `{"external_ids":null}`)
		require.Empty(t, data(t, h.sees("/customers/ada"))["external_ids"])

		h.does("/events", `{"customer":"ada","action":"profile","data":{"external_ids":{"card":["4711","4712"]}}}`)
		h.does("/events", `{"customer":"4711","external_id":"card","action":"opt_out","data":{}}`)
		h.does("/events", `{"customer":"cili","action":"profile","data":{"external_ids":{"card":["4711","4712","b2","b3"],"crm":"1"}}}`)
		has("card:4712", map[string]any{"card": []any{"4711", "4712", "b2", "b3"}, "crm": "1"})
		ledgerHolds(t, h.store)
	})
}

// TestExternalIDsGoRound: the members of an export are taken over as they were, with all their ids and labels.
func TestExternalIDsGoRound(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		from, into := openOn(t, address), open(t)
		from.enrol("ada")
		from.does("/events", `{"customer":"ada","action":"profile","data":{"labels":["vip","a|b"],"external_ids":{"card":["+4711","47|12"],"crm":"=1","till":"'7"}}}`)
		from.enrol("ben")
		want := data(t, from.sees("/customers/ada"))

		i := into.newImport(`{"columns":{"members":{"customer":"customer","email":"email","labels":"labels","external_ids":"external_ids","*":""}}}`)
		part := i.part("members", 1, from.sees("/admin/exports/customers?format=csv&personal=true").body)
		require.Equal(t, http.StatusOK, part.status, part.body)
		now := i.do("check")
		require.Equal(t, "ready", now["status"], "%v %s", now, i.findings())
		require.Equal(t, "done", i.do("apply")["status"], i.findings())
		for _, ref := range []string{"ada", "card:+4711", "card:47%7C12"} {
			got := data(t, into.sees("/customers/"+ref))
			require.Equal(t, want["external_ids"], got["external_ids"])
			require.Equal(t, want["labels"], got["labels"])
		}

		require.Equal(t, "ben", data(t, into.sees("/customers/ben"))["id"])
	})
}

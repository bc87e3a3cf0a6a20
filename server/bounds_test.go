package server_test

import (
	"fmt"
	"net/http"
	neturl "net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestBodiesOfManyValues: what a body can make of its bytes is bounded before anything
// is made of it.
func TestBodiesOfManyValues(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	most := func(part string, n int) string { return strings.TrimSuffix(strings.Repeat(part, n), ",") }
	purchase := func(data string) string {
		return `{"customer":"ada","action":"checkout","data":{"transaction_id":"T-1","total":1` + data + `}}`
	}
	for name, body := range map[string]string{
		"numbers": purchase(`,"note":[` + most("0,", 250_000) + `]`),
		"lists":   purchase(`,"note":[` + most("[],", 160_000) + `]`),
		"items":   purchase(`,"items":[` + most("{},", 160_000) + `]`),
	} {
		for _, path := range []string{"/events", "/events/preview"} {
			a := h.post(path, body)
			require.Equal(t, http.StatusBadRequest, a.status, name)
			require.Equal(t, 190068, a.fault(t).Code, name)
		}
	}

	a := h.post("/events/bulk", `{"events":[`+most("{},", 25_001)+`]}`)
	require.Equal(t, http.StatusBadRequest, a.status)
	require.Equal(t, []string{"events"}, a.fault(t).fields())
	var deep strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&deep, "data[a%d][b][c][d][e][f][g][h][][]=1&", i)
	}

	a = h.form("/events", "customer=ada&action=checkout&"+deep.String())
	require.Equal(t, http.StatusBadRequest, a.status)
	require.Equal(t, 190068, a.fault(t).Code)
	a = h.post("/events", purchase(`,"note":"`+strings.Repeat("x", 20_000)+`"`))
	require.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	require.Equal(t, 190380, a.fault(t).Code)
	require.Equal(t, []string{"data.note"}, a.fault(t).fields())

	// What the programme declares has the bounds of its schema.
	done(h, "/admin/modules/custom_events", `{"enabled":true}`)
	done(h, "/entities/custom-events/action", `{"name":"visit","schema":{"type":"object","properties":{"story":{"type":"string","maxLength":100000,"x-personal":true}}}}`)
	a = h.does("/events", `{"customer":"ada","action":"visit","data":{"url":"https://shop.test/","story":"`+strings.Repeat("s", 60_000)+`"}}`)
}

// walked reads a list to its end and holds that no page is much longer than 8 MiB.
func (h *house) walked(target string) (ids []string, pages int) {
	h.t.Helper()
	for next := target; next != ""; pages++ {
		a := h.get(next)
		require.Equal(h.t, http.StatusOK, a.status, a.body[:min(500, len(a.body))])
		require.Less(h.t, len(a.body), loyalty.MaxPage*5/4, next)
		page := a.json(h.t)
		for _, entry := range page["data"].([]any) {
			ids = append(ids, fmt.Sprint(entry.(map[string]any)["id"]))
		}
		next, _ = page["next"].(string)
	}
	return ids, pages
}

// TestPagesAreBoundedInBytes: a page ends after 8 MiB, whatever number of entries was
// asked for; next goes on behind it, and nothing is left out or told twice.
func TestPagesAreBoundedInBytes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("ada")
		// few lines, and long ones: what is bounded is bytes
		const purchases, lines = 12, 160
		name, url, category := strings.Repeat("n", 990), "http://s.test/"+strings.Repeat("u", 1900), strings.Repeat("c", 1900)
		var items []string
		for i := range lines {
			items = append(items, fmt.Sprintf(`{"product_id":"p%d","product_name":%q,"product_url":%q,"product_category":%q,"quantity":1,"subtotal":1}`, i, name, url, category))
		}

		events := map[string]bool{}
		for i := range purchases {
			a := h.post("/events", fmt.Sprintf(`{"customer":"ada","action":"checkout","data":{"transaction_id":"T-%d","total":1,"note":%q,"items":[%s]}}`,
				i, strings.Repeat("n", 8000), strings.Join(items, ",")))
			require.Equal(t, http.StatusOK, a.status, a.body)
			for _, e := range a.json(t)["events"].([]any) {
				events[fmt.Sprint(e.(map[string]any)["id"])] = true
			}
		}

		for _, list := range []string{"/customers/ada/events?action=checkout&", "/customers/ada/events?action=checkout&sort=date&", "/v1/customers/ada/events?filter[action][eq]=checkout&", "/v1/customers/ada/transactions?", "/customers/ada/transactions?"} {
			ids, pages := h.walked(list + "limit=1000")
			require.Len(t, unique(ids), purchases, list)
			require.Len(t, ids, purchases, list)
			require.Greater(t, pages, 1, list)
		}

		// Lines are short in their rows, and long with what they inherit.
		ids, pages := h.walked("/customers/ada/events?action=checkout_item&limit=1000")
		require.Greater(t, pages, purchases*lines/1000+1)
		require.Len(t, unique(ids), purchases*lines)
		require.Len(t, ids, purchases*lines)
		for _, id := range ids {
			require.True(t, events[id], id)
		}

		// And back: the last page's previous links lead to the first entries.
		last := h.get("/customers/ada/events?action=checkout&limit=1000&offset=" + fmt.Sprint(purchases-1)).json(t)
		back := h.get(last["previous"].(string)).json(t)
		require.NotEmpty(t, back["data"])
		require.NotNil(t, back["previous"], "it is cut at its far end")
	})
}

func unique(ids []string) map[string]bool {
	set := map[string]bool{}
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// TestNamesOfExternalIDs: what a path cannot name and an index cannot hold is refused alike on both
// databases; the longest one works in events and in paths.
func TestNamesOfExternalIDs(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("ada")
		name := func(n int) string { // what cannot be compressed
			var b strings.Builder
			for i := range n {
				b.WriteRune('一' + rune(i*i*7919%20_000))
			}
			return b.String()
		}

		set := func(name string) answer {
			return h.post("/events", `{"customer":"ada","action":"profile","data":{"external_ids":{"`+name+`":"7"}}}`)
		}
		for _, bad := range []string{name(256), name(5000), strings.Repeat("x", 256), "a\u0085b"} {
			a := set(bad)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Len(t, a.fault(t).fields(), 1)
			require.Contains(t, a.fault(t).fields()[0], "data.external_ids.")
		}

		longest := name(255)
		a := set(longest)
		require.Equal(t, http.StatusOK, a.status, a.body)
		done(h, "/events", `{"customer":"7","external_id":"`+longest+`","action":"point_add","data":{"points":3}}`)
		require.Equal(t, "ada", data(t, h.get("/customers/"+neturl.PathEscape(longest+":7")))["id"])
	})
}

package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestSealedTextsAreRead: as long as the customer is there, conditions of campaigns and every list read sealed values;
// after the opt-out none does.
//
// spec: state.customer.opt_out
func TestSealedTextsAreRead(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("ada")
		for i, one := range []struct{ action, data, condition string }{
			{"visit", `"url":"https://shop.test/ada","referrer":"https://news.test/ada","type":"ada landing"`, `event.data.url startsWith 'https://shop.test/' && event.data.referrer contains 'news' && event.data.type endsWith 'landing'`},
			{"video", `"url":"https://video.test/ada","network":"ada.test","title":"How ada roasts"`, `event.data.url contains 'video' && event.data.network == 'ada.test' && event.data.title contains 'roasts'`},
			{"review_submit", `"item":"p-501","review":"fine, says ada","provider":"ada reviews"`, `event.data.provider endsWith 'reviews' && event.data.review startsWith 'fine'`},
			{"coupon_create", `"code":"ADA-1","value":5,"name":"For ada, with love"`, `event.data.name endsWith 'love'`},
			{"profile", `"language":"adanish","currency":"ada crowns"`, `event.data.language == 'adanish' && event.data.currency == 'ada crowns'`},
		} {
			done(h, "/entities/automation/campaign", fmt.Sprintf(`{"id":"c%d","name":"C","trigger":%q,"condition":%q,"effects":[{"type":"points","points":7}],"status":"active"}`, i, one.action, one.condition))
			event := fmt.Sprintf(`{"customer":"ada","action":%q,"data":{%s}}`, one.action, one.data)
			told, written := done(h, "/events/preview", event), done(h, "/events", event)
			require.Equal(t, []string{one.action, "point_add"}, recordedActions(told), one.action)
			require.Equal(t, []string{one.action, "point_add"}, recordedActions(written), one.action)
			require.Contains(t, h.get("/customers/ada/events?action="+one.action).body, "ada", one.action)
			require.JSONEq(t, `{`+one.data+`}`, marshal(t, h.get("/customers/ada/events?action=" + one.action).json(t)["data"].([]any)[0].(map[string]any)["data"]), one.action)
		}

		require.Equal(t, "For ada, with love", h.get("/coupons/ADA-1").json(t)["data"].(map[string]any)["name"])

		h.enrol("ben") // who gets it still reads it, until the one it was made for leaves
		done(h, "/events", `{"customer":"ada","action":"coupon_transfer","data":{"code":"ADA-1","target":"ben"}}`)
		require.Contains(t, h.get("/customers/ben/coupons").body, "For ada, with love")
		done(h, "/events", `{"customer":"ada","action":"opt_out","data":{}}`)
		gone := contentsOf(t, url).nameOf("opted_out")
		for _, path := range []string{"/customers/ben/coupons", "/coupons/ADA-1", "/coupons", "/customers/" + gone, "/customers/" + gone + "/events"} {
			a := h.sees(path)
			for _, word := range []string{"with love", "landing", "roasts", "reviews", "adanish", "crowns", "shop.test/ada"} {
				require.NotContains(t, a.body, word, path)
			}
		}

		require.NotContains(t, h.get("/coupons/ADA-1").json(t)["data"], "name")
		require.NoError(t, h.store.VerifyRebuild(t.Context(), func(d rebuild.Difference) { require.Fail(t, "the journal says otherwise", "%+v", d) }, func(store.RebuildProgress) {}))
	})
}

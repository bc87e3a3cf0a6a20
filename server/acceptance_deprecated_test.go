package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestDeprecatedActions: coupon and review work and say that they are deprecated,
// alone, as a form, in a preview, when they are refused and when they are repeated;
// a bulk says so when one of its events is.
//
// spec: version.coupon, version.review
func TestDeprecatedActions(t *testing.T) {
	const since = "@1767225600" // 2026-01-01, as the document says
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("ada")
		deprecated := func(want string, a answer) answer {
			t.Helper()
			require.Equal(t, want, a.header.Get("Deprecation"), a.body)
			return a
		}

		coupon := func(code string) string {
			return fmt.Sprintf(`{"customer":"ada","action":"coupon","data":{"code":%q,"amount":5}}`, code)
		}
		const review = `{"customer":"ada","action":"review","data":{"item_id":"p-501"}}`
		deprecated(since, h.post("/events/preview", coupon("OLD-1")))
		require.Equal(t, []string{"coupon"}, recordedActions(deprecated(since, h.post("/events", coupon("OLD-1"), "Idempotency-Key", "k")).json(t)))
		again := deprecated(since, h.post("/events", coupon("OLD-1"), "Idempotency-Key", "k"))
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		require.Equal(t, http.StatusConflict, deprecated(since, h.post("/events", coupon("OLD-1"))).status)
		card := data(t, h.get("/coupons/OLD-1"))
		require.Equal(t, "claimed gift_card 5", fmt.Sprint(card["status"], " ", card["type"], " ", card["balance"]))
		require.Equal(t, http.StatusOK, deprecated(since, h.form("/events", formOf(t, coupon("OLD-2")))).status)
		require.Equal(t, http.StatusOK, deprecated(since, h.post("/events", review)).status)

		require.Equal(t, http.StatusBadRequest, deprecated(since, h.post("/events", `{"customer":"ada","action":"coupon","data":{}}`)).status)
		require.Equal(t, http.StatusBadRequest, deprecated(since, h.post("/events/preview", `{"action":"review","data":{"item_id":"p-501"}}`)).status)
		require.Equal(t, http.StatusBadRequest, deprecated(since, h.form("/events", "customer=ada&action=review")).status)
		deprecated(since, h.post("/events/bulk", bulkOf([]string{`{"customer":"ada","action":"review","data":{}}`})))
		deprecated(since, h.form("/events/bulk", "events[0][customer]=ada&events[0][action]=review"))

		bulk := deprecated(since, h.post("/events/bulk", bulkOf([]string{
			`{"customer":"ada","action":"visit","data":{"url":"https://shop.test/"}}`, `{}`, coupon("OLD-3"), review,
		})))
		require.Equal(t, []string{"ok", "0 events[1].customer events[1].action events[1].data", "ok", "ok"}, fates(t, bulk.json(t)))
		deprecated("", h.post("/events/bulk", bulkOf([]string{`{"customer":"ada","action":"visit","data":{"url":"https://shop.test/"}}`})))
		deprecated("", h.post("/events", `{"customer":"ada","action":"coupon_create","data":{"code":"NEW","value":5}}`))
		deprecated("", h.post("/events", `{"customer":"ada","action":"review_submit","data":{"item":"p-501","review":"x"}}`))
	})
}

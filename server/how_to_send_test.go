package server_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/portal"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestHowToSend sends what the guide shows, in its order, to a programme in EUR that gives a point a unit.
func TestHowToSend(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, func(o *server.Options) { o.Portal = portal.New(region, nil) })
		h.everyModule()
		done(h, "/admin/modules/checkout_accept", `{"enabled":false}`)
		h.enrol("member-1001")
		page := h.send(h.request(http.MethodGet, "/docs/guide/how-to-send.md", "")).body
		samples := regexp.MustCompile(`loyalty sign POST http://[^/]+(/\S+) --send \\\n  --header 'Idempotency-Key: ([^']+)' \\\n  --data '([^']+)'`).FindAllStringSubmatch(page, -1)
		require.Len(t, samples, 10)
		had := map[string]string{}
		for _, s := range samples {
			a := h.post(s[1], s[3], "Idempotency-Key", s[2])
			require.Equal(t, http.StatusOK, a.status, "%s: %s", s[2], a.body)
			had[s[2]] = h.spendable()
		}

		require.Equal(t, map[string]string{
			"exchange-1-bought": "60", "exchange-1-back": "20", "exchange-1-taken": "65",
			"mistake-1-bought": "95", "mistake-1-cancelled": "65", "mistake-1-again": "95",
			"third-1-rates": "95", "third-1-bought": "185", "third-1-unrated": "185", "third-1-computed": "289",
		}, had)

		again := h.post("/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"X-1002","total":30}}`)
		done(h, "/events", `{"customer":"member-1001","action":"refund","data":{"transaction_id":"X-1004"}}`)
		require.Equal(t, "289", h.spendable(), "points that only name the purchase stay")
		require.Equal(t, 5003, again.fault(t).Code, "what was refunded is not bought again under its id")
	})
}

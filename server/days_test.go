package server_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestDayAsEnd: a day means one instant in the programme's zone, in whichever way it came: by an
// entity, a configuration, an event, a level, an access key or a file. It stays that instant when
// the zone is changed.
func TestDayAsEnd(t *testing.T) {
	const day, starts, ends = "2099-12-31", "2099-12-31T11:00:00.000Z", "2100-01-01T10:59:59.999Z"
	dated := map[string]string{ // entities of several features
		"automation/campaign":  `"name":"A","trigger":"checkout","effects":[{"type":"multiply","factor":2}],"status":"active"`,
		"challenges/challenge": `"title":{"en":"A"},"criteria":[{"action":"visit","threshold":2}],"points":1`,
		"contests/contest":     `"title":{"en":"A"},"points":5,"max_entries":10`,
		"offers/offer":         `"name":{"en":"A"},"type":"cart","discount":{"type":"fixed_discount","value":5}`,
		"prize-wheels/wheel":   `"name":{"en":"A"},"options":[{"type":"empty","label":{"en":"Nothing"},"weight":1}]`,
		"rewards/reward":       `"title":{"en":"A"},"type":"physical","points":1`,
	}

	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.does("/admin/settings", `{"time_zone":"Pacific/Pago_Pago"}`)
		for _, module := range []string{"contests", "prize_wheels"} {
			h.module(module, true)
		}

		for kind, fields := range dated {
			h.makes("/entities/"+kind, `{"id":"a",`+fields+`,"starts_at":"`+day+`","ends_at":"`+day+`"}`)
			shown := data(t, h.get("/entities/"+kind+"/a"))
			require.Equal(t, [2]any{starts, ends}, [2]any{shown["starts_at"], shown["ends_at"]}, kind)
			a := h.post("/entities/"+kind, `{`+fields+`,"starts_at":"`+day+`","ends_at":"2099-12-30"}`)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			written := json.RawMessage(`{` + fields + `,"starts_at":"` + day + `","ends_at":"` + day + `"}`)
			same := map[string]any{"entities": map[string]any{kind: map[string]any{"a": written}}}
			require.Empty(t, changed(t, h.configure("plan", false, same)), "%s: the day in a file is the instant that is stored", kind)
		}

		h.enrol("member-1001")
		h.happens("member-1001", "coupon_create", `{"code":"EVENT","value":1,"expdate":"`+day+`"}`)
		file := h.newImport(`{}`)
		require.Equal(t, http.StatusOK, file.part("coupons", 1, "customer,code,value,expires_at\nmember-1001,FILE,1,"+day+"\n").status)
		require.Equal(t, "ready", file.do("check")["status"], file.findings())
		require.Equal(t, "done", file.do("apply")["status"])
		for _, code := range []string{"EVENT", "FILE"} {
			require.Equal(t, ends, data(t, h.get("/coupons/"+code))["expires_at"], code)
		}

		h.makes("/entities/tiers/structure", `{"id":"club","name":"Club","base":"points"}`)
		h.makes("/entities/tiers/tier", `{"id":"gold","structure":"club","name":{"en":"Gold"},"threshold":1000}`)
		given := h.does("/customers/member-1001/levels", `{"structure":"club","tier":"gold","expdate":"`+day+`"}`)
		require.Equal(t, ends, data(t, given)["expires_at"])
		require.Equal(t, ends, data(t, h.makes("/admin/keys", `{"label":"till","expires_at":"`+day+`"}`))["expires_at"])

		h.does("/admin/settings", `{"time_zone":"Pacific/Kiritimati"}`)
		require.Equal(t, ends, data(t, h.get("/entities/rewards/reward/a"))["ends_at"], "an instant that is stored stays")
		require.Equal(t, ends, data(t, h.get("/coupons/EVENT"))["expires_at"])
	})
}

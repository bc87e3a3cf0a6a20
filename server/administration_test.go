package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
)

func data(t *testing.T, a answer) map[string]any {
	t.Helper()
	return a.json(t)["data"].(map[string]any)
}

// spec: limit.rate.raised, service.api.administration
func TestKeys(t *testing.T) {
	h := open(t)
	a := h.makes("/admin/keys", `{"label":"Till","apis":["customers"],"read_only":true,"addresses":["127.0.0.1"],"rate_limit":2000,"expires_at":"2099-01-01T00:00:00Z"}`)
	made := data(t, a)
	require.NotEmpty(t, made["secret"])
	key := signing.Credential{KeyID: made["key_id"].(string), Secret: made["secret"].(string)}
	require.Equal(t, http.StatusOK, h.signed(key, h.request(http.MethodGet, "/customers", "")).status)
	require.Equal(t, "2000", h.signed(key, h.request(http.MethodGet, "/customers", "")).header.Get("RateLimit-Limit"))

	a = h.get("/admin/keys/" + key.KeyID)
	require.Equal(t, "Till", data(t, a)["label"])
	require.NotContains(t, a.body, key.Secret)
	require.NotContains(t, data(t, a), "secret")
	require.Len(t, data(t, a)["secrets"], 1)

	a = h.does("/admin/keys/"+key.KeyID, `{"label":"Till 2","addresses":[]}`)
	require.Equal(t, "Till 2", data(t, a)["label"])
	require.Equal(t, true, data(t, a)["read_only"], "what is not sent stays")
	require.Empty(t, data(t, a)["addresses"])

	h.does("/admin/keys/"+key.KeyID+"/rotate", `{"overlap_seconds":60}`)
	secrets := data(t, h.get("/admin/keys/"+key.KeyID))["secrets"].([]any)
	require.Len(t, secrets, 2)
	require.NotContains(t, secrets[0], "expires_at", "the newest first")
	require.Contains(t, secrets[1], "expires_at")

	a = h.does("/admin/keys/"+key.KeyID+"/revoke", "")
	require.NotEmpty(t, data(t, a)["revoked_at"])
	require.Equal(t, http.StatusUnauthorized, h.signed(key, h.request(http.MethodGet, "/customers", "")).status)
	require.Equal(t, 190050, h.post("/admin/keys/"+key.KeyID, `{"label":"x"}`).fault(t).Code)
	require.Equal(t, http.StatusNotFound, h.get("/admin/keys/LKNOBODY").status)
	require.Equal(t, http.StatusNotFound, h.post("/admin/keys/LKNOBODY/rotate", "").status)
}

func TestKeysAsForm(t *testing.T) {
	h := open(t)
	a := h.form("/admin/keys", "label=Till&apis[]=events&apis[]=customers&read_only=0&rate_limit=5")
	require.Equal(t, http.StatusCreated, a.status, a.body)
	require.Equal(t, "[customers events]", fmt.Sprint(data(t, a)["apis"]))
	require.Equal(t, "5", fmt.Sprint(data(t, a)["rate_limit"]))
}

func TestBadKeys(t *testing.T) {
	h := open(t)

	for body, field := range map[string]string{
		`{"apis":["everything"]}`:                 "apis[0]",
		`{"apis":["events","events"]}`:            "apis",
		`{"addresses":["127.0.0.1","shop.test"]}`: "addresses[1]",
		`{"rate_limit":0}`:                        "rate_limit",
		`{"rate_limit":"5"}`:                      "rate_limit",
		`{"expires_at":"2020-01-01T00:00:00Z"}`:   "expires_at",
		`{"expires_at":"2099-02-30T00:00:00Z"}`:   "expires_at",
		`{"Label":"x"}`:                           "Label",
		`{"secret":"mine"}`:                       "secret",
	} {
		a := h.post("/admin/keys", body)
		require.Equal(t, http.StatusBadRequest, a.status, body)
		require.Equal(t, []string{field}, a.fault(t).fields(), body)
	}
}

// TestSecretsAreNeverReplayed: a repeated creation makes no second key and
// shows no secret.
func TestSecretsAreNeverReplayed(t *testing.T) {
	h := open(t)
	first := h.post("/admin/keys", `{"label":"once"}`, "Idempotency-Key", "k")
	require.Equal(t, http.StatusCreated, first.status)
	again := h.post("/admin/keys", `{"label":"once"}`, "Idempotency-Key", "k")
	require.Equal(t, http.StatusCreated, again.status)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.Equal(t, data(t, first)["key_id"], data(t, again)["key_id"])
	require.NotContains(t, data(t, again), "secret")
	require.Equal(t, http.StatusConflict, h.post("/admin/keys", `{"label":"twice"}`, "Idempotency-Key", "k").status)
}

func TestListKeys(t *testing.T) {
	h := open(t)
	for i := range 4 {
		time.Sleep(2 * time.Millisecond) // keys of one millisecond have no order
		require.Equal(t, http.StatusCreated, h.post("/admin/keys", fmt.Sprintf(`{"label":"k%d"}`, i)).status)
	}

	var labels []string
	a := h.get("/admin/keys?limit=2")
	for {
		for _, k := range a.json(t)["data"].([]any) {
			labels = append(labels, k.(map[string]any)["label"].(string))
		}
		next := a.json(t)["next"]
		if next == nil {
			break
		}
		a = h.get(next.(string))
	}

	require.Equal(t, []string{"k3", "k2", "k1", "k0", ""}, labels)
}

func TestModules(t *testing.T) {
	h := open(t)
	a := h.get("/admin/modules?limit=2&offset=1")
	require.Len(t, a.json(t)["data"], 2)
	require.NotNil(t, a.json(t)["next"])
	require.Len(t, h.get(a.json(t)["next"].(string)).json(t)["data"], 2)

	a = h.does("/admin/modules/incentivized_purchase", `{"config":{"rate":0.005,"currency_rates":{"HUF":0.0125}}}`)
	require.Contains(t, a.body, `0.005`)
	require.Contains(t, a.body, `0.0125`)
	require.Equal(t, http.StatusOK, h.form("/admin/modules/points_economy", "enabled=1&config[expiry][policy]=rolling&config[expiry][months]=12").status)
	require.Equal(t, "12", fmt.Sprint(data(t, h.get("/admin/modules/points_economy"))["config"].(map[string]any)["expiry"].(map[string]any)["months"]))
	require.Equal(t, 190020, h.get("/admin/modules/nonsense").fault(t).Code)
	for body, field := range map[string]string{
		`{"config":{"expiry":{"policy":"sometimes"}}}`:               "config.expiry.policy",
		`{"config":{"expiry":{"policy":"calendar","date":"02-31"}}}`: "config.expiry.date",
		`{"config":{"nonsense":1}}`:                                  "config.nonsense",
		`{"config":{"rounding":"floor"}}`:                            "config.rounding",
		`{"enabled":"yes"}`:                                          "enabled",
	} {
		a = h.post("/admin/modules/points_economy", body)
		require.Equal(t, http.StatusBadRequest, a.status, body)
		require.Equal(t, []string{field}, a.fault(t).fields(), "%s: %s", body, a.body)
	}
}

// spec: auth.region
func TestSettings(t *testing.T) {
	h := open(t)
	a := h.get("/admin/settings")
	require.Equal(t, region, data(t, a)["region"])
	require.Equal(t, "300", fmt.Sprint(data(t, a)["acceptance_window_seconds"]))
	a = h.does("/admin/settings", `{"currency":"HUF","time_zone":"Europe/Budapest"}`)
	require.Equal(t, "Europe/Budapest", data(t, h.get("/admin/settings"))["time_zone"])
	for body, field := range map[string]string{
		`{"time_zone":"Mars/Base"}`: "time_zone", `{"acceptance_window_seconds":0}`: "acceptance_window_seconds", `{"region":"eu"}`: "region",
	} {
		a = h.post("/admin/settings", body)
		require.Equal(t, http.StatusBadRequest, a.status, body)
		require.Equal(t, []string{field}, a.fault(t).fields(), body)
	}
}

func TestAudit(t *testing.T) {
	h := open(t)
	require.Equal(t, http.StatusOK, h.post("/admin/modules/checkout_accept", `{"enabled":true}`).status)
	require.Equal(t, http.StatusOK, h.post("/admin/settings", `{"currency":"HUF"}`).status)
	a := h.get("/admin/audit?limit=1")
	first := a.json(t)["data"].([]any)[0].(map[string]any)
	require.Equal(t, "settings.update", first["action"])
	require.Equal(t, h.key.KeyID, first["key_id"])
	second := h.get(a.json(t)["next"].(string))
	entry := second.json(t)["data"].([]any)[0].(map[string]any)
	require.Equal(t, "module.update", entry["action"])
	require.Equal(t, true, entry["after"].(map[string]any)["enabled"])
	back := h.get(second.json(t)["previous"].(string))
	require.Equal(t, a.json(t)["data"], back.json(t)["data"])

	require.NotContains(t, h.get("/admin/audit").body, h.key.Secret)
}

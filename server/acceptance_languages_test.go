package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestLanguages: messages and localized texts come in the language that the
// request prefers among those of the programme, else in the programme's own; and
// the answer says which one it is.
//
// spec: service.language, service.language.localized
func TestLanguages(t *testing.T) {
	const texts = `{"en":"Free coffee","es":"Café gratis","fr":"Café offert","hu":"Ingyen kávé"}`
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		done(h, "/admin/modules/prize_wheels", `{"enabled":true}`)
		for _, piece := range [][2]string{
			{"/entities/coupons/pool", `{"id":"free","name":"Free","source":"generated","pattern":"FREE-########","coupon":{"type":"percentage","value":100,"name":` + texts + `}}`},
			{"/entities/rewards/reward", `{"id":"coffee","title":` + texts + `,"type":"coupon","points":1,"pool":"free"}`},
			{"/entities/prize-wheels/wheel", `{"id":"sure","name":{"en":"Sure"},"options":[{"type":"reward","label":` + texts + `,"weight":1,"reward":"coffee"}]}`},
			{"/entities/rewards/reward", `{"id":"half","title":{"fr":"Moitié"},"type":"coupon","points":1,"coupon":{"type":"amount","value":1,"name":{"fr":"Moitié"}}}`},
			event("ada", "opt_in", `{"email":"ada@shop.test"}`),
			event("ada", "point_add", `{"points":500}`),
		} {
			done(h, piece[0], piece[1])
		}

		speak := func(header string) []string {
			claim := h.does("/customers/ada/activities/rewards/coffee/claim", "", "Accept-language", header)
			coupon := claim.json(t)["coupon"].(map[string]any)
			spin := succeeded(t, h.post("/customers/ada/prize-wheels/sure", "", "Accept-language", header))
			stored := data(t, h.get("/coupons/"+coupon["code"].(string), "Accept-language", header))
			failed := h.post("/events", `{"customer":"nobody","action":"visit","data":{"url":"https://shop.test/"}}`, "Accept-language", header)
			require.Equal(t, claim.header.Get("Content-Language"), failed.header.Get("Content-Language"))
			require.Equal(t, "NotFoundException 160212", fmt.Sprint(failed.fault(t).Type, " ", failed.fault(t).Code))
			require.Equal(t, coupon["name"], spin["reward"].(map[string]any)["title"])
			require.Equal(t, coupon["name"], spin["coupon"].(map[string]any)["name"])
			require.Equal(t, coupon["name"], stored["name"])
			return []string{claim.header.Get("Content-Language"), coupon["name"].(string), spin["result"].(string), failed.fault(t).Message}
		}

		en := []string{"en", "Free coffee", "Free coffee", "Customer not found"}
		es := []string{"es", "Café gratis", "Café gratis", "No se ha encontrado el cliente"}
		fr := []string{"fr", "Café offert", "Café offert", "Client introuvable"}
		hu := []string{"hu", "Ingyen kávé", "Ingyen kávé", "Az ügyfél nem található"}
		for header, want := range map[string][]string{
			"en": en, "es": es, "fr": fr, "hu": hu,
			"hu-HU,hu;q=0.9,en;q=0.8": hu, "de-CH, fr;q=0.7, en;q=0.3": fr, "en;q=0.2, es;q=0.9": es, "FR": fr,
			"de": en, "": en, "xx;;;q=,": en, "en;q=0, hu;q=0.1": hu,
		} {
			require.Equal(t, want, speak(header), header)
		}

		only := h.post("/customers/ada/activities/rewards/half/claim", "", "Accept-language", "hu")
		require.Equal(t, "Moitié", only.json(t)["coupon"].(map[string]any)["name"], "what there is, before nothing")
		require.Equal(t, "fr", only.header.Get("Content-Language"), "and the answer says so")

		h.entity("rewards/reward", `{"id":"two","title":{"es":"Dos","hu":"Kettő"},"type":"physical","points":1}`)
		done(h, "/admin/modules/language", `{"config":{"default":"es","enabled":["en","es","fr","hu","de"]}}`)
		h.entity("rewards/reward", `{"id":"german","title":{"de":"Tasse","en":"Cup"},"type":"physical","points":1}`)
		for _, c := range [][4]string{
			{"two", "fr, hu;q=0.5", "Kettő", "hu"}, {"two", "fr", "Dos", "es"}, {"two", "de, *;q=0.1", "Dos", "es"},
			{"german", "de", "Tasse", "de"}, {"german", "fr, de;q=0.2", "Tasse", "de"}, {"german", "hu", "Tasse", "de"}, {"german", "it", "Tasse", "de"},
		} {
			shown := h.get("/rewards/"+c[0], "Accept-language", c[1])
			require.Equal(t, c[2], data(t, shown)["title"], c)
			require.Equal(t, c[3], shown.header.Get("Content-Language"), c)
		}

		german := h.get("/rewards/none", "Accept-language", "de")
		require.Equal(t, "es", german.header.Get("Content-Language"), "the platform speaks no German")
		require.Equal(t, h.get("/rewards/none", "Accept-language", "es").fault(t).Message, german.fault(t).Message)
		french := h.get("/rewards/none", "Accept-language", "de, fr;q=0.1")
		require.Equal(t, "fr", french.header.Get("Content-Language"))

		done(h, "/admin/modules/language", `{"config":{"default":"hu","enabled":["hu","fr"]}}`)
		require.Equal(t, "hu", h.get("/rewards/none").header.Get("Content-Language"), "at once, and to the header that was read last")
		for header, want := range map[string][]string{"": hu, "de": hu, "en": hu, "es, en;q=0.9": hu, "en, fr;q=0.1": fr} {
			require.Equal(t, want, speak(header), "%s, in a Hungarian programme", header)
		}

		unsigned := h.send(h.request(http.MethodGet, "/customers", "", "Accept-language", "de"))
		require.Equal(t, "hu", unsigned.header.Get("Content-Language"), "a 401 speaks it too")
	})
}

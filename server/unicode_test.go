package server_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestIdsAreBytes: an id is what was sent. The two ways in which Unicode writes a
// letter make two customers, and half of a character makes none.
func TestIdsAreBytes(t *testing.T) {
	const composed, decomposed = "zo\u00e9", "zoe\u0301"
	storetest.EachURL(t, func(t *testing.T, address string) {
		h := openOn(t, address)
		h.enrol(composed)
		path := func(id string) string { return "/customers/" + url.PathEscape(id) }
		require.Equal(t, http.StatusNotFound, h.get(path(decomposed)).status)
		h.enrol(decomposed)
		done(h, "/events", `{"customer":"`+composed+`","action":"point_add","data":{"points":5}}`)
		require.EqualValues(t, "5", data(t, h.get(path(composed)))["score"])
		require.EqualValues(t, "0", data(t, h.get(path(decomposed)))["score"])

		for _, body := range []string{
			`{"customer":"a\ud800","action":"opt_in","data":{}}`, `{"customer":"a","action":"opt_in","data":{"cf_\udfff":1}}`,
			`{"customer":"a","action":"opt_in","data":{"first_name":"\ud83d"}}`,
		} {
			a := h.post("/events", body)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, 190068, a.fault(t).Code)
		}

		a := h.form("/events", "customer=a%ed%a0%80&action=opt_in&data=")
		require.Equal(t, http.StatusBadRequest, a.status, a.body)
		require.Equal(t, 190068, a.fault(t).Code)
		require.Equal(t, http.StatusNotFound, h.get("/customers/a%EF%BF%BD").status)
	})
}

// TestFormsWithoutData: what needs no attribute can be sent as a form.
func TestFormsWithoutData(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		h := openOn(t, address)
		for _, form := range []string{
			"customer=ada&action=opt_in&data[email]=ada@shop.test", "customer=ada&action=suspend&data=", "customer=ada&action=unsuspend",
			"customer=ada&action=opt_out&data=",
		} {
			a := h.form("/events", form)
			require.Equal(t, http.StatusOK, a.status, "%s: %s", form, a.body)
		}

		a := h.form("/events/bulk", "events[0][customer]=bob&events[0][action]=opt_in&events[0][data][email]=bob@shop.test&events[1][customer]=bob&events[1][action]=suspend&events[1][data]=")
		require.Equal(t, http.StatusOK, a.status, a.body)
		require.NotContains(t, a.body, `"error"`)
		for form, field := range map[string]string{
			"customer=bob&action=point_add":       "data",
			"customer=bob&action=point_add&data=": "data.points",
		} {
			a := h.form("/events", form)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), form)
		}

		a = h.post("/events", `{"customer":"bob","action":"unsuspend"}`)
		require.Equal(t, http.StatusBadRequest, a.status, a.body)
		require.Equal(t, "Property data cannot be empty", a.fault(t).Message)
	})
}

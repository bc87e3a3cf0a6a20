package server_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestAttributesOfCustomers: what the programme declares for customers is checked
// by its type in JSON and converted to it from a form, in events that write the
// profile; what it does not declare stays as it was sent.
//
// spec: rule.profile.custom
func TestAttributesOfCustomers(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("member-1001")
		done(h, "/admin/modules/custom_entities", `{"enabled":true}`)
		done(h, "/entities/custom-entities/attribute", `{"on":"core/customer","name":"newsletter","type":"boolean"}`)
		done(h, "/entities/custom-entities/attribute", `{"on":"core/customer","name":"children","type":"integer"}`)

		a := h.form("/events", "customer=member-1001&action=profile&data[cf_newsletter]=true&data[cf_children]=2&data[cf_note]=7")
		require.Equal(t, http.StatusOK, a.status, a.body)
		a = h.get("/customers/member-1001")
		require.Contains(t, a.body, `"cf_newsletter":true`)
		require.Contains(t, a.body, `"cf_children":2`)
		require.Contains(t, a.body, `"cf_note":"7"`)

		for _, a := range []answer{
			h.post("/events", `{"customer":"member-1001","action":"profile","data":{"cf_newsletter":"true"}}`),
			h.form("/events", "customer=member-1001&action=profile&data[cf_newsletter]=yes"),
		} {
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, []string{"data.cf_newsletter"}, a.fault(t).fields())
		}

		a = h.post("/events", `{"customer":"member-1002","action":"opt_in","data":{"email":"m@shop.test","cf_children":"two"}}`)
		require.Equal(t, []string{"data.cf_children"}, a.fault(t).fields())

		a = h.post("/entities/custom-entities/attribute", `{"on":"core/customer","name":"children","type":"string"}`)
		require.Equal(t, http.StatusConflict, a.status, a.body)
		require.Equal(t, 190341, a.fault(t).Code)
		require.Equal(t, []string{"name"}, a.fault(t).fields())
	})
}

// TestActionOfAModuleThatIsOff: a declared action is known, so while its module is
// off the answer names the module.
func TestActionOfAModuleThatIsOff(t *testing.T) {
	h := open(t)
	h.enrol("member-1001")
	done(h, "/admin/modules/custom_events", `{"enabled":true}`)
	done(h, "/entities/custom-events/action", `{"id":"tasting","name":"tasting","schema":{"type":"object","properties":{"cups":{"type":"integer"}}}}`)
	done(h, "/entities/automation/campaign", `{"name":"Taste","trigger":"tasting","condition":"event.data.cups > 1","effects":[{"type":"points","points":5}],"status":"active"}`)
	const body = `{"customer":"member-1001","action":"tasting","data":{"cups":2}}`
	require.Equal(t, []string{"tasting", "point_add"}, recordedActions(done(h, "/events", body)))
	done(h, "/admin/modules/custom_events", `{"enabled":false}`)
	for _, a := range []answer{h.post("/events", body), h.form("/events", "customer=member-1001&action=tasting&data[cups]=2")} {
		require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
		require.Equal(t, 190043, a.fault(t).Code)
		require.Contains(t, a.fault(t).Message, "custom_events")
	}

	require.Contains(t, h.post("/events/preview", body).body, `"code":190043`)
}

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/servertest"
)

// TestInternalActionsNameTheirOperation: who submits what only the platform writes
// is told, in each language, which operation of the documents writes it, and that is the one
// which the document of the action names, where it names one.
func TestInternalActionsNameTheirOperation(t *testing.T) {
	h := open(t, patient)
	h.enrol("ada")
	documented, written := map[string]bool{}, map[string]any{}
	for _, doc := range servertest.Documents() {
		if event := doc.Components.Schemas["Event"]; event != nil && event.Value.Extensions["x-internal-actions"] != nil {
			written = event.Value.Extensions["x-internal-actions"].(map[string]any)
		}
		for path, item := range doc.Paths.Map() {
			for verb := range item.Operations() {
				documented[verb+" "+path] = true
			}
		}
	}

	all := programme.InternalActions()
	require.NotEmpty(t, all)
	for _, action := range all {
		for _, language := range []string{"en", "es", "fr", "hu"} {
			a := h.post("/events", `{"customer":"ada","action":"`+action+`","data":{}}`, "Accept-language", language)
			require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
			message := a.fault(t).Message
			from := strings.Index(message, "POST /")
			require.Positive(t, from, message)
			path, _, _ := strings.Cut(message[from+len("POST "):], " ")
			require.True(t, documented["POST "+path], "%s: %s", action, message)
			by := written[action].(map[string]any)["written_by"].(string)
			if _, after, named := strings.Cut(by, "POST "); named {
				require.Equal(t, strings.TrimRight(after, "`"), path, action)
			}
		}
	}
}

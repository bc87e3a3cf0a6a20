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
// is told, in each language, which operation of the documents writes it.
func TestInternalActionsNameTheirOperation(t *testing.T) {
	h := open(t, patient)
	h.enrol("ada")
	documented := map[string]bool{}
	for _, doc := range servertest.Documents() {
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
		}
	}
}

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTraceIDs: the log has the ids of a trace that was sent by the letter, and nothing of
// a header that was not.
func TestTraceIDs(t *testing.T) {
	h := open(t)
	trace, span := "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

	for sent, is := range map[string]bool{
		"00-" + trace + "-" + span + "-01":                         true,
		"00-" + trace + "-" + span + "-00":                         true,
		"cc-" + trace + "-" + span + "-01-later":                   true,
		"00-" + trace + "-" + span + "-01-later":                   false,
		"cc-" + trace + "-" + span + "-01.later":                   false,
		"ff-" + trace + "-" + span + "-01":                         false,
		"00-" + strings.ToUpper(trace) + "-" + span + "-01":        false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":       false,
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01":      false,
		"00-" + strings.Repeat("canary--", 4) + "-" + span + "-01": false,
		"canary": false,
		"":       false,
	} {
		r, err := http.NewRequest(http.MethodGet, h.url+"/livez", nil)
		require.NoError(t, err)
		r.Header.Set("Traceparent", sent)
		a, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, a.Body.Close())
		line := h.log.lines(t, a.Header.Get("X-Request-Id"))[0]
		if is {
			require.Equal(t, trace, line["trace_id"], sent)
			require.Equal(t, span, line["span_id"], sent)
		} else {
			require.NotContains(t, line, "trace_id", sent)
			require.NotContains(t, line, "span_id", sent)
		}
	}
}

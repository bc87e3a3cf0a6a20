package server_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
)

// TestRequestsAreCounted: each request for an operation is counted once, by how it ended; what is no operation is not.
func TestRequestsAreCounted(t *testing.T) {
	h := open(t, func(o *server.Options) { o.Reader = brokenReader{o.Reader, errors.New("broken")} })
	counted := func() (sums [3]int64) {
		minutes := data(t, h.get("/admin/requests/minutes"))["minutes"].([]any)
		require.NotEmpty(t, minutes)
		for _, m := range minutes {
			for i, name := range []string{"requests", "refused", "failed"} {
				n, err := m.(map[string]any)[name].(json.Number).Int64()
				require.NoError(t, err)
				sums[i] += n
			}
		}
		return sums
	}

	before := counted()
	require.Equal(t, http.StatusOK, h.get("/customers").status)
	require.Equal(t, http.StatusBadRequest, h.get("/customers?limit=0").status)
	require.Equal(t, http.StatusUnauthorized, h.send(h.request(http.MethodGet, "/customers", "")).status, "who has no signature is counted too")
	require.Equal(t, http.StatusInternalServerError, h.get("/customers/ada").status)
	require.Equal(t, http.StatusNotFound, h.get("/nowhere").status)
	after := counted()
	require.Equal(t, [3]int64{5, 2, 1}, [3]int64{after[0] - before[0], after[1] - before[1], after[2] - before[2]}, "the first look among them")
}

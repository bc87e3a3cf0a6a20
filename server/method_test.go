package server_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/servertest"
)

// TestAllow: a 405 names exactly the verbs that its path knows, for each path of the
// documents, whatever its parameters are.
func TestAllow(t *testing.T) {
	h := open(t, patient)
	served := map[string][]string{}
	for _, doc := range servertest.Documents() {
		for path, item := range doc.Paths.Map() {
			served[path] = append(served[path], verbs(item)...)
		}
	}

	require.Greater(t, len(served), 60)
	for _, public := range []string{"/livez", "/docs", "/openapi/events.yaml", "/"} {
		served[public] = []string{http.MethodGet, http.MethodHead}
	}

	parameter := regexp.MustCompile(`\{[a-z_]+\}`)
	for path := range served {
		for _, value := range []string{"x1", "-", "a%2Fb"} {
			target := parameter.ReplaceAllString(path, value)
			known := map[string]bool{} // of every path that this one fits
			for other, verbs := range served {
				fits := regexp.MustCompile("^" + parameter.ReplaceAllString(other, "[^/]+") + "$").MatchString(target)
				for _, verb := range verbs {
					known[verb] = known[verb] || fits
				}
			}

			for _, verb := range []string{http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, http.MethodGet, http.MethodPost} {
				a := h.signed(h.key, h.request(verb, target, ""))
				require.Equal(t, !known[verb], a.status == http.StatusMethodNotAllowed, "%s %s: %d", verb, target, a.status)
				if a.status == http.StatusMethodNotAllowed {
					for other, fits := range known {
						require.Equal(t, fits, slices.Contains(strings.Split(a.header.Get("Allow"), ", "), other), "%s %s: %s", verb, target, a.header.Get("Allow"))
					}
				}
			}
		}
	}
}

func verbs(item *openapi3.PathItem) (names []string) {
	for verb := range item.Operations() {
		names = append(names, verb)
	}
	return names
}

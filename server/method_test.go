package server_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
)

// TestAllow: a 405 names exactly the verbs that its path knows, for each path of the
// documents, whatever its parameters are.
func TestAllow(t *testing.T) {
	h := open(t, func(o *server.Options) { o.Limiter = unlimited{} })
	served := map[string][]string{}
	for _, api := range openapi.Names() {
		doc, err := openapi.Load(api)
		require.NoError(t, err)
		for path, item := range doc.Paths.Map() {
			served[path] = append(served[path], verbs(item)...)
		}
	}
	require.Greater(t, len(served), 60)
	for _, public := range []string{"/livez", "/docs", "/openapi/events.yaml", "/"} {
		served[public] = []string{http.MethodGet}
	}
	parameter := regexp.MustCompile(`\{[a-z_]+\}`)
	for path, known := range served {
		slices.Sort(known)
		for _, value := range []string{"x1", "-", "a%2Fb"} {
			target := parameter.ReplaceAllString(path, value)
			for _, verb := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, http.MethodGet, http.MethodPost} {
				a := h.signed(h.key, h.request(verb, target, ""))
				if a.status != http.StatusMethodNotAllowed {
					require.True(t, slices.Contains(known, verb) || target != path, "%s %s: %d", verb, target, a.status)
					continue
				}
				allowed := strings.Split(a.header.Get("Allow"), ", ")
				slices.Sort(allowed)
				for _, other := range allowed {
					b := h.signed(h.key, h.request(other, target, ""))
					require.NotEqual(t, http.StatusMethodNotAllowed, b.status, "%s %s allows %s", verb, target, other)
				}
				if target == path { // which may fit another one's parameter too
					require.Subset(t, allowed, known, "%s %s", verb, target)
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

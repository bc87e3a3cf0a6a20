package openapi_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

// TestErrors: each row of the table is whole, no name stands twice, and what it advises
// exists.
func TestErrors(t *testing.T) {
	all, err := openapi.Errors()
	require.NoError(t, err)
	require.Greater(t, len(all), 100)
	var known []string
	for _, op := range operations(t) {
		known = append(known, op.method+" "+op.path)
	}

	names, advised := map[string]bool{}, regexp.MustCompile(`(GET|POST) /[^\s,.;:`+"`"+`]*`)
	for _, e := range all {
		require.False(t, names[e.Name], e.Name)
		names[e.Name] = true
		for _, text := range []string{e.When, e.Do} {
			require.Regexp(t, `^[A-Z0-9`+"`"+`].*[.]$`, text, e.Name)
			for _, operation := range advised.FindAllString(text, -1) {
				inConsole := strings.HasPrefix(operation, "POST /console/") // beside the contract
				require.True(t, inConsole || slices.Contains(known, operation), "%s advises %s, which is not there", e.Name, operation)
			}
		}
		require.True(t, e.Status >= 400 && e.Status < 600, e.Name)
	}
}

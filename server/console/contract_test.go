package console

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

var (
	// called are the calls of the console: the function of api.js, and the path that begins
	// its arguments, a text or a template.
	called = regexp.MustCompile("\\b(get|post|ask)\\((?:'(/[^']*)'|`(/[^`]*)`)( \\+ )?")
	hole   = regexp.MustCompile(`\$\{(?:[^{}]|\{[^{}]*\})*\}`)
)

// TestCallsAreInTheContract: every path that a file of the console asks for is one of the
// documents, by the method by which it asks.
func TestCallsAreInTheContract(t *testing.T) {
	known, read := map[string][]*regexp.Regexp{}, openapi.Reader()
	for _, name := range openapi.Names() {
		doc, err := read(name)
		require.NoError(t, err)
		for path, item := range doc.Paths.Map() {
			shape := regexp.MustCompile("^" + regexp.MustCompile(`\\\{[^}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
			for method := range item.Operations() {
				known[method] = append(known[method], shape)
			}
		}
	}

	count := 0
	eachFile(t, func(name, text string) {
		if !strings.HasSuffix(name, ".js") {
			return
		}

		for _, m := range called.FindAllStringSubmatch(text, -1) {
			method, path := http.MethodPost, m[2]+m[3]
			if m[1] == "get" {
				method = http.MethodGet
			}

			path = strings.ReplaceAll(path, "${kind}", "module/entity")
			path = hole.ReplaceAllString(path, "x")
			if m[4] != "" { // what follows is an id; after /entities/ it is a kind
				path += map[bool]string{true: "module/entity", false: "x"}[strings.HasSuffix(path, "/entities/")]
			}

			found := false
			for _, shape := range known[method] {
				found = found || shape.MatchString(path)
			}

			assert.True(t, found, "%s: %s %s is in no document", name, method, path)
			count++
		}
	})

	require.Greater(t, count, 50)
}

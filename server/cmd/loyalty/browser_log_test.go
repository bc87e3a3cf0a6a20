package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

// asked is a request that a page sent; test says that it did so because the test asked it to, and not its screen.
type asked struct {
	method, url string
	test        bool
}

// byTest is the header of what a test asks for itself.
const byTest = "X-Asked-By-Test"

// operations are the paths of the documents by method.
var operations = sync.OnceValues(func() (map[string][]*regexp.Regexp, error) {
	known, read := map[string][]*regexp.Regexp{}, openapi.Reader()
	for _, name := range openapi.Names() {
		doc, err := read(name)
		if err != nil {
			return nil, err
		}
		for path, item := range doc.Paths.Map() {
			shape := regexp.MustCompile("^" + regexp.MustCompile(`\\\{[^}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
			for method := range item.Operations() {
				known[method] = append(known[method], shape)
			}
		}
	}

	return known, nil
})

// beside are what pages ask for besides operations: what is the console's and the portal's own.
var beside = map[string]*regexp.Regexp{
	http.MethodGet:  regexp.MustCompile(`^(/|/console/|/console/files/[0-9a-f]{16}/[\w./-]+|/console/oidc/\w+|/openapi/[\w-]+\.json|/docs(/.*)?)$`),
	http.MethodPost: regexp.MustCompile(`^/console/(session|session/(end|confirm)|enter|self/(password|totp)|passkey/\w+)$|^/docs/try$`),
}

// within holds the log of all that the pages have asked for: no other host, and of the server what is in the contract, or is one
// of the few things beside it. A page that was asked for by a test is no call of the console's. It gives how many calls there were.
func (b *browsed) within() (calls int) {
	b.t.Helper()
	known, err := operations()
	require.NoError(b.t, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.requests {
		at, err := url.Parse(a.url)
		require.NoError(b.t, err)
		if at.Scheme == "data" || at.Scheme == "about" || at.Scheme == "blob" {
			continue
		}
		if !assert.Equal(b.t, b.base, at.Scheme+"://"+at.Host, a.url) {
			continue
		}

		path, bridged := strings.CutPrefix(at.EscapedPath(), "/console/api")
		if !bridged {
			assert.Regexp(b.t, beside[a.method], path, "%s %s", a.method, a.url)
			continue
		}

		calls++
		found := false
		for _, shape := range known[a.method] {
			found = found || shape.MatchString(path)
		}

		assert.True(b.t, found, "%s %s is in no document", a.method, path)
	}

	return calls
}

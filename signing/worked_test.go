package signing

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// workedCase is one request of testdata/worked_cases.json, which says where the cases come from.
type workedCase struct {
	name, method, target, host, date string
	headers                          [][2]string
	hosts                            []string
	body                             string
	length                           int64
	legacyPlus                       bool
	signed                           string
	canonical, text, signature       string
}

var workedCases = readWorkedCases("testdata/worked_cases.json")

func readWorkedCases(path string) []workedCase {
	var file struct {
		Cases []struct {
			Name, Method, Target, Host, Date string
			Headers                          [][2]string
			Hosts                            []string
			Body                             string
			Length                           int64
			LegacyPlus                       bool
			Signed                           string
			Canonical, Text                  []string // line by line
			Signature                        string
		}
	}

	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &file)
	}
	if err != nil {
		panic(err)
	}

	cases := make([]workedCase, len(file.Cases))
	for i, c := range file.Cases {
		cases[i] = workedCase{
			c.Name, c.Method, c.Target, c.Host, c.Date, c.Headers, c.Hosts, c.Body, c.Length, c.LegacyPlus, c.Signed,
			strings.Join(c.Canonical, "\n"), strings.Join(c.Text, "\n"), c.Signature,
		}
	}

	return cases
}

const (
	testKey    = "shop-1"
	testSecret = "not-a-real-secret"
)

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func testScheme() Scheme {
	s := Default("eu")
	s.Now = func() time.Time { return testNow }
	return s
}

func newTestVerifier(tb testing.TB, change ...func(*Scheme)) *Verifier {
	tb.Helper()
	s := testScheme()
	for _, f := range change {
		f(&s)
	}
	v, err := NewVerifier(s)
	require.NoError(tb, err)
	return v
}

func testLookup(keyID string) ([]string, bool) { return []string{testSecret}, keyID == testKey }

func (c workedCase) incoming() Incoming {
	header := http.Header{}
	header.Set("Date", c.date)
	header.Set("Authorization", "SERVICE-HMAC-SHA256 Credential=shop-1/20260301/eu/api/service_request, SignedHeaders="+
		c.signed+", Signature="+c.signature)
	for _, h := range c.headers {
		header.Add(h[0], h[1])
	}
	return Incoming{
		Method: c.method, Target: c.target, Header: header, Host: c.host,
		Hosts: c.hosts, ContentLength: c.length, Body: []byte(c.body),
	}
}

// spec: auth.canonical.*, auth.string-to-sign, auth.signing-key, auth.scope, auth.header, auth.hex, auth.dates, auth.paths
func TestWorkedCases(t *testing.T) {
	require.Len(t, workedCases, 103, "none is lost")
	for _, c := range workedCases {
		t.Run(c.name, func(t *testing.T) {
			v := newTestVerifier(t, func(s *Scheme) { s.LegacyPlus = c.legacyPlus })
			attempts, err := v.Explain(c.incoming())
			require.NoError(t, err)
			require.Contains(t, attempts, Attempt{c.canonical, c.text})

			verified, err := v.Verify(c.incoming(), testLookup)
			require.NoError(t, err)
			require.Equal(t, testKey, verified.KeyID)
			require.Equal(t, c.signature, verified.Signature)

			_, err = v.Verify(c.incoming(), func(string) ([]string, bool) { return []string{"another"}, true })
			require.Equal(t, refused(), err)
		})
	}
}

// The forms that belong to one request only must not be accepted for a neighbour that means something else.
func TestFormsStayApart(t *testing.T) {
	byName := func(name string) workedCase {
		for _, c := range workedCases {
			if c.name == name {
				return c
			}
		}
		require.Fail(t, "no such case", name)
		return workedCase{}
	}

	for _, c := range []struct{ name, of, target string }{
		{"encoded slash is not a slash", "path: encoded slash stays data", "/customers/a/b"},
		{"encoded percent is not decoded twice", "path: encoded percent once", "/aA"},
		{"plus in a path is no blank", "path: plus encoded, never a blank", "/a%20b"},
		{"trailing slash", "path: trailing slash", "/v1/customers"},
		{"%2B is no blank", "query: %2B is a plus", "/v1/customers?email=a+b@example.com"},
		{"legacy form without the switch", "query: %2B signed as a blank by an old client", "/v1/customers?email=a%2Bb"},
		{"semicolon does not separate", "query: semicolon is data", "/v1/customers?a=1&b=2"},
		{"value moved to another name", "query: sorted by name", "/v1/customers?a=2&b=1"},
		{"parameter repeated", "query: one", "/v1/customers?limit=10&limit=10"},
		{"parameter added", "query: none", "/v1/customers?a"},
		{"parameter added with nothing in it", "query: none", "/v1/customers?="},
		{"case of a value", "query: upper-case name before lower-case", "/v1/customers?b=2&b=1"},
		{"dots in a name", "path: dots in a name are a name", "/.well-known/a..b/.."},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := byName(c.of).incoming()
			in.Target = c.target
			_, err := newTestVerifier(t).Verify(in, testLookup)
			require.Equal(t, refused(), err)
		})
	}
}

func TestExplainIsBoundedAndHasNoDuplicates(t *testing.T) {
	c := workedCases[0]
	c.target = "/a:b/./x?a!=1&a=2&&a=~&a=%C3%A9&a.b=3&a%5Bc%5D=!&a1=4"
	c.headers, c.signed = [][2]string{{"X-A", `"q   q"   r`}}, "date;host;x-a"
	c.hosts = []string{"one.example.com", "two.example.com:443"}
	attempts, err := newTestVerifier(t).Explain(c.incoming())
	require.NoError(t, err)
	require.Len(t, attempts, maxForms)
	seen := map[string]bool{}
	for _, a := range attempts {
		require.False(t, seen[a.CanonicalRequest], a.CanonicalRequest)
		seen[a.CanonicalRequest] = true
	}

	for _, simple := range []string{"/", "/events", "/v1/customers?limit=10&offset=20"} {
		c := workedCases[0]
		c.target = simple
		attempts, err := newTestVerifier(t).Explain(c.incoming())
		require.NoError(t, err)
		require.Len(t, attempts, 1, simple)
	}
}

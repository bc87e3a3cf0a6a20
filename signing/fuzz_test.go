package signing

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzAuthorization: no header panics, is accepted, or is read as something that does not write the same header again.
func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{
		goodAuthorization, "", " ", "SERVICE-HMAC-SHA256", "SERVICE-HMAC-SHA256 Credential=", strings.Repeat(",", 5000),
		strings.ReplaceAll(goodAuthorization, ", ", ","), strings.Replace(goodAuthorization, "date;host", ";;", 1),
		"SERVICE-HMAC-SHA256 Credential=/////, SignedHeaders=;, Signature=g", goodAuthorization + goodAuthorization, "Bearer \xff\x00",
	} {
		f.Add(seed)
	}

	v := newTestVerifier(f)
	f.Fuzz(func(t *testing.T, value string) {
		_, err := v.Verify(request(authorized(value)), testLookup)
		require.NotZero(t, codeOf(t, err))
		var want [32]byte
		a, wrong := parseAuthorization(value, &want)
		if wrong == "" {
			again := a.algorithm + " Credential=" + a.keyID + "/" + a.day + "/" + a.scope + ",SignedHeaders=" + a.signedHeaders + ",Signature=" + a.signature
			require.Equal(t, strings.ReplaceAll(again, ", ", ","), strings.ReplaceAll(value, ", ", ","))
		}
	})
}

// FuzzDate: a date that is read has one condensed form, and that form is the same instant.
func FuzzDate(f *testing.F) {
	for _, seed := range []string{"20260301T120000Z", "Sun, 01 Mar 2026 12:00:00 GMT", "2026-03-01T12:00:00+01:00", "2026-03-01T12:00:00-0100", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, at, ok := parseDate(text)
		if !ok {
			return
		}
		again, same, ok := parseDate(string(d[:8]) + "T" + string(d[8:]) + "Z")
		require.True(t, ok)
		require.Equal(t, d, again)
		require.True(t, at.Equal(same))
	})
}

// FuzzCanonical: no target, header or body panics; canonical parts are their own canonical form; and what was signed
// verifies.
func FuzzCanonical(f *testing.F) {
	for _, c := range workedCases {
		value := ""
		if len(c.headers) > 0 {
			value = c.headers[0][1]
		}
		f.Add(c.target, c.host, value, []byte(c.body))
	}

	v := newTestVerifier(f)
	f.Fuzz(func(t *testing.T, target, host, value string, body []byte) {
		in := request(targeted(target), replaced("date;host", "date;host;x-a"))
		in.Host, in.Body = host, body
		in.Header["X-A"] = []string{value}
		attempts, err := v.Explain(in)
		_, refusal := v.Verify(in, testLookup)
		require.NotZero(t, codeOf(t, refusal))
		if err != nil {
			require.Equal(t, err, refusal)
			return
		}

		require.NotEmpty(t, attempts)
		require.LessOrEqual(t, len(attempts), maxForms)
		requireIdempotent(t, v, in)
		requireVerifies(t, v, in)
	})
}

func requireIdempotent(t *testing.T, v *Verifier, in Incoming) {
	t.Helper()
	w := &work{in: in}
	_, err := v.read(w)
	require.NoError(t, err)
	clean := cleanPath(w.path)
	require.Equal(t, clean, cleanPath(clean))
	require.Equal(t, encodePath(clean), encodePath(encodePath(clean)))
	query := string(w.textQuery(nil))
	again := &work{query: query, hasQuery: query != ""}
	require.Equal(t, query, string(again.textQuery(nil)))
	value := string(appendCollapsed(nil, in.Header["X-A"][0], false))
	require.Equal(t, value, string(appendCollapsed(nil, value, false)))
}

// requireVerifies signs the request as a client would and verifies the result.
func requireVerifies(t *testing.T, v *Verifier, in Incoming) {
	t.Helper()
	path, query, hasQuery, ok := splitTarget(in.Target)
	require.True(t, ok)
	decoded, err := url.PathUnescape(path)
	require.NoError(t, err)
	r := &http.Request{
		Method: in.Method, Host: in.Host, Header: http.Header{"X-A": in.Header["X-A"]},
		URL: &url.URL{Scheme: "http", Path: decoded, RawPath: path, RawQuery: query, ForceQuery: hasQuery},
	}

	if err := testScheme().Sign(r, in.Body, Credential{testKey, testSecret}, "x-a"); err != nil {
		return // a host or target that no client sends
	}

	_, err = v.Verify(FromRequest(r, in.Body), testLookup)
	require.NoError(t, err)
}

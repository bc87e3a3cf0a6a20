package signing

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The worked example of the README: every line of it written out.
//
// spec: auth.header, auth.secret, auth.header.unsigned
func TestSignWritesTheSpecifiedHeaders(t *testing.T) {
	r, err := http.NewRequest(http.MethodGet, "https://api.example.com/v1/customers?b=2&a=1", nil)
	require.NoError(t, err)
	require.NoError(t, testScheme().Sign(r, nil, Credential{testKey, testSecret}))
	require.Equal(t, "20260301T120000Z", r.Header.Get("Date"))
	var worked workedCase
	for _, c := range workedCases {
		if c.name == "query: sorted by name" {
			worked = c
		}
	}
	require.Equal(t, "SERVICE-HMAC-SHA256 Credential=shop-1/20260301/eu/api/service_request, SignedHeaders=date;host, Signature="+
		worked.signature, r.Header.Get("Authorization"))
}

func TestSignRefuses(t *testing.T) {
	good := Credential{testKey, testSecret}
	for _, c := range []struct {
		name, url  string
		credential Credential
		headers    []string
		reason     string
	}{
		{"no secret", "http://h/", Credential{KeyID: "k"}, nil, "Secret"},
		{"no key id", "http://h/", Credential{Secret: "s"}, nil, "KeyID"},
		{"key id with a slash", "http://h/", Credential{"a/b", "s"}, nil, "KeyID"},
		{"absent header", "http://h/", good, []string{"X-Absent"}, `"x-absent" is to be signed but not set`},
		{"authorization", "http://h/", good, []string{"Authorization"}, "cannot be signed"},
		{"no header name", "http://h/", good, []string{"a b"}, "cannot be signed"},
		{"host of other letters", "http://bücher.example/", good, nil, "ASCII"},
		{"broken triplet in the query", "http://h/?a=%zz", good, nil, "query: has a broken percent triplet"},
		{"query too long", "http://h/?" + strings.Repeat("a", 8193), good, nil, "query: is longer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodGet, c.url, nil)
			require.NoError(t, err)
			require.ErrorContains(t, testScheme().Sign(r, nil, c.credential, c.headers...), c.reason)
			require.Empty(t, r.Header.Get("Authorization"))
		})
	}

	r, err := http.NewRequest(http.MethodGet, "http://h/", nil)
	require.NoError(t, err)
	require.ErrorContains(t, Scheme{}.Sign(r, nil, good), "AlgorithmPrefix")
}

func TestSignNamesAHeaderOnce(t *testing.T) {
	r, err := http.NewRequest(http.MethodGet, "http://api.example.com/", nil)
	require.NoError(t, err)
	r.Header.Set("X-A", "1")
	require.NoError(t, testScheme().Sign(r, nil, Credential{testKey, testSecret}, "x-a", "Host", "X-A", "DATE"))
	require.Contains(t, r.Header.Get("Authorization"), "SignedHeaders=date;host;x-a,")
}

// newSignedServer answers 200 with the received body when the signature is good and the target clean, and the error's text
// with its status otherwise.
func newSignedServer(t *testing.T) *httptest.Server {
	t.Helper()
	v, err := NewVerifier(Default("eu"))
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}

		_, err = v.Verify(FromRequest(r, body), testLookup)
		var refused *Error
		var unreadable *RequestError
		switch {
		case errors.As(err, &refused):
			w.Header().Set("WWW-Authenticate", "SERVICE-HMAC-SHA256")
			http.Error(w, err.Error(), refused.Status())
		case errors.As(err, &unreadable):
			http.Error(w, err.Error(), unreadable.Status())
		case !IsClean(r.RequestURI):
			http.NotFound(w, r)
		default:
			w.Write(body)
		}
	}))

	t.Cleanup(server.Close)
	return server
}

func TestTransport(t *testing.T) {
	server := newSignedServer(t)
	client := &http.Client{Transport: &Transport{
		Scheme: Default("eu"), Credential: Credential{testKey, testSecret}, Headers: []string{"Content-Type", "X-Absent"},
	}}
	for _, c := range []struct {
		method, target, body string
		status               int
	}{
		{"GET", "/events", "", 200},
		{"GET", "", "", 200},
		{"GET", "/v1/customers?filter[status][eq]=active&limit=10&limit.eq=5&q=a+b%2B!*;x", "", 200},
		{"GET", "/customers/shop:7@x/a%2Fb+c%20d", "", 200},
		{"GET", "/customers/%C3%A9?x=%ff", "", 200},
		{"POST", "/events", `{"note":"árvíztűrő"}`, 200},
		{"POST", "/customers/c/activities/rewards/r/claim", "", 200},
		{"GET", "/v1//customers", "", 404},
		{"GET", "/v1/%2e%2e/customers", "", 404},
	} {
		r, err := http.NewRequest(c.method, server.URL+c.target, strings.NewReader(c.body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		before := r.Header.Clone()
		answer, err := client.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, c.status, answer.StatusCode, "%s %s: %s", c.method, c.target, text)
		if c.status == http.StatusOK {
			require.Equal(t, c.body, string(text))
		}

		require.Equal(t, before, r.Header, "the caller's request stays as it is")
	}
}

func TestTransportWithAWrongSecret(t *testing.T) {
	client := &http.Client{Transport: &Transport{Scheme: Default("eu"), Credential: Credential{testKey, "wrong"}}}
	answer, err := client.Get(newSignedServer(t).URL + "/events")
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
	require.Equal(t, "SERVICE-HMAC-SHA256", answer.Header.Get("WWW-Authenticate"))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A body that can be read once only can be sent again by the base transport, when a kept connection turns out to be dead.
func TestTransportKeepsTheBody(t *testing.T) {
	r, err := http.NewRequest(http.MethodPost, "http://api.example.com/events", io.MultiReader(strings.NewReader("once")))
	require.NoError(t, err)
	transport := &Transport{Scheme: testScheme(), Credential: Credential{testKey, testSecret}, Base: roundTripper(func(sent *http.Request) (*http.Response, error) {
		require.EqualValues(t, 4, sent.ContentLength)
		for range 2 {
			body, err := sent.GetBody()
			require.NoError(t, err)
			text, err := io.ReadAll(body)
			require.NoError(t, err)
			require.Equal(t, "once", string(text))
		}
		_, err := newTestVerifier(t).Verify(FromRequest(sent, []byte("once")), testLookup)
		require.NoError(t, err)
		return &http.Response{StatusCode: http.StatusOK}, nil
	})}

	_, err = transport.RoundTrip(r)
	require.NoError(t, err)
	require.Nil(t, r.GetBody)
}

type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }
func (brokenBody) Close() error             { return nil }

func TestTransportWithAnUnreadableBody(t *testing.T) {
	client := &http.Client{Transport: &Transport{Scheme: Default("eu"), Credential: Credential{testKey, testSecret}}}
	_, err := client.Post("http://127.0.0.1:1/", "text/plain", brokenBody{})
	require.ErrorContains(t, err, "the disk is gone")
}

// A body sent in chunks has no length, and is verified all the same.
func TestChunkedBody(t *testing.T) {
	server := newSignedServer(t)
	r, err := http.NewRequest(http.MethodPost, server.URL+"/events", io.MultiReader(strings.NewReader("{"), strings.NewReader("}")))
	require.NoError(t, err)
	require.NoError(t, Default("eu").Sign(r, []byte("{}"), Credential{testKey, testSecret}))
	require.Zero(t, r.ContentLength)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

// What was signed verifies, for any path, query, header and body.
func TestSignedRequestsVerify(t *testing.T) {
	v := newTestVerifier(t)

	rapid.Check(t, func(t *rapid.T) {
		octets := rapid.StringOf(rapid.SampledFrom([]rune("aZ09-_.~!*'();:@&=+$,/?%[] é€😀\"\\^`{|}<>#")))
		target := escapeWire("/"+octets.Draw(t, "path")) + "?" + escapeWire(octets.Draw(t, "query"))
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		r, err := http.NewRequest(http.MethodPost, "http://api.example.com"+target, bytes.NewReader(body))
		if err != nil {
			t.Skip("not a URL")
		}
		r.Header.Set("X-A", rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "header"))
		require.NoError(t, testScheme().Sign(r, body, Credential{testKey, testSecret}, "x-a", "content-length"))
		_, err = v.Verify(FromRequest(r, body), testLookup)
		require.NoError(t, err)
	})
}

// escapeWire makes whole triplets of stray percent signs and encodes what an HTTP client does not put on the wire.
func escapeWire(s string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", "#", "%23", "\"", "%22").Replace(s)
}

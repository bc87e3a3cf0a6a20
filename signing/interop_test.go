package signing

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/EscherAuth/escher/config"
	escherrequest "github.com/EscherAuth/escher/request"
	"github.com/EscherAuth/escher/signer"
	"github.com/stretchr/testify/require"
)

// foreignRequest is a request that a library not ours signs and sends to a real server with our verifier.
type foreignRequest struct {
	Method  string      `json:"method"`
	Target  string      `json:"target"`
	Headers [][2]string `json:"headers,omitempty"`
	Body    string      `json:"body"`
	Send    *string     `json:"send,omitempty"`
	Signed  []string    `json:"signed,omitempty"`
	status  int
	notGo   bool // the Go client signs something else
}

func foreignRequests() []foreignRequest {
	forged := `{"points":1000}`
	form := [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}}
	text := [][2]string{{"Content-Type", "application/json; charset=utf-8"}}

	return []foreignRequest{
		{Method: "GET", Target: "/", status: 200},
		{Method: "GET", Target: "/v1/customers/", status: 200},
		{Method: "GET", Target: "/v1/customers?limit=10&offset=20", status: 200},
		{Method: "GET", Target: "/v1/customers?limit=10&limit.eq=5", status: 200},
		{Method: "GET", Target: "/v1/customers?filter[status][eq]=active&filter[created_at][gte]=2026-01-01", status: 200},
		{Method: "GET", Target: "/x?a%5Bb%5D=1&a1=2&a=3", status: 200},
		{Method: "GET", Target: "/x?action=b&action=a&action=%C3%A9&action=~", status: 200},
		{Method: "GET", Target: "/x?q=a!b*c'(d)", status: 200},
		{Method: "GET", Target: "/x?q=a+b%20c%2Bd", status: 200},
		{Method: "GET", Target: "/x?email=a%2Bb%40example.com", status: 200},
		{Method: "GET", Target: "/x?a&b=&c=1&&d=2", status: 200},
		{Method: "GET", Target: "/x?a=1;b=2", status: 200, notGo: true}, // its url.Query drops the pair
		{Method: "GET", Target: "/x?q=%F0%9F%98%80&q=%EF%BC%81", status: 200},
		{Method: "GET", Target: "/customers/shop:7@x/a%40b", status: 200},
		{Method: "GET", Target: "/customers/%C3%A9%20x", status: 200},
		{Method: "GET", Target: "/customers/a%2Fb", status: 200},
		{Method: "GET", Target: "/v1//customers/./x/../y", status: 404},
		{Method: "GET", Target: "/x", Headers: [][2]string{{"X-A", `a  b "c   d"`}}, Signed: []string{"X-A"}, status: 200},
		{Method: "GET", Target: "/x", Headers: [][2]string{{"X-A", "b"}, {"X-A", "a"}}, Signed: []string{"x-a"}, status: 200},
		{Method: "POST", Target: "/events", Headers: text, Body: `{"note":"árvíztűrő 😀"}`, Signed: []string{"Content-Type"}, status: 200},
		{Method: "POST", Target: "/events", Headers: form, Body: "data[items][0][product_id]=p-1&x=a+b", Signed: []string{"content-type"}, status: 200},
		{Method: "POST", Target: "/customers/c/activities/rewards/r/claim", status: 200},
		{Method: "POST", Target: "/events", Body: `{"points":1}`, Send: &forged, status: 401},
	}
}

// spec: auth.library
func TestInteropGo(t *testing.T) {
	server := newSignedServer(t)
	for _, c := range foreignRequests() {
		if c.notGo {
			continue
		}

		t.Run(c.Method+" "+c.Target, func(t *testing.T) {
			r, err := http.NewRequest(c.Method, server.URL+c.Target, strings.NewReader(c.Body))
			require.NoError(t, err)
			for _, h := range c.Headers {
				r.Header.Add(h[0], h[1])
			}

			signWithEscher(t, r, c.Signed)
			if c.Send != nil {
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(*c.Send)), int64(len(*c.Send))
			}

			answer, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			require.Equal(t, c.status, answer.StatusCode, "%s", text)
		})
	}
}

// signWithEscher sets the headers that github.com/EscherAuth/escher makes. The library reads the clock several times, so it
// is given one instant.
func signWithEscher(t *testing.T, r *http.Request, signed []string) {
	t.Helper()
	foreign, err := escherrequest.NewFromHTTPRequest(r)
	require.NoError(t, err)
	done, err := signer.New(config.Config{
		Date: time.Now().UTC().Format(condensed), AlgoPrefix: "SERVICE", VendorKey: "SERVICE", HashAlgo: "SHA256",
		CredentialScope: "eu/api/service_request", AccessKeyId: testKey, ApiSecret: testSecret,
		AuthHeaderName: "Authorization", DateHeaderName: "Date",
	}).SignRequest(foreign, signed)

	require.NoError(t, err)
	for _, name := range []string{"Date", "Authorization"} {
		value, found := done.Headers().Get(name)
		require.True(t, found)
		r.Header.Set(name, value)
	}
}

// spec: auth.library
func TestInteropJavaScript(t *testing.T) {
	requireNodeModules(t)
	server := newSignedServer(t)
	at, err := url.Parse(server.URL)
	require.NoError(t, err)
	cases := foreignRequests()
	job, err := json.Marshal(map[string]any{
		"port": at.Port(), "scope": "eu/api/service_request", "keyId": testKey, "secret": testSecret, "requests": cases,
	})
	require.NoError(t, err)
	node := exec.CommandContext(t.Context(), "node", "client.js")
	node.Dir, node.Stdin = "interop", bytes.NewReader(job)
	var stderr bytes.Buffer
	node.Stderr = &stderr
	out, err := node.Output()
	require.NoError(t, err, stderr.String())
	var answers []struct {
		Status int
		Text   string
	}

	require.NoError(t, json.Unmarshal(out, &answers))
	require.Len(t, answers, len(cases))
	for i, c := range cases {
		require.Equal(t, c.status, answers[i].Status, "%s %s: %s", c.Method, c.Target, answers[i].Text)
	}
}

// requireNodeModules installs the JavaScript client by its lock file when it is not there. Without Node the test is skipped,
// or fails when LOYALTY_REQUIRE_INTEROP is 1.
func requireNodeModules(t *testing.T) {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("LOYALTY_REQUIRE_INTEROP") == "1" {
		missing = t.Fatalf
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing("INTEROP NOT TESTED: node is not installed: %v", err)
	}
	if _, err := os.Stat(filepath.Join("interop", "node_modules", "escher-auth")); err == nil {
		return
	}

	npm, err := exec.LookPath("npm")
	if err != nil {
		missing("INTEROP NOT TESTED: npm is not installed: %v", err)
	}

	install := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = "interop"
	if out, err := install.CombinedOutput(); err != nil {
		missing("INTEROP NOT TESTED: npm ci: %v\n%s", err, out)
	}
}

// vector is one case of the family's own test suite, which comes with the JavaScript client.
type vector struct {
	Request vectorRequest `json:"request"`
	Config  struct {
		AlgoPrefix, VendorKey, HashAlgo, CredentialScope, AuthHeaderName, DateHeaderName, Date, APISecret, AccessKeyID string
	} `json:"config"`
	KeyDB    [][2]string `json:"keyDb"`
	Expected struct {
		Request              *vectorRequest `json:"request"`
		APIKey               string         `json:"apiKey"`
		Error                string         `json:"error"`
		CanonicalizedRequest string         `json:"canonicalizedRequest"`
		StringToSign         string         `json:"stringToSign"`
	} `json:"expected"`
}

type vectorRequest struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Headers [][2]string `json:"headers"`
	Body    string      `json:"body"`
}

func (r vectorRequest) incoming() Incoming {
	in := Incoming{Method: r.Method, Target: r.URL, Header: http.Header{}, Body: []byte(r.Body), ContentLength: int64(len(r.Body))}
	for _, h := range r.Headers {
		if strings.EqualFold(h[0], "host") {
			in.Host = h[1]
			continue
		}
		in.Header.Add(h[0], h[1])
	}
	return in
}

func (v vector) scheme(t *testing.T) Scheme {
	t.Helper()
	or := func(s, standard string) string {
		if s == "" {
			return standard
		}
		return s
	}

	now, err := time.Parse(time.RFC3339, v.Config.Date)
	if err != nil {
		now, err = http.ParseTime(v.Config.Date)
	}

	require.NoError(t, err)
	return Scheme{
		AlgorithmPrefix: or(v.Config.AlgoPrefix, "ESR"), VendorKey: or(v.Config.VendorKey, "Escher"),
		Scope: or(v.Config.CredentialScope, "escher_request"), DateHeader: or(v.Config.DateHeaderName, "X-Escher-Date"),
		AuthHeader: or(v.Config.AuthHeaderName, "X-Escher-Auth"), Window: DefaultWindow,
		Now: func() time.Time { return now },
	}
}

// TestFamilyVectors runs the suite of the Escher libraries: what they sign we verify by the same canonical request and
// string to sign, what they accept we accept, what they refuse we refuse.
func TestFamilyVectors(t *testing.T) {
	requireNodeModules(t)
	files, err := filepath.Glob(filepath.Join("interop", "node_modules", "escher-auth", "escher-test-cases", "*", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	verified, refused := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var c vector
		name := filepath.Base(file)
		if json.Unmarshal(text, &c) != nil || otherByDesign(name) {
			continue
		}

		t.Run(name, func(t *testing.T) {
			if c.Expected.Error == "" {
				c.requireVerified(t)
				verified++
				return
			}
			if strings.HasPrefix(name, "authenticate-") {
				c.requireRefused(t)
				refused++
			}
		})
	}

	require.GreaterOrEqual(t, verified, 45)
	require.GreaterOrEqual(t, refused, 14)
	t.Logf("%d vectors verified, %d refused", verified, refused)
}

// otherByDesign names the vectors that this scheme answers otherwise: presigned URLs are refused, a broken percent triplet is
// 400, and there is no list of further headers that must be signed.
func otherByDesign(name string) bool {
	return strings.HasPrefix(name, "presignurl-") || strings.Contains(name, "valid-presigned-url") ||
		strings.Contains(name, "mandatoryheaders") || strings.Contains(name, "notsigned-header") ||
		name == "signrequest-post-vanilla-query-nonunreserved.json"
}

func (v vector) requireVerified(t *testing.T) {
	t.Helper()
	in, keyID, secret := v.Request.incoming(), v.Expected.APIKey, ""
	if v.Expected.Request != nil {
		in, keyID, secret = v.Expected.Request.incoming(), v.Config.AccessKeyID, v.Config.APISecret
	}

	for _, pair := range v.KeyDB {
		if pair[0] == keyID {
			secret = pair[1]
		}
	}

	verifier, err := NewVerifier(v.scheme(t))
	require.NoError(t, err)
	attempts, err := verifier.Explain(in)
	require.NoError(t, err)
	got, err := verifier.Verify(in, func(id string) ([]string, bool) { return []string{secret}, id == keyID })
	require.NoError(t, err, "%+v", attempts)
	require.Equal(t, keyID, got.KeyID)
	if v.Expected.CanonicalizedRequest != "" && v.Expected.StringToSign != "" {
		require.Contains(t, attempts, Attempt{v.Expected.CanonicalizedRequest, v.Expected.StringToSign})
	}
}

func (v vector) requireRefused(t *testing.T) {
	t.Helper()
	verifier, err := NewVerifier(v.scheme(t))
	require.NoError(t, err)
	_, err = verifier.Verify(v.Request.incoming(), func(id string) ([]string, bool) {
		for _, pair := range v.KeyDB {
			if pair[0] == id {
				return []string{pair[1]}, true
			}
		}
		return nil, false
	})
	require.Error(t, err)
}

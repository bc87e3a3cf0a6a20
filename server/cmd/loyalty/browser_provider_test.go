package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// provider is an OpenID Connect provider with a page of its own, on another site than the
// console: localhost, where that is on 127.0.0.1. A code is good once, for the verifier whose
// challenge it was asked with.
type provider struct {
	url    string
	key    *rsa.PrivateKey
	mu     sync.Mutex
	codes  map[string]url.Values // what they were asked with
	groups []string              // of the person who is signed in there
}

var consent = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><title>Sample Inc.</title><link rel="icon" href="data:,"><main><h1>Sample Inc.</h1><a id="go" href="{{.}}">Go on as Ada</a></main></html>`))

func openProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{codes: map[string]url.Values{}, groups: []string{"admins"}}
	var err error
	p.key, err = rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		tell(w, map[string]any{
			"issuer": p.url, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token", "jwks_uri": p.url + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})

	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		tell(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q, code := r.URL.Query(), rand.Text()
		p.mu.Lock()
		p.codes[code] = q
		p.mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		assert.NoError(t, consent.Execute(w, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()))
	})

	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) { p.token(t, w, r) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	p.url = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	return p
}

func tell(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who asked went away
}

func (p *provider) token(t *testing.T, w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, known := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		tell(w, map[string]string{"error": "invalid_grant"})
		return
	}

	payload, err := json.Marshal(map[string]any{
		"iss": p.url, "aud": "the-console", "nonce": asked.Get("nonce"), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
		"sub": "1", "preferred_username": "ada", "name": "Ada Lovelace", "email": "ada@shop.test", "groups": p.groups,
	})

	assert.NoError(t, err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: "k"}}, nil)
	assert.NoError(t, err)
	signed, err := signer.Sign(payload)
	assert.NoError(t, err)
	text, err := signed.CompactSerialize()
	assert.NoError(t, err)
	tell(w, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": text})
}

// TestConsoleByProvider signs in in a real browser by the company's provider, which is another site:
// by the console's button, over the provider's page and back to Today, with the role that the
// groups give. Who has no role there is told so and does not come in.
func TestConsoleByProvider(t *testing.T) {
	t.Parallel()
	p := openProvider(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := free.Addr().String()
	require.NoError(t, free.Close())
	s := serve(t, t.TempDir(), append(onConsole(storetest.SQLiteForProgram(t)), "LOYALTY_CONSOLE_URL=http://"+at,
		"LOYALTY_OIDC_ISSUER="+p.url, "LOYALTY_OIDC_CLIENT_ID=the-console", "LOYALTY_OIDC_ROLES=admins=owner+personal", "LOYALTY_OIDC_NAME=Sample Inc."), "--listen", at)
	require.Equal(t, "http://"+at, s.address)
	b := browse(t, s.address)
	begin := func() {
		require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(s.address+"/console/")))
		b.until("document.querySelector('main.sign a.button')")
		b.faults() // no one is signed in yet: the browser notes the 401
		require.Equal(t, "Sign in with Sample Inc.", evaluate[string](b, "document.querySelector('main.sign a.button').textContent"))
		b.press("main.sign a.button")
		b.until("location.hostname === 'localhost' && document.querySelector('#go')")
		b.press("#go")
	}

	begin()
	b.until("location.pathname === '/console/' && document.querySelector('main h1')?.textContent === 'Today' && document.querySelector('main .cards')")
	assert.Equal(t, "Ada Lovelace", evaluate[string](b, "document.querySelector('header .who').textContent"))
	assert.Contains(t, b.api("/admin/me"), `"role":"owner"`)
	assert.Empty(t, b.faults())

	p.mu.Lock()
	p.groups = []string{"staff"}
	p.mu.Unlock()
	evaluate[bool](b, "[...document.querySelectorAll('header button')].pop().click(), true")
	b.until("document.querySelector('main.sign')")
	begin()
	b.until("document.querySelector('[role=alert]') && location.pathname.startsWith('/console/oidc/')")
	assert.Equal(t, "[]", b.violations())
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Navigate(s.address+"/console/")))
	b.until("document.querySelector('main.sign a.button')")
}

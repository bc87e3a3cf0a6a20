package server_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestSignatureRefusals: each way a signature can be wrong has its code, and
// every one is a 401 that says how to sign.
//
// spec: service.signed, auth.recomputed, error.signature, auth.algorithm, auth.window, auth.scope
func TestSignatureRefusals(t *testing.T) {
	h := open(t)
	now := time.Now()
	revoked := h.newKey(admin.KeyChange{})
	_, err := h.admin.RevokeKey(context.Background(), admin.Call{KeyID: admin.CommandLine}, revoked.KeyID)
	require.NoError(t, err)

	for name, c := range map[string]struct {
		code int
		sign func(r *http.Request) error
	}{
		"no signature": {101021, func(*http.Request) error { return nil }},
		"an api_key":   {101021, func(r *http.Request) error { r.Header.Set("Authorization", "api_key 7"); return nil }},
		"two headers": {101021, func(r *http.Request) error {
			err := signing.Default(region).Sign(r, nil, h.key)
			r.Header.Add("Authorization", r.Header.Get("Authorization"))
			return err
		}},
		"no date": {101021, func(r *http.Request) error {
			err := signing.Default(region).Sign(r, nil, h.key)
			r.Header.Del("Date")
			return err
		}},
		"stale": {101022, func(r *http.Request) error {
			s := signing.Default(region)
			s.Now = func() time.Time { return now.Add(-302 * time.Second) }
			return s.Sign(r, nil, h.key)
		}},
		"from the future": {101022, func(r *http.Request) error {
			s := signing.Default(region)
			s.Now = func() time.Time { return now.Add(310 * time.Second) }
			return s.Sign(r, nil, h.key)
		}},
		"another region": {101023, func(r *http.Request) error { return signing.Default("elsewhere").Sign(r, nil, h.key) }},
		"another algorithm": {101023, func(r *http.Request) error {
			err := signing.Default(region).Sign(r, nil, h.key)
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "SHA256", "SHA512", 1))
			return err
		}},
		"a wrong secret": {101024, func(r *http.Request) error {
			return signing.Default(region).Sign(r, nil, signing.Credential{KeyID: h.key.KeyID, Secret: "wrong"})
		}},
		"an unknown key": {101024, func(r *http.Request) error {
			return signing.Default(region).Sign(r, nil, signing.Credential{KeyID: "LKUNKNOWN", Secret: h.key.Secret})
		}},
		"a revoked key": {101024, func(r *http.Request) error { return signing.Default(region).Sign(r, nil, revoked) }},
		"another body":  {101024, func(r *http.Request) error { return signing.Default(region).Sign(r, []byte("x"), h.key) }},
		"another path": {101024, func(r *http.Request) error {
			err := signing.Default(region).Sign(r, nil, h.key)
			r.URL.Path = "/customers/-/count"
			return err
		}},
		"another query": {101024, func(r *http.Request) error {
			err := signing.Default(region).Sign(r, nil, h.key)
			r.URL.RawQuery = "limit=5"
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			r := h.request(http.MethodGet, "/customers", "")
			require.NoError(t, c.sign(r))
			a := h.send(r)
			require.Equal(t, http.StatusUnauthorized, a.status, a.body)
			require.Equal(t, c.code, a.fault(t).Code)
			require.Equal(t, "UnauthorizedException", a.fault(t).Type)
			require.Equal(t, "SERVICE-HMAC-SHA256", a.header.Get("WWW-Authenticate"))
			require.Empty(t, a.header.Get("RateLimit-Limit"), "nobody's budget")
			require.NotContains(t, a.body, "debug")
		})
	}
}

// TestKeysCannotBeProbed: an unknown key, a revoked key and a wrong secret are
// answered alike, to the byte.
func TestKeysCannotBeProbed(t *testing.T) {
	h := open(t)
	bodies := map[string]bool{}
	for _, key := range []signing.Credential{{KeyID: h.key.KeyID, Secret: "x"}, {KeyID: "LKNOBODY", Secret: "x"}} {
		a := h.signed(key, h.request(http.MethodGet, "/customers", ""))
		require.Equal(t, http.StatusUnauthorized, a.status)
		bodies[a.body] = true
	}
	require.Len(t, bodies, 1)
}

func TestStaleDateTellsTheClocks(t *testing.T) {
	h := open(t)
	s := signing.Default(region)
	s.Now = func() time.Time { return time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC) }
	r := h.request(http.MethodGet, "/customers", "")
	require.NoError(t, s.Sign(r, nil, h.key))
	before := time.Now().UTC().Truncate(time.Second)
	message := h.send(r).fault(t).Message
	require.Contains(t, message, "2020-01-02T03:04:05.000Z")
	ours := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`).FindAllString(strings.ReplaceAll(message, "2020-01-02T03:04:05.000Z", ""), -1)
	require.Len(t, ours, 1, message)
	told, err := time.Parse(time.RFC3339, ours[0])
	require.NoError(t, err)
	require.False(t, told.Before(before) || told.After(time.Now()), message)

	require.Contains(t, message, "300")
}

// TestAcceptanceWindowIsASetting: a new window is in force at once.
//
// spec: auth.window
func TestAcceptanceWindowIsASetting(t *testing.T) {
	h := open(t)
	send := func() int {
		s := signing.Default(region)
		s.Now = func() time.Time { return time.Now().Add(-100 * time.Second) }
		r := h.request(http.MethodGet, "/customers", "")
		require.NoError(t, s.Sign(r, nil, h.key))
		return h.send(r).status
	}
	require.Equal(t, http.StatusOK, send())
	h.does("/admin/settings", `{"acceptance_window_seconds":60}`)
	require.Equal(t, http.StatusUnauthorized, send())
}

func TestRotatedSecretsOverlap(t *testing.T) {
	h := open(t)
	old := h.newKey(admin.KeyChange{})
	a := h.does("/admin/keys/"+old.KeyID+"/rotate", "")
	fresh := signing.Credential{KeyID: old.KeyID, Secret: a.json(t)["data"].(map[string]any)["secret"].(string)}
	require.NotEqual(t, old.Secret, fresh.Secret)
	for _, key := range []signing.Credential{old, fresh} {
		require.Equal(t, http.StatusOK, h.signed(key, h.request(http.MethodGet, "/customers", "")).status)
	}
	require.Equal(t, http.StatusOK, h.post("/admin/keys/"+old.KeyID+"/rotate", `{"overlap_seconds":0}`).status)
	require.Equal(t, http.StatusUnauthorized, h.signed(fresh, h.request(http.MethodGet, "/customers", "")).status)
}

func TestUncleanPathsAreNobodys(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	for _, target := range []string{"//customers", "/customers//ada", "/customers/./ada", "/x/../customers", "/customers/%2e%2e/customers", "/customers/%2E"} {
		a := h.get(target)
		require.Equal(t, http.StatusNotFound, a.status, target)
		require.Equal(t, 190066, a.fault(t).Code, target)
		require.NotEmpty(t, a.header.Get("RateLimit-Limit"))
	}
	require.Equal(t, http.StatusNotFound, h.get("/customers/").status, "a trailing slash is another path")
}

// spec: service.no-put-delete, service.post, service.verbs, service.signed
func TestUnknownPathsAndVerbs(t *testing.T) {
	h := open(t)
	a := h.get("/nowhere")
	require.Equal(t, http.StatusNotFound, a.status)
	require.Equal(t, "NotFoundException", a.fault(t).Type)
	require.NotEmpty(t, a.header.Get("RateLimit-Remaining"))
	for _, verb := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodGet} {
		a = h.signed(h.key, h.request(verb, "/events", ""))
		require.Equal(t, http.StatusMethodNotAllowed, a.status, verb)
		require.Equal(t, "MethodNotAllowedException", a.fault(t).Type)
		require.Equal(t, http.MethodPost, a.header.Get("Allow"))
	}
	require.Equal(t, http.StatusUnauthorized, h.send(h.request(http.MethodGet, "/nowhere", "")).status, "nothing is told unsigned")
	require.Equal(t, http.StatusUnauthorized, h.send(h.request(http.MethodDelete, "/events", "")).status)
}

func TestSigningDebug(t *testing.T) {
	h := open(t, func(o *server.Options) { o.SigningDebug = true })
	wrong := signing.Credential{KeyID: h.key.KeyID, Secret: "wrong"}
	for _, key := range []signing.Credential{wrong, {KeyID: "LKNOBODY", Secret: "x"}} {
		a := h.signed(key, h.request(http.MethodGet, "/customers?limit=5", ""))
		require.Equal(t, http.StatusUnauthorized, a.status)
		attempts := a.json(t)["debug"].([]any)
		require.NotEmpty(t, attempts)
		require.Contains(t, attempts[0].(map[string]any)["canonical_request"], "GET\n/customers\nlimit=5\n")
		require.Contains(t, attempts[0].(map[string]any)["string_to_sign"], "SERVICE-HMAC-SHA256\n")
	}

	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via"} {
		a := h.signed(wrong, h.request(http.MethodGet, "/customers", "", name, "192.0.2.1"))
		require.NotContains(t, a.body, "debug", "a proxy on this machine passed it on: %s", name)
	}

	for _, listen := range []string{"0.0.0.0:8080", ":8080", "192.0.2.1:8080", "shop.test:80"} {
		_, err := server.New(server.Options{Listen: listen, Region: region, SigningDebug: true})
		require.ErrorContains(t, err, "signing.debug")
	}
}

func TestReplayGuard(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		sign := func(h *house, method, target, body string, headers ...string) *http.Request {
			r := h.request(method, target, "", headers...)
			require.NoError(t, signing.Default(region).Sign(r, []byte(body), h.key))
			return r
		}

		first := openOn(t, url)
		first.enrol("ada")
		write := sign(first, http.MethodPost, "/events", visit, "Content-Type", jsonType)
		require.Equal(t, http.StatusOK, first.sendTo(first, write, visit).status)
		require.Equal(t, http.StatusOK, first.sendTo(first, write, visit).status, "off by default")

		one, other := openOn(t, url, patient, guardedBy(first)), openOn(t, url, patient, guardedBy(first))
		one.key, other.key = first.key, first.key
		require.Equal(t, http.StatusOK, first.sendTo(one, write, visit).status)
		for _, node := range []*house{one, other, openOn(t, url, guardedBy(first))} { // the last one starts only now
			again := first.sendTo(node, write, visit)
			require.Equal(t, http.StatusConflict, again.status)
			require.Equal(t, loyalty.ErrReplayed.Code, again.fault(t).Code)
		}

		read := sign(first, http.MethodGet, "/customers", "")
		search := sign(first, http.MethodPost, "/events/preview", visit, "Content-Type", jsonType)
		for range 2 {
			require.Equal(t, http.StatusOK, first.sendTo(one, read, "").status, "reads may be repeated")
			require.Equal(t, http.StatusOK, first.sendTo(one, search, visit).status, "and what is read by POST")
		}
	})
}

// guardedBy switches the replay guard on, over the database of a house.
func guardedBy(h *house) func(*server.Options) {
	return func(o *server.Options) { o.ReplayGuard = h.store }
}

// sendTo sends a request that was signed for this house to another node behind the
// same name.
func (h *house) sendTo(node *house, signed *http.Request, body string) answer {
	h.t.Helper()
	r := node.request(signed.Method, signed.URL.RequestURI(), body)
	r.Header, r.Host = signed.Header.Clone(), strings.TrimPrefix(h.url, "http://")
	return node.send(r)
}

// TestKeyMustBeSigned: with the replay guard on, a key that could have been changed on the way is refused, and nothing
// is done.
func TestKeyMustBeSigned(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	h = openOn(t, h.databaseURL, guardedBy(h))
	send := func(signed ...string) answer {
		r := h.request(http.MethodPost, "/events", visit, "Content-Type", jsonType, "Idempotency-Key", "k-1")
		require.NoError(t, signing.Default(region).Sign(r, []byte(visit), h.key, signed...))
		return h.send(r)
	}

	a := send("Content-Type")
	require.Equal(t, http.StatusBadRequest, a.status)
	require.Equal(t, 190321, a.fault(t).Code)
	require.Equal(t, []string{"Idempotency-Key"}, a.fault(t).fields())
	a = send("Content-Type", "Idempotency-Key")
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Empty(t, a.header.Get("Idempotency-Replayed"), "the refused one did nothing")
}

// TestFailedSignaturesAreLimited: too many from one address are held back, and a
// good signature from the same address is not.
func TestFailedSignaturesAreLimited(t *testing.T) {
	h := open(t)
	var last answer
	for range 70 {
		if last = h.send(h.request(http.MethodGet, "/customers", "")); last.status == http.StatusTooManyRequests {
			break
		}
		require.Equal(t, http.StatusUnauthorized, last.status)
	}
	require.Equal(t, http.StatusTooManyRequests, last.status)
	require.NotEmpty(t, last.header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, h.get("/customers").status)
}

// TestForwardedAddresses: a caller's address and host come from a proxy only
// when it is trusted, and only the part that the proxy itself wrote.
func TestForwardedAddresses(t *testing.T) {
	away := admin.KeyChange{Addresses: &[]string{"192.0.2.7"}}
	for name, c := range map[string]struct {
		trusted   []string
		forwarded []string
		status    int
	}{
		"not trusted":            {nil, []string{"192.0.2.7"}, http.StatusForbidden},
		"trusted":                {[]string{"127.0.0.0/8"}, []string{"192.0.2.7"}, http.StatusOK},
		"what the caller claims": {[]string{"127.0.0.1"}, []string{"192.0.2.7, 198.51.100.1"}, http.StatusForbidden},
		"through two proxies":    {[]string{"127.0.0.1", "198.51.100.1"}, []string{"192.0.2.7, 198.51.100.1"}, http.StatusOK},
		"several lines":          {[]string{"127.0.0.1", "198.51.100.1"}, []string{"192.0.2.7", "198.51.100.1"}, http.StatusOK},
		"nonsense":               {[]string{"127.0.0.1"}, []string{"192.0.2.7, nonsense"}, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, func(o *server.Options) { o.TrustedProxies = c.trusted })
			r := h.request(http.MethodGet, "/customers", "")
			r.Header["X-Forwarded-For"] = c.forwarded
			require.Equal(t, c.status, h.signed(h.newKey(away), r).status)
		})
	}

	_, err := server.New(server.Options{Listen: "127.0.0.1:0", Region: region, TrustedProxies: []string{"proxy"}})
	require.ErrorContains(t, err, `"proxy"`)
}

func TestSignedHosts(t *testing.T) {
	sign := func(h *house, host string) *http.Request {
		r := h.request(http.MethodGet, "/customers", "")
		r.Host = host
		require.NoError(t, signing.Default(region).Sign(r, nil, h.key))
		r.Host = "inside.local"
		return r
	}

	public := open(t, func(o *server.Options) { o.PublicHosts = []string{"api.shop.test"} })
	require.Equal(t, http.StatusOK, public.send(sign(public, "api.shop.test")).status)
	require.Equal(t, http.StatusUnauthorized, public.send(sign(public, "other.shop.test")).status)

	behind := open(t, func(o *server.Options) { o.TrustedProxies = []string{"127.0.0.1"} })
	r := sign(behind, "api.shop.test")
	require.Equal(t, http.StatusUnauthorized, behind.send(r.Clone(context.Background())).status)
	r.Header.Set("X-Forwarded-Host", "api.shop.test")
	require.Equal(t, http.StatusOK, behind.send(r.Clone(context.Background())).status)
	plain := open(t)
	r = sign(plain, "api.shop.test")
	r.Header.Set("X-Forwarded-Host", "api.shop.test")
	require.Equal(t, http.StatusUnauthorized, plain.send(r).status, "not from anybody")

	// A proxy may keep the name apart from the port.
	for _, c := range []struct {
		signed, host, forwarded string
		ports                   []string
		status                  int
	}{
		{"api.shop.test:9443", "inside.local", "api.shop.test", []string{"9443"}, http.StatusOK},
		{"api.shop.test:9443", "api.shop.test", "", []string{"9443"}, http.StatusOK},
		{"[2001:db8::1]:9443", "inside.local", "[2001:db8::1]", []string{"9443"}, http.StatusOK},
		{"api.shop.test", "inside.local", "api.shop.test", []string{"443"}, http.StatusOK},
		{"api.shop.test:443", "inside.local", "api.shop.test", []string{"443"}, http.StatusOK},
		{"api.shop.test:8443", "inside.local", "api.shop.test:8443", []string{"9443"}, http.StatusOK},
		{"api.shop.test:9443", "inside.local", "api.shop.test:8443", []string{"9443"}, http.StatusUnauthorized},
		{"api.shop.test:9443", "inside.local", "api.shop.test", []string{"9444"}, http.StatusUnauthorized},
		{"api.shop.test:9443", "inside.local", "api.shop.test", []string{"9443", "9443"}, http.StatusUnauthorized},
		{"api.shop.test:9443", "inside.local", "api.shop.test", []string{"443, 9443"}, http.StatusUnauthorized},
		{"api.shop.test:70000", "inside.local", "api.shop.test", []string{"70000"}, http.StatusUnauthorized},
		{"api.shop.test:x", "inside.local", "api.shop.test", []string{"x"}, http.StatusUnauthorized},
	} {
		for _, h := range []*house{behind, plain} {
			r := sign(h, c.signed)
			r.Host = c.host
			if c.forwarded != "" {
				r.Header.Set("X-Forwarded-Host", c.forwarded)
			}
			r.Header["X-Forwarded-Port"] = c.ports
			want := c.status
			if h == plain {
				want = http.StatusUnauthorized
			}
			require.Equal(t, want, h.send(r).status, "%+v, trusted: %t", c, h == behind)
		}
	}

	// Hosts are no allow-list: the name under which it arrives is one that may be signed, whatever it is.
	for _, h := range []*house{public, plain} {
		r = sign(h, "foreign.test")
		r.Host = "foreign.test"
		require.Equal(t, http.StatusOK, h.send(r).status)
	}
}

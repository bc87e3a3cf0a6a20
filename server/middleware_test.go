package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
	"github.com/loyalty-platform/loyalty/signing"
)

const visit = `{"customer":"ada","action":"visit","data":{"url":"https://shop.test/"}}`

func TestRequestIDs(t *testing.T) {
	h := open(t)
	first, second := h.get("/customers"), h.get("/customers", "X-Request-Id", "mine")
	require.Len(t, first.header.Get("X-Request-Id"), 36)
	require.NotEqual(t, first.header.Get("X-Request-Id"), second.header.Get("X-Request-Id"))
	require.NotEqual(t, "mine", second.header.Get("X-Request-Id"), "anybody could take another's id")

	behind := open(t, func(o *server.Options) { o.TrustedProxies = []string{"127.0.0.1"} })
	require.Equal(t, "proxy-7.a_B", behind.get("/customers", "X-Request-Id", "proxy-7.a_B").header.Get("X-Request-Id"))
	for _, insane := range []string{"a b", strings.Repeat("x", 65), "a\"b", "é"} {
		require.Len(t, behind.get("/customers", "X-Request-Id", insane).header.Get("X-Request-Id"), 36)
	}
}

// TestLogLine: the line has the template of the route and never what identifies
// a person, and nothing secret.
func TestLogLine(t *testing.T) {
	h := open(t)
	h.enrol("ada.kovacs")
	a := h.get("/customers/ada.kovacs?fields=email")
	require.Equal(t, http.StatusOK, a.status)
	line := h.log.lines(t, a.header.Get("X-Request-Id"))[0]
	require.Equal(t, "/customers/:customer_id", line["route"])
	require.Equal(t, "GET", line["method"])
	require.Equal(t, h.key.KeyID, line["key_id"])
	require.EqualValues(t, 200, line["status"])
	require.EqualValues(t, len(a.body), line["bytes_out"])
	require.Contains(t, line, "duration")

	a = h.post("/events", `{"customer":"ada.kovacs","action":"visit","data":{"url":"no-url"}}`)
	line = h.log.lines(t, a.header.Get("X-Request-Id"))[0]
	require.Equal(t, "bad_format", line["failure"])
	require.EqualValues(t, 190010, line["code"])
	require.NotContains(t, line, "error", "the cause of a caller's fault may hold what the caller sent")

	r := h.request(http.MethodGet, "/customers", "")
	a = h.send(r)
	require.NotContains(t, h.log.lines(t, a.header.Get("X-Request-Id"))[0], "key_id")
	a = h.signed(h.key, h.request("FROBNICATE-ada", "/nowhere/ada.kovacs", ""))
	line = h.log.lines(t, a.header.Get("X-Request-Id"))[0]
	require.Equal(t, "-", line["route"])
	require.Equal(t, "-", line["method"])
	for _, never := range []string{"ada.kovacs", "shop.test", h.key.Secret, "Signature", "no-url", "FROBNICATE"} {
		require.NotContains(t, h.log.String(), never)
	}
}

// panickingReader breaks in the middle of a request.
type panickingReader struct{ loyalty.Reader }

func (panickingReader) Customer(context.Context, string) (loyalty.Customer, error) {
	panic("the secret detail")
}

func TestPanicIsAPlain500(t *testing.T) {
	h := open(t, func(o *server.Options) { o.Reader = panickingReader{o.Reader} })
	a := h.get("/customers/ada")
	require.Equal(t, http.StatusInternalServerError, a.status)
	require.Equal(t, "InternalException", a.fault(t).Type)
	require.NotContains(t, a.body, "secret detail")
	lines := h.log.lines(t, a.header.Get("X-Request-Id"))
	require.Equal(t, "panic", lines[0]["msg"])
	require.Contains(t, lines[0]["stack"], "panickingReader")
	require.Equal(t, http.StatusOK, h.get("/customers").status, "the server goes on")
}

// brokenReader fails as a database does.
type brokenReader struct {
	loyalty.Reader
	err error
}

func (b brokenReader) Customer(context.Context, string) (loyalty.Customer, error) {
	return loyalty.Customer{}, b.err
}

func TestFaultsOfOurs(t *testing.T) {
	h := open(t, func(o *server.Options) {
		o.Reader = brokenReader{o.Reader, fmt.Errorf("dial: %w", loyalty.ErrDatabaseAway)}
	})
	a := h.get("/customers/ada")
	require.Equal(t, http.StatusServiceUnavailable, a.status)
	require.Equal(t, 190002, a.fault(t).Code)
	require.Equal(t, "1", a.header.Get("Retry-After"))
	require.Contains(t, h.log.lines(t, a.header.Get("X-Request-Id"))[0]["error"], "dial")

	h = open(t, func(o *server.Options) { o.Reader = brokenReader{o.Reader, fmt.Errorf("column secret")} })
	a = h.get("/customers/ada")
	require.Equal(t, http.StatusInternalServerError, a.status)
	require.NotContains(t, a.body, "column")
}

func TestBodyLimit(t *testing.T) {
	h := open(t)
	full := `{"x":"` + strings.Repeat("x", 1<<20-8) + `"}`
	require.Len(t, full, 1<<20)
	require.Equal(t, http.StatusBadRequest, h.post("/events", full).status, "as large as allowed: read and checked")
	a := h.post("/events", full+" ")
	require.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	require.Equal(t, 190061, a.fault(t).Code)
	require.Equal(t, "PayloadTooLargeException", a.fault(t).Type)

	r := h.request(http.MethodPost, "/events", "", "Content-Type", jsonType)
	require.NoError(t, signing.Default(region).Sign(r, nil, h.key))
	r.Body, r.ContentLength = io.NopCloser(io.LimitReader(endless{}, 1<<20+1)), -1
	require.Equal(t, http.StatusRequestEntityTooLarge, h.send(r).status, "without an announced length")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestChunkedBody: a body without an announced length is signed and read like
// any other.
func TestChunkedBody(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	r := h.request(http.MethodPost, "/events", visit, "Content-Type", jsonType)
	require.NoError(t, signing.Default(region).Sign(r, []byte(visit), h.key))
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(visit)), -1
	require.Equal(t, http.StatusOK, h.send(r).status)
}

func TestCutBody(t *testing.T) {
	h := open(t)
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	r := h.request(http.MethodPost, "/events", "")
	require.NoError(t, signing.Default(region).Sign(r, nil, h.key))
	_, err = fmt.Fprintf(c, "POST /events HTTP/1.1\r\nHost: %s\r\nContent-Length: 50\r\n", r.URL.Host)
	require.NoError(t, err)
	require.NoError(t, r.Header.Write(c))
	_, err = io.WriteString(c, "\r\n{}")
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Contains(t, string(got), "400 Bad Request")

	require.Contains(t, string(got), "BadRequestException")
}

func TestLongQueryAndAuthorization(t *testing.T) {
	h := open(t)
	a := h.send(h.request(http.MethodGet, "/customers?search="+strings.Repeat("x", 8<<10), ""))
	require.Equal(t, http.StatusBadRequest, a.status)
	require.Equal(t, 190073, a.fault(t).Code)
	require.Equal(t, []string{"query"}, a.fault(t).fields())
	r := h.request(http.MethodGet, "/customers", "", "Authorization", "SERVICE-HMAC-SHA256 "+strings.Repeat("x", 4<<10))
	a = h.send(r)
	require.Equal(t, http.StatusBadRequest, a.status)
}

func TestLanguage(t *testing.T) {
	h := open(t)
	for header, want := range map[string]string{
		"": "en", "hu": "hu", "fr;q=0.2, es;q=0.9": "es", "xx": "en", "hu-HU": "hu",
	} {
		a := h.get("/customers/nobody", "Accept-Language", header)
		require.Equal(t, want, a.header.Get("Content-Language"), header)
		require.Equal(t, http.StatusNotFound, a.status)
	}

	a := h.send(h.request(http.MethodGet, "/customers", "", "Accept-Language", "hu"))
	require.Equal(t, http.StatusUnauthorized, a.status)
	require.Equal(t, "hu", a.header.Get("Content-Language"), "a 401 speaks it too")
	english := h.send(h.request(http.MethodGet, "/customers", ""))
	require.NotEqual(t, english.fault(t).Message, a.fault(t).Message)
	require.Equal(t, english.fault(t).Code, a.fault(t).Code)
	a = h.signed(h.key, h.request(http.MethodPost, "/events", strings.Repeat("x", 1<<20+1), "Accept-Language", "fr"))
	require.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	require.Equal(t, "fr", a.header.Get("Content-Language"), "and so does a 413")
	r := h.request(http.MethodGet, "/customers", "")
	r.Header["Accept-Language"] = []string{"xx", "es"}
	require.Equal(t, "es", h.signed(h.key, r).header.Get("Content-Language"), "of several header lines")
}

// TestRateLimit: the bucket holds one minute of the key's own limit, whatever that
// is, and the headers never promise more.
//
// spec: error.rate, limit.rate.raised
func TestRateLimit(t *testing.T) {
	now := &stopped{now: time.Now()}
	h := open(t, func(o *server.Options) { o.Limiter = ratelimit.NewMemory(now.clock) })
	for _, perMinute := range []int{1, 5, 150} {
		key := h.newKey(admin.KeyChange{RateLimit: &perMinute})
		for remaining := perMinute - 1; remaining >= 0; remaining-- {
			a := h.signed(key, h.request(http.MethodGet, "/customers", ""))
			require.Equal(t, http.StatusOK, a.status)
			require.Equal(t, fmt.Sprint(perMinute), a.header.Get("RateLimit-Limit"))
			require.Equal(t, fmt.Sprint(remaining), a.header.Get("RateLimit-Remaining"))
			require.Equal(t, fmt.Sprint((60*(perMinute-remaining)+perMinute-1)/perMinute), a.header.Get("RateLimit-Reset"))
		}

		a := h.signed(key, h.request(http.MethodPost, "/events", visit))
		require.Equal(t, http.StatusTooManyRequests, a.status)
		require.Equal(t, "TooManyRequestsException", a.fault(t).Type)
		require.Equal(t, 190063, a.fault(t).Code)
		require.Equal(t, fmt.Sprint((60+perMinute-1)/perMinute), a.header.Get("Retry-After"))
		require.Equal(t, "0", a.header.Get("RateLimit-Remaining"))
	}

	require.Equal(t, http.StatusOK, h.get("/customers").status, "another key has a budget of its own")
}

// stopped is time that only a test moves.
type stopped struct{ now time.Time }

func (s *stopped) clock() time.Time { return s.now }

// TestBulkCostsItsEvents: a bulk is as dear as its events sent one by one. It is
// refused whole where they do not fit, and one that could never fit takes a minute.
func TestBulkCostsItsEvents(t *testing.T) {
	now := &stopped{now: time.Now()}
	h := open(t, func(o *server.Options) { o.Limiter, o.Clock = ratelimit.NewMemory(now.clock), now.clock })
	h.enrol("ada")
	perMinute := 120
	key := h.newKey(admin.KeyChange{RateLimit: &perMinute})
	send := func(events int) answer {
		all := slices.Repeat([]string{`{"customer":"ada","action":"point_add","data":{"points":1}}`}, events)
		return h.signed(key, h.request(http.MethodPost, "/events/bulk", bulkOf(all), "Content-Type", jsonType))
	}

	score := func() string { return fmt.Sprint(h.get("/customers/ada").json(t)["data"].(map[string]any)["score"]) }
	require.Equal(t, "119", send(1).header.Get("RateLimit-Remaining"))
	require.Equal(t, "69", send(50).header.Get("RateLimit-Remaining"))
	a := send(80)
	require.Equal(t, http.StatusTooManyRequests, a.status)
	require.Equal(t, "68", a.header.Get("RateLimit-Remaining"), "the request itself was counted, none of its events")
	require.Equal(t, "6", a.header.Get("Retry-After"), "79 do not fit into 68")
	require.Equal(t, "51", score(), "nothing of it was recorded")
	now.now = now.now.Add(6 * time.Second)
	require.Equal(t, "0", send(80).header.Get("RateLimit-Remaining"))
	require.Equal(t, http.StatusTooManyRequests, send(1).status)
	require.Equal(t, http.StatusOK, h.get("/customers").status, "others are not held back")
	now.now = now.now.Add(time.Minute)
	a = send(200)
	require.Equal(t, http.StatusOK, a.status, "more than the limit takes all of it")
	require.Equal(t, "0", a.header.Get("RateLimit-Remaining"))
	require.Equal(t, "331", score())
}

// TestLimitHeadersAreOnEveryAnswer: whatever becomes of a signed request.
func TestLimitHeadersAreOnEveryAnswer(t *testing.T) {
	h := open(t)
	yes := true
	reader := h.newKey(admin.KeyChange{ReadOnly: &yes})

	for _, a := range []answer{
		h.get("/customers"), h.get("/customers/nobody"), h.get("/customers?zzz=1"), h.get("/nowhere"),
		h.post("/events", "{"), h.post("/events", visit), h.post("/events", visit, "Content-Encoding", "gzip"),
		h.post("/events", `{"customer":"x","action":"merge","data":{}}`),
		h.signed(reader, h.request(http.MethodPost, "/events", visit)),
		h.signed(h.key, h.request(http.MethodPut, "/events", "")),
	} {
		for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
			require.NotEmpty(t, a.header.Get(name), "%d lacks %s", a.status, name)
		}
	}
}

func TestAuthorization(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	yes := true
	reader := h.newKey(admin.KeyChange{ReadOnly: &yes})
	require.Equal(t, http.StatusOK, h.signed(reader, h.request(http.MethodGet, "/customers/ada", "")).status)
	a := h.signed(reader, h.request(http.MethodPost, "/events", visit, "Content-Type", jsonType))
	require.Equal(t, http.StatusForbidden, a.status)
	require.Equal(t, 190060, a.fault(t).Code)

	events := h.newKey(admin.KeyChange{APIs: &[]string{"events"}})
	require.Equal(t, http.StatusOK, h.signed(events, h.request(http.MethodPost, "/events", visit, "Content-Type", jsonType)).status)
	for _, target := range []string{"/customers", "/customers/ada", "/admin/keys"} {
		a = h.signed(events, h.request(http.MethodGet, target, ""))
		require.Equal(t, http.StatusForbidden, a.status)
		require.Equal(t, 190064, a.fault(t).Code)
	}

	away := h.newKey(admin.KeyChange{Addresses: &[]string{"192.0.2.0/24", "2001:db8::/32"}})
	a = h.signed(away, h.request(http.MethodGet, "/customers", ""))
	require.Equal(t, http.StatusForbidden, a.status)
	require.Equal(t, 190065, a.fault(t).Code)
	here := h.newKey(admin.KeyChange{Addresses: &[]string{"192.0.2.0/24", "127.0.0.1"}})
	require.Equal(t, http.StatusOK, h.signed(here, h.request(http.MethodGet, "/customers", "")).status)
}

func TestQueryVocabulary(t *testing.T) {
	h := open(t)
	for _, c := range []struct {
		target string
		code   int
		field  string
	}{
		{"/customers?statsu=active", 190069, "statsu"},
		{"/customers?status.like=active", 190069, "status.like"},
		{"/customers/ada?limit=5", 190069, "limit"},
		{"/admin/modules?cursor=x", 190069, "cursor"},
		{"/customers?limit=5&limit=6", 190070, "limit"},
		{"/customers?status=active&status=inactive", 190070, "status"},
		{"/customers?limit=0", 190070, "limit"},
		{"/customers?limit=1001", 190070, "limit"},
		{"/customers?limit=x", 190070, "limit"},
		{"/customers?limit=", 190070, "limit"},
		{"/customers?limit=1.5", 190070, "limit"},
		{"/customers?offset=-1", 190070, "offset"},
		{"/customers?cursor=nonsense", 190070, "cursor"},
		{"/customers?search=%ff", 190070, "search"},
		{"/customers?search=%00", 190070, "search"},
		{"/customers?fields=id,nonsense", 190011, "fields"},
		{"/customers/a%00b", 190070, "customer_id"},
		{"/customers/a%ffb", 190070, "customer_id"},
		{"/customers/ada/points?as_of=2023-02-30", 190070, "as_of"},
	} {
		a := h.get(c.target)
		require.Equal(t, http.StatusBadRequest, a.status, c.target)
		require.Equal(t, c.code, a.fault(t).Code, "%s: %s", c.target, a.body)
		require.Equal(t, []string{c.field}, a.fault(t).fields(), c.target)
	}

	a := h.get("/customers?limit=0&offset=-1")
	require.Equal(t, []string{"limit", "offset"}, a.fault(t).fields(), "every parameter at fault")
	for _, target := range []string{"/customers?", "/customers?&&limit=5&", "/customers?search=a;b", "/customers?limit=1000&offset=99999999"} {
		require.Equal(t, http.StatusOK, h.get(target).status, target)
	}

	r := h.request(http.MethodGet, "/customers", "")
	r.URL.RawQuery = "search=%zz"
	a = h.send(r)
	require.Equal(t, http.StatusBadRequest, a.status)
	require.Equal(t, 190073, a.fault(t).Code)
}

// spec: service.form, service.json-body
func TestMediaTypes(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	form := "customer=ada&action=visit&data[url]=https://shop.test/"
	for _, c := range []struct {
		media, body string
		status      int
	}{
		{"application/json", visit, 200},
		{"application/json; charset=utf-8", visit, 200},
		{"Application/JSON", visit, 200},
		{formType, form, 200},
		{formType + "; charset=UTF-8", form, 200},
		{"application/json; charset=iso-8859-2", visit, 415},
		{"text/plain", visit, 415},
		{"application/xml", "<a/>", 415},
		{"multipart/form-data; boundary=x", form, 415},
		{"application/json/x", visit, 415},
		{"", visit, 415},
		{"", "", 400},
		{"application/json", "", 400},
		{formType, "", 400},
	} {
		a := h.signed(h.key, h.request(http.MethodPost, "/events", c.body, "Content-Type", c.media))
		require.Equal(t, c.status, a.status, "%s: %s", c.media, a.body)
		switch c.status {
		case 415:
			require.Equal(t, "UnsupportedMediaTypeException", a.fault(t).Type)
		case 400:
			require.Equal(t, []string{"customer", "action", "data"}, a.fault(t).fields(), "a missing body counts as {}")
		}
	}

	for coding, refused := range map[string]bool{
		"gzip": true, "GZIP": true, "br": true, "deflate": true, "x-own": true, "identity, gzip": true, "identity": false, "Identity": false, "": false, "identity,": false,
	} {
		a := h.post("/events", visit, "Content-Encoding", coding)
		require.Equal(t, refused, a.status == 415, "%s: %s", coding, a.body)
		if refused {
			require.Equal(t, 190840, a.fault(t).Code, coding)
			require.Contains(t, a.fault(t).Message, coding, "it is the coding that is wrong")
			require.Equal(t, "identity", a.header.Get("Accept-Encoding"))
		}
	}

	require.Equal(t, 415, h.post("/events", visit, "Content-Encoding", "identity", "Content-Encoding", "gzip").status, "in a second header")
	require.Empty(t, h.post("/events", "<a/>", "Content-Type", "text/xml").header.Get("Accept-Encoding"))
}

// leftReader breaks after its caller has left.
type leftReader struct {
	loyalty.Reader
	leave context.CancelFunc
}

func (l leftReader) Customer(ctx context.Context, _ string) (loyalty.Customer, error) {
	l.leave()
	<-ctx.Done()
	return loyalty.Customer{}, errors.New("broken by itself")
}

// TestFaultsBesideACallerWhoLeft: a fault of ours stays one, although no caller waits for the answer.
func TestFaultsBesideACallerWhoLeft(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	h := open(t, func(o *server.Options) { o.Reader = leftReader{o.Reader, leave} })
	to := &signing.Transport{Scheme: signing.Default(region), Credential: h.key}
	_, err := to.RoundTrip(h.request(http.MethodGet, "/customers/ada", "").WithContext(ctx)) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool { return strings.Contains(h.log.String(), "broken by itself") }, time.Minute, time.Millisecond)
	require.Contains(t, h.log.String(), `"level":"ERROR","msg":"request"`)
}

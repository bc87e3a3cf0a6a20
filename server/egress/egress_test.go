package egress

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

// loopback lets tests in.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// counting is a listener that counts who connects.
func counting(t *testing.T, address string) (port string, connections *atomic.Int64) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Skipf("%s cannot be listened on: %v", address, err)
	}

	t.Cleanup(func() { _ = l.Close() })
	connections = &atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = c.Close()
		}
	}()

	_, port, err = net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port, connections
}

// TestNothingInsideIsCalled: no spelling of an address inside, no name that stands for one,
// and no proxy of the environment leads to a connection.
func TestNothingInsideIsCalled(t *testing.T) {
	port, connections := counting(t, "127.0.0.1:0")
	proxyPort, proxied := counting(t, "127.0.0.1:0")
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+proxyPort)
	}

	resolver := fakeDNS(t, func(string) net.IP { return net.IPv4(127, 0, 0, 1) })
	hosts := []string{
		"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "2130706433", "0177.0.0.1", "0x7f.1", "127.1", "0x7f000001",
		"169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "[fd00::1]", "[fe80::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001::1]",
		"[2001:db8::1]", "192.0.2.1", "198.18.0.1", "203.0.113.9", "224.0.0.1", "255.255.255.255", "240.0.0.1",
		"localhost", "rebound.example", "receiver.example.",
	}

	for _, allow := range [][]netip.Prefix{nil, {netip.MustParsePrefix("192.0.2.200/32")}} {
		c := newClient(Options{Allow: allow, Agent: "test"}, resolver)
		for _, host := range hosts {
			for _, u := range []string{"https://" + host + "/", "https://" + host + ":8443/", "https://" + host + ":" + port + "/", "http://" + host + ":" + port + "/", "http://" + host + ":443/"} {
				a := c.Send(t.Context(), &webhook.Message{URL: u, ID: "1", At: time.Now(), Body: []byte("{}")})
				require.Equal(t, FaultRefused, a.Fault, u)
				require.Zero(t, a.Status)
			}
		}
	}

	require.Zero(t, connections.Load())
	require.Zero(t, proxied.Load())
}

// TestMetadataOfCloudsIsNeverCalled: the addresses that tell a machine in a cloud its secrets are
// refused in every spelling, also where the operator lets in all that there is.
func TestMetadataOfCloudsIsNeverCalled(t *testing.T) {
	everything := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for _, allow := range [][]netip.Prefix{nil, everything} {
		c := NewClient(Options{Allow: allow, Agent: "test"})
		for _, host := range []string{
			"168.63.129.16", "169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.23", "100.100.100.200", "100.96.0.96", "192.0.0.192",
			"[fd00:ec2::254]", "[fd00:ec2::23]", "[fd20:ce::254]", "[fd00:42::42]", "[fe80::a9fe:a9fe]",
			"[::ffff:168.63.129.16]", "[::ffff:a83f:8110]", "[::168.63.129.16]", "[::ffff:0:168.63.129.16]", "[64:ff9b::a83f:8110]", "[64:ff9b:1::a83f:8110]",
			"[64:ff9b::a9fe:a9fe]", "[64:ff9b::c000:c0]", "[64:ff9b::6464:64c8]", "[2002:a83f:8110::]", "[2002:a9fe:a9fe::1]", "[::5efe:a9fe:a9fe]", "[fe80::200:5efe:a83f:8110]",
		} {
			fault, _ := c.URLFault("https://" + host + "/hook")
			require.Equal(t, "webhook_url_refused", fault, host)
			to, err := netip.ParseAddrPort(host + ":443")
			require.NoError(t, err)
			require.Error(t, c.guard.control(t.Context(), "tcp6", to.String(), nil), host)
		}
	}

	c := NewClient(Options{Agent: "test"})
	for _, host := range []string{"168.63.129.15", "168.63.129.17", "93.184.216.34", "[2606:2800:220:1::1]"} {
		fault, _ := c.URLFault("https://" + host + "/hook")
		require.Empty(t, fault, "%s is an address like any other", host)
	}
}

// TestNamesAreJudgedWhenDialled: a name that stood for an address outside when it was first
// looked up, and for one inside a moment later, does not get there.
func TestNamesAreJudgedWhenDialled(t *testing.T) {
	_, connections := counting(t, "127.0.0.1:8443")
	asked := &atomic.Int64{}
	resolver := fakeDNS(t, func(string) net.IP {
		if asked.Add(1) <= 2 {
			return net.IPv4(93, 184, 216, 34)
		}
		return net.IPv4(127, 0, 0, 1)
	})

	found, err := resolver.LookupNetIP(t.Context(), "ip4", "rebound.example")
	require.NoError(t, err)
	require.True(t, found[0].Unmap().IsGlobalUnicast() && !found[0].IsPrivate())
	asked.Store(2)
	c := newClient(Options{}, resolver)
	a := c.Send(t.Context(), &webhook.Message{URL: "https://rebound.example:8443/", ID: "1", At: time.Now()})
	require.Equal(t, FaultRefused, a.Fault)
	require.Zero(t, connections.Load())
}

// TestGuardOutside: what is outside may be called on the ports for it.
func TestGuardOutside(t *testing.T) {
	g := newGuard(loopback)
	for address, fits := range map[string]bool{
		"93.184.216.34:443": true, "93.184.216.34:8443": true, "93.184.216.34:80": false, "[2606:2800:220:1::1]:443": true, "[::ffff:93.184.216.34]:443": true,
		"127.0.0.1:9": true, "127.8.8.8:80": true, "[::ffff:127.0.0.1]:80": true, "[::1]:443": false, "192.168.0.1:443": false,
	} {
		require.Equal(t, fits, g.control(t.Context(), "tcp4", address, nil) == nil, address)
	}
	plain := context.WithValue(t.Context(), plainly{}, true)
	require.NoError(t, g.control(plain, "tcp4", "127.0.0.1:80", nil))
	require.Error(t, g.control(plain, "tcp4", "93.184.216.34:443", nil), "without TLS only inside")
	require.Error(t, g.control(t.Context(), "udp4", "93.184.216.34:443", nil))
	require.Error(t, g.control(t.Context(), "tcp4", "nonsense", nil))
}

func TestURLFault(t *testing.T) {
	outside, inside := NewClient(Options{}), NewClient(Options{Allow: loopback})

	for text, want := range map[string][2]string{
		"https://shop.test/hooks":         {"", ""},
		"https://shop.test:8443/hooks?a=": {"", ""},
		"https://shop.test:9000/":         {"webhook_url_port", ""},
		"http://shop.test/":               {"webhook_url_scheme", ""},
		"ftp://shop.test/":                {"webhook_url_scheme", "webhook_url_scheme"},
		"https://me:pass@shop.test/":      {"webhook_url_user", "webhook_url_user"},
		"https://127.0.0.1/":              {"webhook_url_refused", ""},
		"http://127.0.0.1:9/":             {"webhook_url_scheme", ""},
		"https://[::1]/":                  {"webhook_url_refused", "webhook_url_refused"},
		"https://[fe80::1%25eth0]/":       {"webhook_url_refused", "webhook_url_refused"},
		"https://2130706433/":             {"webhook_url_refused", "webhook_url_refused"},
		"https://shop.test/#part":         {"bad_format", "bad_format"},
		"https:///hooks":                  {"bad_format", "bad_format"},
		"https://shop.test:0/":            {"bad_format", "bad_format"},
		"https://shop.test/a b":           {"bad_format", "bad_format"},
		"shop.test/hooks":                 {"bad_format", "bad_format"},
	} {
		name, _ := outside.URLFault(text)
		require.Equal(t, want[0], name, text)
		name, _ = inside.URLFault(text)
		require.Equal(t, want[1], name, text)
	}
}

// TestRedirectsAreNotFollowed: a redirect to the inside, or anywhere, is an answer.
func TestRedirectsAreNotFollowed(t *testing.T) {
	inside := &atomic.Int64{}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(other.URL, status))
		a := NewClient(Options{Allow: loopback}).Send(t.Context(), &webhook.Message{URL: s.URL, ID: "1", At: time.Now()})
		require.Equal(t, status, a.Status)
		s.Close()
	}
	require.Zero(t, inside.Load())
}

// TestAnswersAreCut: an answer of ten megabytes that comes a byte at a time, one that never
// begins and headers without end are given up when the time is over.
func TestAnswersAreCut(t *testing.T) {
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-over
			return
		}

		w.Header().Set("Content-Length", fmt.Sprint(10<<20))
		if r.URL.Path == "/headers" {
			for i := range 2000 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 100))
			}
		}

		for {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-over:
				return
			case <-time.After(time.Second):
			}
		}
	}))
	defer s.Close()
	defer close(over)
	c := NewClient(Options{Allow: loopback})
	var all sync.WaitGroup
	for path, check := range map[string]func(webhook.Answer){
		"/drip":    func(a webhook.Answer) { require.Equal(t, 200, a.Status); require.Less(t, len(a.Body), 30) },
		"/silent":  func(a webhook.Answer) { require.Equal(t, FaultTimeout, a.Fault) },
		"/headers": func(a webhook.Answer) { require.Equal(t, FaultConnection, a.Fault) },
	} {
		all.Go(func() {
			began := time.Now()
			check(c.Send(t.Context(), &webhook.Message{URL: s.URL + path, ID: "1", At: time.Now()}))
			require.Less(t, time.Since(began), totalTime+3*time.Second)
		})
	}

	all.Wait()
}

// TestLargeAnswers: of an answer only its beginning is kept.
func TestLargeAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(503)
		_, _ = w.Write([]byte(strings.Repeat("x", 1<<20)))
	}))
	defer s.Close()
	a := NewClient(Options{Allow: loopback}).Send(t.Context(), &webhook.Message{URL: s.URL, ID: "1", At: time.Now()})
	require.Equal(t, 503, a.Status)
	require.Len(t, a.Body, keptAnswer)
	require.Equal(t, 2*time.Minute, a.RetryAfter)
}

// TestProxyIsExplicit: where one is named everything goes through it, and addresses that are
// written as numbers are judged nevertheless.
func TestProxyIsExplicit(t *testing.T) {
	seen := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Method + " " + r.Host
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()

	to, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	c := NewClient(Options{Proxy: to})
	a := c.Send(t.Context(), &webhook.Message{URL: "https://shop.test/", ID: "1", At: time.Now()})
	require.Equal(t, FaultConnection, a.Fault)
	require.Equal(t, "CONNECT shop.test:443", <-seen)
	require.Equal(t, FaultRefused, c.Send(t.Context(), &webhook.Message{URL: "https://10.0.0.1/", ID: "1", At: time.Now()}).Fault)
	require.Empty(t, seen)
}

// TestFaultsAreNamed: why there was no answer, in one word.
func TestFaultsAreNamed(t *testing.T) {
	resolver := fakeDNS(t, func(string) net.IP { return nil })
	port, _ := counting(t, "127.0.0.1:0")
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	c := newClient(Options{Allow: loopback}, resolver)

	for u, want := range map[string]string{
		"https://nobody.example/":   FaultDNS,
		"http://127.0.0.1:" + port:  FaultConnection,
		"https://127.0.0.1:" + port: FaultConnection,
		secure.URL:                  FaultTLS,
		"https://10.0.0.1/":         FaultRefused,
		"nonsense":                  FaultRefused,
	} {
		require.Equal(t, want, c.Send(t.Context(), &webhook.Message{URL: u, ID: "1", At: time.Now()}).Fault, u)
	}
}

// TestSignatureVerifies: the reference library accepts what is signed, under each secret of a
// rotation, and nothing that was changed.
func TestSignatureVerifies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &webhook.Message{
			ID: rapid.StringMatching(`[0-9a-f-]{36}`).Draw(t, "id"), Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body"), At: time.Now(),
			Secrets: []string{NewSecret(), NewSecret()}[:rapid.IntRange(1, 2).Draw(t, "secrets")],
		}

		h := http.Header{}
		signed(h, m)
		for _, secret := range m.Secrets {
			w, err := standardwebhooks.NewWebhook(secret)
			require.NoError(t, err)
			require.NoError(t, w.Verify(m.Body, h))
			require.Error(t, w.Verify(append([]byte("x"), m.Body...), h))
			ours, err := w.Sign(m.ID, m.At, m.Body)
			require.NoError(t, err)
			require.Equal(t, ours, Sign(secret, m.ID, m.At, m.Body))
		}

		stranger, err := standardwebhooks.NewWebhook(NewSecret())
		require.NoError(t, err)
		require.Error(t, stranger.Verify(m.Body, h))
	})
}

// TestMessage: what a receiver gets; its own headers never take the place of ours.
func TestMessage(t *testing.T) {
	got := make(chan *http.Request, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r }))
	defer s.Close()
	m := &webhook.Message{
		URL: s.URL + "/hooks?shop=1", ID: "01", At: time.Unix(1_800_000_000, 0), Type: "application/json", Body: []byte("{}"), Replay: true, Secrets: []string{NewSecret()},
		Headers: map[string]string{"Authorization": "Bearer x", "webhook-id": "forged", "User-Agent": "forged"},
	}

	require.Equal(t, 200, NewClient(Options{Allow: loopback, Agent: "Loyalty"}).Send(t.Context(), m).Status)
	r := <-got
	require.Equal(t, "/hooks?shop=1", r.URL.String())
	for name, want := range map[string]string{
		"Authorization": "Bearer x", "webhook-id": "01", "webhook-timestamp": "1800000000", "webhook-replay": "1", "Content-Type": "application/json", "User-Agent": "Loyalty",
	} {
		require.Equal(t, want, r.Header.Get(name), name)
	}
}

// fakeDNS answers every question for an address with what answer says; nil: there is no
// such name.
func fakeDNS(t *testing.T, answer func(name string) net.IP) *net.Resolver {
	t.Helper()
	l, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			q := make([]byte, 512)
			n, from, err := l.ReadFrom(q)
			if err != nil {
				return
			}
			_, _ = l.WriteTo(dnsAnswer(q[:n], answer), from)
		}
	}()

	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", l.LocalAddr().String())
	}}
}

func dnsAnswer(q []byte, answer func(string) net.IP) []byte {
	end := 12
	var labels []string
	for q[end] != 0 {
		labels = append(labels, string(q[end+1:end+1+int(q[end])]))
		end += 1 + int(q[end])
	}

	kind := binary.BigEndian.Uint16(q[end+1:])
	question := q[12 : end+5]
	out := append([]byte{}, q[:2]...)
	ip := answer(strings.Join(labels, "."))
	switch {
	case ip == nil:
		out = append(out, 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0)
		return append(out, question...)
	case kind != 1:
		out = append(out, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
		return append(out, question...)
	}

	out = append(append(out, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0), question...)
	out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
	return append(out, ip.To4()...)
}

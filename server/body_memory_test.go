package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/signing"
)

// headersAlone sends the headers of a request and nothing of its body, and waits for
// the answer: it comes only from a server that does not want the body first.
func (h *house) headersAlone(r *http.Request, announced int) *http.Response {
	h.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = c.Close() })
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", r.Method, r.URL.RequestURI(), r.URL.Host, announced)
	require.NoError(h.t, r.Header.Write(&head))
	head.WriteString("\r\n")
	_, err = c.Write(head.Bytes())
	require.NoError(h.t, err)
	resp, err := http.ReadResponse(bufio.NewReader(c), r)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = resp.Body.Close() })

	return resp
}

// TestUnsignedBodiesAreNotAwaited: whatever can be refused by the headers is
// refused by them, before a byte of the body was sent.
func TestUnsignedBodiesAreNotAwaited(t *testing.T) {
	h := open(t)
	sign := func(s signing.Scheme, key signing.Credential) func(*http.Request) {
		return func(r *http.Request) { require.NoError(t, s.Sign(r, nil, key)) }
	}
	elsewhere := h.newKey(admin.KeyChange{Addresses: &[]string{"192.0.2.0/24"}})

	for name, prepare := range map[string]func(*http.Request){
		"unsigned":                  func(*http.Request) {},
		"malformed":                 func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") },
		"another region":            sign(signing.Default("elsewhere"), h.key),
		"an unknown key":            sign(signing.Default(region), signing.Credential{KeyID: "LKUNKNOWN", Secret: "x"}),
		"a key of other addresses":  sign(signing.Default(region), elsewhere),
		"an unknown key, no secret": sign(signing.Default(region), signing.Credential{KeyID: "LKUNKNOWN", Secret: "-"}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/events", "/coupon-pools/p/codes"} {
				r := h.request(http.MethodPost, path, "", "Content-Type", jsonType)
				prepare(r)
				require.Equal(t, http.StatusUnauthorized, h.headersAlone(r, 1<<20-1).StatusCode, path)
			}
		})
	}
}

// counted counts what a server takes of a body that does not end by itself.
type counted struct {
	left  int64
	taken atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	if c.taken.Load() >= c.left {
		return 0, io.EOF
	}
	n := copy(p, bytes.Repeat([]byte("x"), int(min(int64(len(p)), c.left-c.taken.Load()))))
	c.taken.Add(int64(n))
	return n, nil
}

// TestUnknownKeysAreReadLittle: the body of an unknown key is given up after 64 KiB,
// with the answer that a known key with a wrong secret gets.
func TestUnknownKeysAreReadLittle(t *testing.T) {
	h := open(t)
	for _, key := range []signing.Credential{{KeyID: "LKUNKNOWN", Secret: "x"}, {KeyID: h.key.KeyID, Secret: "x"}} {
		body := &counted{left: 1 << 20}
		r := h.request(http.MethodPost, "/events", "", "Content-Type", jsonType)
		require.NoError(t, signing.Default(region).Sign(r, nil, key))
		r.Body, r.ContentLength = io.NopCloser(body), -1
		a := h.send(r)
		require.Equal(t, http.StatusUnauthorized, a.status, a.body)
		require.Equal(t, 101024, a.fault(t).Code)
		if key.KeyID == h.key.KeyID {
			require.Equal(t, body.left, body.taken.Load())
		}
	}
}

// TestAddressesAreToldToSigners: a small body is read, so that who signed well
// learns that the address is at fault.
func TestAddressesAreToldToSigners(t *testing.T) {
	h := open(t)
	key := h.newKey(admin.KeyChange{Addresses: &[]string{"192.0.2.0/24"}})
	a := h.signed(key, h.request(http.MethodPost, "/events", `{}`, "Content-Type", jsonType))
	require.Equal(t, http.StatusForbidden, a.status)
	require.Equal(t, 190065, a.fault(t).Code)
}

// TestBodiesShareMemory: bodies that are being sent take memory together; beyond
// it the next one is 503, and when they are gone it is served again.
func TestBodiesShareMemory(t *testing.T) {
	h := open(t, func(o *server.Options) { o.BodyMemory = 1 << 20 })
	h.enrol("member")
	visit := `{"customer":"member","action":"visit","data":{"url":"https://shop.test/"}}`
	a := h.post("/events/preview", visit+strings.Repeat(" ", 100<<10))
	require.Equal(t, http.StatusServiceUnavailable, a.status, "eight times its size is more than there is: %s", a.body)
	require.Equal(t, 190440, a.fault(t).Code)
	require.NotEmpty(t, a.header.Get("Retry-After"))

	var writer *io.PipeWriter
	var slow chan int
	begin := func() {
		var reader *io.PipeReader
		reader, writer = io.Pipe()
		slow = make(chan int, 1)
		r := h.request(http.MethodPost, "/events", "", "Content-Type", jsonType)
		require.NoError(t, signing.Default(region).Sign(r, nil, h.key))
		r.Body, r.ContentLength = reader, -1
		go func() {
			resp, err := http.DefaultTransport.RoundTrip(r) // the contract's would read the body first
			if err != nil {
				slow <- 0
				return
			}
			_ = resp.Body.Close()
			slow <- resp.StatusCode
		}()

		_, _ = writer.Write(bytes.Repeat([]byte(" "), 500<<10)) // three quarters of a MiB are for known keys
	}

	begin()

	medium := visit + strings.Repeat(" ", 40<<10)
	require.Eventually(t, func() bool {
		select {
		case <-slow: // one of the two has to give way, and it was the slow one, whose end was still to come
			_ = writer.Close() // the transport still waits for the rest of its body
			begin()
		default:
		}
		return h.post("/events/preview", medium).status == http.StatusServiceUnavailable
	}, time.Minute, time.Second, "once the slow body has arrived")

	require.NoError(t, writer.Close())
	require.Equal(t, http.StatusUnauthorized, <-slow)
	require.Equal(t, http.StatusOK, h.post("/events/preview", medium).status)
}

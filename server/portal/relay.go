package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Bounds of a tried request.
const (
	maxTried    = 1 << 20 // bytes of the request
	maxAnswered = 4 << 20 // bytes of the answer that are shown
	tryTimeout  = 15 * time.Second
	triesAtOnce = 4               // requests that the platform handles at a time
	readTimeout = 5 * time.Second // for the body of a page's request
	readsAtOnce = 32              // bodies that are read at a time: their senders have not signed yet
)

// relay takes a signed request as data, because a browser does not let a page set the header Date, and hands it to the
// platform as if its sender had sent it directly. It adds no authority: it reads no cookie, and the caller's own
// address counts.
type relay struct {
	to    http.Handler
	under chan struct{} // one entry for each request under way
	reads reading
}

func newRelay(to http.Handler) *relay { return &relay{to: to, under: make(chan struct{}, triesAtOnce)} }

// tried is a request as a page sends it.
type tried struct {
	Method  string      `json:"method"`
	Target  string      `json:"target"`
	Headers [][2]string `json:"headers"`
	Body    string      `json:"body"`
}

// answered is the answer to a tried request.
type answered struct {
	Status  int         `json:"status"`
	Headers [][2]string `json:"headers"`
	Body    string      `json:"body"`
	Cut     bool        `json:"cut,omitempty"` // the answer was longer
	Took    float64     `json:"took"`          // milliseconds
}

// ServeHTTP sends the request in the body, and returns its answer. 400: no such request; 403: from another site; 405;
// 408: the body is too slow; 413; 503: too many requests are being tried.
func (t *relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "a request to try is sent by POST", http.StatusMethodNotAllowed)
		return
	}

	if !sameSite(r) {
		http.Error(w, "only the pages of this server can try requests", http.StatusForbidden)
		return
	}

	var in tried
	if status, refused := t.reads.of(w, r, &in); refused != nil {
		http.Error(w, refused.Error(), status)
		return
	}

	// not earlier: a slow body must not block other requests
	select {
	case t.under <- struct{}{}:
		defer func() { <-t.under }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "others are trying requests at the moment: try again", http.StatusServiceUnavailable)
		return
	}

	ctx, cancel := context.WithTimeout(r.Context(), tryTimeout)
	defer cancel()
	request, err := in.request(ctx, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}

	out, began := &recorder{header: http.Header{}}, time.Now()
	t.to.ServeHTTP(out, request)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(out.answer(time.Since(began))) // the page may be gone
}

// sameSite reports whether a page of this server sent the request, as far as browsers tell.
func sameSite(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && (origin.Host == "" && r.Header.Get("Origin") == "" || origin.Host == r.Host)
}

// ownHeaders are headers that the connection or the server sets, and headers by which a request would claim another
// origin.
var ownHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
	"Content-Length", "Cookie", "Host", "Forwarded", "X-Request-Id",
}

// request is the request for the platform; sent is the page's own request.
func (t tried) request(ctx context.Context, sent *http.Request) (*http.Request, error) {
	if t.Method != http.MethodGet && t.Method != http.MethodPost {
		return nil, fmt.Errorf("method: GET or POST, not %q", t.Method)
	}
	if !strings.HasPrefix(t.Target, "/") || strings.HasPrefix(t.Target, "//") ||
		slices.ContainsFunc([]string{"/docs", "/console"}, func(p string) bool { return strings.HasPrefix(t.Target, p) }) {
		return nil, fmt.Errorf("target: the path and query of an operation, not %q", t.Target)
	}
	if len(t.Body) > maxTried {
		return nil, fmt.Errorf("body: at most %d bytes", maxTried)
	}

	request, err := http.NewRequestWithContext(ctx, t.Method, t.Target, bytes.NewReader([]byte(t.Body)))
	if err != nil {
		return nil, fmt.Errorf("target: %q cannot be read", t.Target)
	}

	for _, h := range t.Headers {
		name := http.CanonicalHeaderKey(h[0])
		if slices.Contains(ownHeaders, name) || strings.HasPrefix(name, "X-Forwarded-") {
			return nil, fmt.Errorf("headers: %s cannot be sent from here", name)
		}
		request.Header.Add(name, h[1])
	}

	for name, values := range sent.Header {
		if strings.HasPrefix(name, "X-Forwarded-") {
			request.Header[name] = values // of a proxy; the platform decides whether to trust it
		}
	}

	request.Host, request.RemoteAddr, request.RequestURI, request.TLS = sent.Host, sent.RemoteAddr, t.Target, sent.TLS
	return request, nil
}

// recorder keeps an answer up to the length that is shown.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	cut    bool
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	kept := b[:min(len(b), maxAnswered-r.body.Len())]
	r.body.Write(kept)
	if len(kept) < len(b) {
		r.cut = true
		return len(kept), io.ErrShortWrite
	}
	return len(b), nil
}

func (r *recorder) answer(took time.Duration) answered {
	r.WriteHeader(http.StatusOK)
	a := answered{Status: r.status, Headers: [][2]string{}, Body: r.body.String(), Cut: r.cut,
		Took: float64(took.Microseconds()) / 1000}
	for name, values := range r.header {
		for _, value := range values {
			a.Headers = append(a.Headers, [2]string{name, value})
		}
	}
	slices.SortFunc(a.Headers, func(x, y [2]string) int { return strings.Compare(x[0], y[0]) })
	return a
}

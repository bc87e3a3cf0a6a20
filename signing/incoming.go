package signing

import (
	"net/http"
	"strings"
)

// Limits that apply before any signature work, in octets and parameters.
const (
	maxQuery  = 8 << 10
	maxPath   = 8 << 10
	maxParams = 1000 // stock escher-auth signs only the first 1000
)

// Incoming is a received request: everything that the signature covers.
type Incoming struct {
	// Method as received.
	Method string
	// Target is the raw request target of the request line (http.Request.RequestURI), before any decoding.
	Target string
	// Header holds the received headers under canonical names. Host and Content-Length may be absent, as net/http
	// does it.
	Header http.Header
	// Host is the Host header as received.
	Host string
	// Hosts are further names under which clients may have signed: configured public hosts, or X-Forwarded-Host when
	// the peer is trusted. The caller decides; Incoming itself reads nothing from the headers.
	Hosts []string
	// ContentLength as received; negative when there was none (chunked transfer).
	ContentLength int64
	// Body is the exact octets after transfer decoding, before parsing. The caller has limited its size.
	Body []byte
}

// FromRequest takes the signed parts from a server's request. body is what was read from r.Body.
func FromRequest(r *http.Request, body []byte, hosts ...string) Incoming {
	target := r.RequestURI
	if target == "" && r.URL != nil {
		target = r.URL.RequestURI()
	}
	return Incoming{
		Method: r.Method, Target: target, Header: r.Header, Host: r.Host,
		Hosts: hosts, ContentLength: r.ContentLength, Body: body,
	}
}

// IsClean tells whether a request target may be served: an absolute path without dot segments (also as %2e) and
// without empty segments, apart from one trailing slash. A request to any other path verifies, but must be answered
// with 404.
func IsClean(target string) bool {
	path, _, _, ok := splitTarget(target)
	if !ok {
		return false
	}
	for rest, more := path[1:], true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if more && segment == "" || isDots(segment) {
			return false
		}
	}
	return true
}

// isDots tells whether a segment is "." or "..", plain or percent-encoded.
func isDots(segment string) bool {
	dots := 0
	for segment != "" {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && segment[0] == '%' && segment[1] == '2' && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return false
		}
		dots++
	}
	return dots == 1 || dots == 2
}

// splitTarget cuts a request target into path and query. It drops scheme and host of the absolute form (RFC 9112,
// 3.2.2). hasQuery distinguishes a bare "?" from no query.
func splitTarget(target string) (path, query string, hasQuery, ok bool) {
	path, query, hasQuery = strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/") && path != "" {
		scheme, rest, found := strings.Cut(path, "://")
		if !found || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
			return "", "", false, false
		}
		host, after, _ := strings.Cut(rest, "/")
		if host == "" {
			return "", "", false, false
		}
		path = "/" + after
	}

	if path == "" {
		path = "/"
	}

	return path, query, hasQuery, true
}

// checkTarget refuses a target that cannot be judged: too long, with controls or blanks, or with a broken percent
// triplet.
func (w *work) checkTarget() error {
	var ok bool
	if w.path, w.query, w.hasQuery, ok = splitTarget(w.in.Target); !ok {
		return &RequestError{"target", "must be a path that begins with a slash"}
	}

	switch {
	case len(w.path) > maxPath:
		return &RequestError{"path", "is longer than 8 KiB"}
	case len(w.query) > maxQuery:
		return &RequestError{"query", "is longer than 8 KiB"}
	case strings.Count(w.query, "&") >= maxParams:
		return &RequestError{"query", "has more than 1000 parameters"}
	}

	if err := checkOctets("path", w.path); err != nil {
		return err
	}

	return checkOctets("query", w.query)
}

func checkOctets(field, s string) error {
	for i := 0; i < len(s); i++ {
		if class[s[i]]&visible == 0 {
			return &RequestError{field, "has a blank or a control character"}
		}
		if s[i] != '%' {
			continue
		}
		if i+2 >= len(s) {
			return &RequestError{field, "has a broken percent triplet"}
		}

		_, hi := unhex(s[i+1])
		_, lo := unhex(s[i+2])
		if !hi || !lo {
			return &RequestError{field, "has a broken percent triplet"}
		}

		i += 2
	}

	return nil
}

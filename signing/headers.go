package signing

import (
	"slices"
	"strconv"
	"strings"
)

// maxSigned is the greatest total length of the signed headers' values in octets, because every form contains them.
const maxSigned = 16 << 10

// checkSigned reads the list of signed headers. Names are in lower case, in any order and not repeated; host and the
// date are required, Authorization is not allowed, and the request must carry every header.
func (w *work) checkSigned(v *Verifier) error {
	if w.shape != nil {
		return w.checkCarried(v)
	}
	if !w.readNames() {
		return malformed("%s: SignedHeaders must be header names in lower case, joined with semicolons", v.scheme.AuthHeader)
	}
	w.signed = w.auth.signedHeaders
	if !slices.IsSorted(w.names) {
		slices.Sort(w.names)
		w.signed = strings.Join(w.names, ";")
	}
	return w.checkNames(v)
}

// readNames splits the list of signed headers.
func (w *work) readNames() bool {
	list, start := w.auth.signedHeaders, 0
	for i := 0; i <= len(list); i++ {
		if i < len(list) && list[i] != ';' {
			if class[list[i]]&headerName == 0 {
				return false
			}
			continue
		}
		if i == start {
			return false
		}
		w.read = append(w.read, list[start:i])
		start = i + 1
	}

	w.names = w.read
	return true
}

func (w *work) checkNames(v *Verifier) error {
	host, date := false, false
	for i, name := range w.names {
		host, date = host || name == "host", date || name == v.dateName
		if i > 0 && name == w.names[i-1] {
			return malformed("%s: SignedHeaders names %s twice", v.scheme.AuthHeader, name)
		}
		if name == v.authName {
			return malformed("%s: SignedHeaders must not name %s", v.scheme.AuthHeader, name)
		}
	}

	if err := w.checkCarried(v); err != nil {
		return err
	}

	switch {
	case !host:
		return malformed("%s: SignedHeaders must name host", v.scheme.AuthHeader)
	case !date:
		return malformed("%s: SignedHeaders must name %s", v.scheme.AuthHeader, v.dateName)
	}

	return nil
}

// checkCarried takes the values of the signed headers from the request. Each must be present.
func (w *work) checkCarried(v *Verifier) error {
	total := 0
	w.values = w.values[:0]
	for i, name := range w.names {
		values := w.carried(v, i)
		if len(values) == 0 {
			return malformed("%s: the signed header is missing", name)
		}
		w.values = append(w.values, values)
		for _, value := range values {
			total += len(value)
		}
	}

	if total > maxSigned {
		return &RequestError{"headers", "the signed ones are longer than 16 KiB"}
	}

	return nil
}

// carried gives the values of a signed header. The host is not in the header map of net/http; appendHeaders replaces
// it with each candidate host.
func (w *work) carried(v *Verifier, i int) []string {
	switch name := w.names[i]; {
	case name == v.dateName:
		return w.dates
	case name == "host" && w.in.Host != "":
		w.host[0] = w.in.Host
		return w.host[:]
	case name == "host":
		return nil
	case w.shape != nil && name != "content-length":
		return w.in.Header[w.shape.keys[i]]
	default:
		return w.lookup(name)
	}
}

// lookup gives the request's values under a lower-case name. It restores Content-Length, which net/http removes.
func (w *work) lookup(name string) []string {
	var key [64]byte
	if len(name) > len(key) {
		return w.in.Header[mimeKey(make([]byte, len(name)), name)]
	}
	values := w.in.Header[string(canonicalKey(key[:len(name)], name))]
	if len(values) == 0 && name == "content-length" && w.in.ContentLength >= 0 {
		w.length[0] = strconv.FormatInt(w.in.ContentLength, 10)
		return w.length[:]
	}
	return values
}

func mimeKey(dst []byte, name string) string { return string(canonicalKey(dst, name)) }

// canonicalKey writes the key of http.Header for a lower-case token: letters upper-case at the start and after a
// hyphen.
func canonicalKey(dst []byte, name string) []byte {
	upper := true
	for i := range len(name) {
		c := name[i]
		if upper && c-'a' < 26 {
			c -= 'a' - 'A'
		}
		upper = c == '-'
		dst[i] = c
	}
	return dst
}

// appendHeaders appends the canonical headers. keepQuoted preserves runs of blanks inside double quotes.
func (w *work) appendHeaders(dst []byte, host string, keepQuoted bool) []byte {
	for i, name := range w.names {
		dst = append(append(dst, name...), ':')
		if name == "host" {
			dst = appendCollapsed(dst, host, keepQuoted)
		} else {
			for j, value := range w.values[i] {
				if j > 0 {
					dst = append(dst, ',')
				}
				dst = appendCollapsed(dst, value, keepQuoted)
			}
		}
		dst = append(dst, '\n')
	}

	return dst
}

// appendCollapsed appends a header value, trimmed, with runs of blanks as one blank.
func appendCollapsed(dst []byte, value string, keepQuoted bool) []byte {
	value = trim(value)
	if !hasRun(value) {
		return append(dst, value...)
	}

	quoted := false
	for i := range len(value) {
		c := value[i]
		if c == '"' {
			quoted = !quoted
		}
		if c != ' ' || value[i-1] != ' ' || keepQuoted && quoted {
			dst = append(dst, c)
		}
	}

	return dst
}

// hasRun tells whether there are two blanks in a row.
func hasRun(s string) bool {
	for at := strings.IndexByte(s, ' '); at >= 0; {
		s = s[at+1:]
		if at = strings.IndexByte(s, ' '); at == 0 {
			return true
		}
	}
	return false
}

// trim removes blanks and tabs around a header value.
func trim(s string) string {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// headers gives the accepted spellings of the canonical headers without duplicates: each host that the client may
// have used, as it is and without a default port, with blanks collapsed everywhere or kept inside quotes.
func (w *work) headers() []string {
	var list []string
	for _, keepQuoted := range [...]bool{false, true} {
		for _, host := range append([]string{w.in.Host}, w.in.Hosts...) {
			list = appendNew(list, string(w.appendHeaders(nil, host, keepQuoted)))
			list = appendNew(list, string(w.appendHeaders(nil, withoutDefaultPort(host), keepQuoted)))
		}
	}
	return list
}

func withoutDefaultPort(host string) string {
	for _, port := range [...]string{":80", ":443"} {
		if bare, found := strings.CutSuffix(host, port); found && bare != "" {
			return bare
		}
	}
	return host
}

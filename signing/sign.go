package signing

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Sign sets the date and the authorization header of a client's request. It signs host, date and the named further
// headers, which must be set already (content-length is taken from the body). body must equal the sent body, octet
// for octet. Nothing that is signed may change afterwards. Sign again before a request is repeated: the date is part
// of it.
func (s Scheme) Sign(r *http.Request, body []byte, c Credential, headers ...string) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if err := c.validate(); err != nil {
		return err
	}
	if r.Header == nil {
		r.Header = make(http.Header)
	}

	w := new(work)
	date := s.clock()().UTC().Format(condensed)
	copy(w.date[:], date)
	r.Header.Set(s.DateHeader, date)
	w.in = outgoing(r, body)
	if err := w.prepare(s, headers); err != nil {
		return err
	}

	day := date[:8]
	signature := newKeyring(s).derive(c.Secret, day).sign(w.text)
	r.Header.Set(s.AuthHeader, fmt.Sprintf("%s Credential=%s/%s/%s, SignedHeaders=%s, Signature=%s",
		s.algorithm(), c.KeyID, day, s.Scope, w.signed, hex.EncodeToString(signature)))
	return nil
}

func (c Credential) validate() error {
	if c.KeyID == "" || len(c.KeyID) > maxKeyID || !all(c.KeyID, keyChar) {
		return errors.New("signing: KeyID must be 1 to 128 letters, digits, hyphens and underscores")
	}
	if c.Secret == "" {
		return errors.New("signing: Secret is empty")
	}
	return nil
}

// outgoing is the request as net/http will send it.
func outgoing(r *http.Request, body []byte) Incoming {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	return Incoming{
		Method: r.Method, Target: r.URL.RequestURI(), Header: r.Header, Host: host,
		ContentLength: int64(len(body)), Body: body,
	}
}

// prepare writes the string to sign in the specification's own form.
func (w *work) prepare(s Scheme, headers []string) error {
	if w.in.Method == "" {
		w.in.Method = http.MethodGet
	}
	if err := w.checkTarget(); err != nil {
		return fmt.Errorf("signing: %w", err)
	}
	if w.in.Host == "" || !all(w.in.Host, ascii) {
		return fmt.Errorf("signing: host %q must be ASCII (Punycode for other letters)", w.in.Host)
	}
	if err := w.choose(s, headers); err != nil {
		return err
	}

	w.hashBody()
	path := encodePath(cleanPath(w.path))
	w.form(path, string(w.textQuery(nil)), string(w.appendHeaders(nil, w.in.Host, false)))
	w.hashCanonical()
	w.setText(s.algorithm(), s.Scope)
	return nil
}

// choose sets the names of the signed headers.
func (w *work) choose(s Scheme, headers []string) error {
	w.names = append(w.names, "host", strings.ToLower(s.DateHeader))
	for _, name := range headers {
		name = strings.ToLower(name)
		if !all(name, headerName) || strings.EqualFold(name, s.AuthHeader) {
			return fmt.Errorf("signing: header %s cannot be signed", strconv.Quote(name))
		}
		if name != "host" && len(w.lookup(name)) == 0 {
			return fmt.Errorf("signing: header %s is to be signed but not set", strconv.Quote(name))
		}
		w.names = append(w.names, name)
	}

	slices.Sort(w.names)
	w.names = slices.Compact(w.names)
	w.signed = strings.Join(w.names, ";")
	for _, name := range w.names {
		w.values = append(w.values, w.lookup(name))
	}

	return nil
}

// Transport is an http.RoundTripper that signs every request it sends. The body is read into memory first.
type Transport struct {
	Scheme     Scheme
	Credential Credential
	// Headers are signed besides host and date, where the request has them; for example "Content-Type".
	Headers []string
	// Base sends the signed request; nil means http.DefaultTransport.
	Base http.RoundTripper
}

// RoundTrip sends a signed copy of the request.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
	}

	copied := r.Clone(r.Context())
	if copied.Body != nil {
		copied.Body, copied.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		copied.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}

	present := slices.DeleteFunc(slices.Clone(t.Headers), func(name string) bool { return copied.Header.Get(name) == "" })
	if err := t.Scheme.Sign(copied, body, t.Credential, present...); err != nil {
		return nil, err
	}

	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}

	return base.RoundTrip(copied)
}

// Package egress is the platform's only client for foreign addresses: it sends a body to an address that the
// operator's customer has named, and trusts nothing in the answer but its status. It decides which addresses may be
// called, how long a call may take, how much of an answer is read, and how a message is signed (Standard Webhooks). It
// does not decide what is sent when, nor how failures are handled.
package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

// How long a delivery may take in all, to connect, and to agree on TLS; and how long an idle connection stays open.
const (
	totalTime = 15 * time.Second
	dialTime  = 5 * time.Second
	keepAlive = 30 * time.Second
	idleTime  = time.Minute
)

// How much of an answer is read: its headers, its body, and how much of the body is kept.
const (
	maxHeaders = 32 << 10
	maxAnswer  = 64 << 10
	keptAnswer = 1 << 10
)

// Options are the parts of a client.
type Options struct {
	// Allow are internal addresses that may be called, with and without TLS and on any port.
	Allow []netip.Prefix
	// Proxy is the proxy for all requests; nil: none. The environment's proxy is not used: the check of addresses would
	// only see the proxy. Behind a proxy, the proxy resolves names and decides which addresses may be called.
	Proxy *url.URL
	// Agent is the platform's User-Agent.
	Agent string
}

// Client sends bodies. It is safe for concurrent use.
type Client struct {
	guard guard
	agent string
	http  *http.Client
}

// NewClient makes a client.
func NewClient(o Options) *Client { return newClient(o, nil) }

func newClient(o Options, resolver *net.Resolver) *Client {
	c := &Client{guard: newGuard(o.Allow), agent: o.Agent}
	t := &http.Transport{
		Proxy:               nil, // never the environment's
		DialContext:         c.guard.dialer(resolver).DialContext,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: totalTime, IdleConnTimeout: idleTime,
		MaxIdleConns: 64, MaxIdleConnsPerHost: 8, MaxResponseHeaderBytes: maxHeaders,
		DisableCompression: true,
	}

	if o.Proxy != nil {
		t.Proxy = http.ProxyURL(o.Proxy)
		t.DialContext = (&net.Dialer{Timeout: dialTime, KeepAlive: keepAlive}).DialContext
	}

	c.http = &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	return c
}

// The reasons for a missing answer. They reveal nothing about the network.
const (
	FaultRefused    = "refused"
	FaultDNS        = "dns"
	FaultTimeout    = "timeout"
	FaultTLS        = "tls"
	FaultConnection = "connection"
)

// Send sends a message once. It does not follow redirects and returns them like other answers.
func (c *Client) Send(ctx context.Context, m *webhook.Message) webhook.Answer {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, totalTime)
	defer cancel()
	a := c.send(ctx, m)
	a.Took = time.Since(began)
	return a
}

func (c *Client) send(ctx context.Context, m *webhook.Message) (a webhook.Answer) {
	if name, _ := c.URLFault(m.URL); name != "" { // the rules may have changed since
		return webhook.Answer{Fault: FaultRefused}
	}

	u, err := url.Parse(m.URL)
	if err != nil {
		return webhook.Answer{Fault: FaultRefused}
	}

	ctx = context.WithValue(ctx, plainly{}, u.Scheme == "http")
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return webhook.Answer{Fault: FaultRefused}
	}

	for name, value := range m.Headers {
		r.Header.Set(name, value)
	}

	r.Header.Set("User-Agent", c.agent)
	r.Header.Set("Content-Type", m.Type)
	signed(r.Header, m)
	resp, err := c.http.Do(r) //nolint:bodyclose // it is closed below
	if err != nil {
		return webhook.Answer{Fault: faultOf(ctx, err)}
	}
	defer func() { _ = resp.Body.Close() }()

	a.Status, a.RetryAfter = resp.StatusCode, retryAfter(resp.Header, m.At)
	a.Body = readSome(resp.Body)
	return a
}

// readSome reads the beginning of an answer. If that is all, the connection can be reused; a longer or slow answer is
// cut off.
func readSome(body io.Reader) []byte {
	kept, _ := io.ReadAll(io.LimitReader(body, keptAnswer)) // the status is known already
	_, _ = io.Copy(io.Discard, io.LimitReader(body, maxAnswer-keptAnswer))
	return kept
}

// faultOf names the reason for a missing answer.
func faultOf(ctx context.Context, err error) string {
	var name *net.DNSError
	var timeout net.Error
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.Is(err, errRefused):
		return FaultRefused
	case ctx.Err() != nil:
		return FaultTimeout
	case errors.As(err, &name):
		return FaultDNS
	case errors.As(err, &verification), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &authority):
		return FaultTLS
	case errors.As(err, &timeout) && timeout.Timeout():
		return FaultTimeout
	}

	return FaultConnection
}

// retryAfter reads the header Retry-After: seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// Close ends the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// publicPorts are the allowed ports of public receivers.
var publicPorts = []uint16{443, 8443}

// errRefused means that an address may not be called. It reveals nothing about the network behind it.
var errRefused = errors.New("the address is refused")

// guard decides which addresses may be called. It checks the address of each connection just before it is made, because
// a name that was checked earlier may resolve to another address a moment later.
type guard struct {
	allow  []netip.Prefix // the operator's additional addresses: any port, with and without TLS
	public *ssrf.Guardian
}

func newGuard(allow []netip.Prefix) guard {
	return guard{allow, ssrf.New(ssrf.WithPorts(publicPorts...))}
}

// plainly marks the requests without TLS.
type plainly struct{}

// control is for net.Dialer, which calls it for each address just before it connects.
func (g guard) control(ctx context.Context, network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return errRefused
	}
	if network != "tcp4" && network != "tcp6" {
		return errRefused
	}
	plain, _ := ctx.Value(plainly{}).(bool)
	return g.check(netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), plain)
}

// check decides on an address.
func (g guard) check(to netip.AddrPort, plain bool) error {
	if isMetadata(to.Addr()) {
		return errRefused
	}
	if g.allowed(to.Addr()) {
		return nil
	}
	if plain || g.public.SafeAddrPort(to) != nil {
		return errRefused
	}
	return nil
}

func (g guard) allowed(a netip.Addr) bool {
	for _, p := range g.allow {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// URLFault returns what is wrong with an address for deliveries, as the name of a message with its arguments; empty if
// nothing can be seen without a request. The addresses of its name are checked at each call.
func (c *Client) URLFault(text string) (name string, args map[string]any) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || u.Fragment != "" ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "bad_format", map[string]any{"format": "https://host/path"}
	}

	inside := len(c.guard.allow) > 0
	switch {
	case u.User != nil:
		return "webhook_url_user", nil
	case u.Scheme != "https" && (u.Scheme != "http" || !inside):
		return "webhook_url_scheme", nil
	}

	port, known := portOf(u)
	if !known {
		return "bad_format", map[string]any{"format": "https://host/path"}
	}

	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		if a.Zone() != "" || c.guard.check(netip.AddrPortFrom(a.Unmap(), port), u.Scheme == "http") != nil {
			return "webhook_url_refused", nil
		}
		return "", nil
	}

	switch {
	case numeric(u.Hostname()), strings.Contains(u.Hostname(), "%"):
		return "webhook_url_refused", nil
	case !inside && port != publicPorts[0] && port != publicPorts[1]:
		return "webhook_url_port", nil
	}

	return "", nil
}

// portOf is the port of a URL.
func portOf(u *url.URL) (port uint16, known bool) {
	switch text := u.Port(); {
	case text != "":
		n, err := strconv.ParseUint(text, 10, 16)
		return uint16(n), err == nil && n > 0
	case u.Scheme == "http":
		return 80, true
	}
	return 443, true
}

// numeric reports whether a host is an address in an old spelling, such as 2130706433, 0177.1 or 0x7f.0.0.1, which some
// resolvers accept.
func numeric(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	if last == "" {
		return true
	}
	if strings.HasPrefix(last, "0x") {
		return true
	}
	return strings.Trim(last, "0123456789") == ""
}

// dialer connects to the addresses that the guard allows.
func (g guard) dialer(resolver *net.Resolver) *net.Dialer {
	return &net.Dialer{Timeout: dialTime, KeepAlive: keepAlive, Resolver: resolver, ControlContext: g.control}
}

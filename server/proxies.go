package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/loyalty-platform/loyalty/server/contract"
)

// proxies are the addresses whose X-Forwarded-* headers are believed.
type proxies []netip.Prefix

// parseProxies reads addresses and networks, or names the one it cannot read.
func parseProxies(texts []string) (proxies, error) {
	var list proxies
	for _, text := range texts {
		p, ok := contract.ParseNetwork(text)
		if !ok {
			return nil, fmt.Errorf("trusted proxy %q is neither an address nor a network", text)
		}
		list = append(list, p)
	}
	return list, nil
}

func (p proxies) trusts(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

func (p proxies) trustsPeer(r *http.Request) bool { return len(p) > 0 && p.trusts(peer(r)) }

// peer is the address of the other end of the connection; zero if it has none.
func peer(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// peer returns the caller's address, and whether the connection is encrypted all the way: a trusted proxy is believed
// in both.
func (p proxies) peer(r *http.Request) (source netip.Addr, secure bool) {
	return p.source(r), r.TLS != nil || p.trustsPeer(r) && r.Header.Get("X-Forwarded-Proto") == "https"
}

// source is the caller's address: the peer's, or behind trusted proxies the last address of X-Forwarded-For that is not
// one of them. Addresses before that come from the caller and are not believed.
func (p proxies) source(r *http.Request) netip.Addr {
	at := peer(r)
	if !p.trustsPeer(r) {
		return at
	}

	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			return at
		}
		if at = hop.Unmap().WithZone(""); !p.trusts(at) {
			return at
		}
	}

	return at
}

// hosts are the names, besides the Host header, that a trusted proxy reports for its caller: X-Forwarded-Host, alone
// and with X-Forwarded-Port. If the proxy reports no host, the port completes the request's own. Otherwise a proxy that
// forwards a name without its port would hide what was signed.
func (p proxies) hosts(r *http.Request) []string {
	if !p.trustsPeer(r) {
		return nil
	}

	var all []string
	host, told := told(r.Header, "X-Forwarded-Host")
	if told {
		all = append(all, host)
	} else {
		host = r.Host
	}

	if port := forwardedPort(r.Header); port != "" && !hasPort(host) {
		all = append(all, host+":"+port)
	}

	return all
}

// seen is the request with the host under which the caller knows the platform: the host that pages name, and that
// browsers report as a page's origin. The default ports are left out, as browsers do.
func (p proxies) seen(r *http.Request) *http.Request {
	hosts := p.hosts(r)
	if len(hosts) == 0 {
		return r
	}
	host := hosts[len(hosts)-1]
	if port := forwardedPort(r.Header); port == "80" || port == "443" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	to := r.WithContext(r.Context())
	to.Host = host
	return to
}

// told is the value of a proxy's header. A header with several values is not believed.
func told(h http.Header, name string) (string, bool) {
	values := h.Values(name)
	if len(values) != 1 || values[0] == "" || strings.Contains(values[0], ",") {
		return "", false
	}
	return values[0], true
}

// forwardedPort is the port on which a proxy was reached; empty if it does not tell.
func forwardedPort(h http.Header) string {
	port, _ := told(h, "X-Forwarded-Port")
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return ""
	}
	return port
}

// hasPort reports whether a host has a port behind its name or its address in brackets.
func hasPort(host string) bool {
	return strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']')
}

package server

import (
	"fmt"
	"net/http"
	"net/netip"
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

// peer returns the caller's address, and whether the connection is encrypted all the way: a trusted
// proxy is believed in both.
func (p proxies) peer(r *http.Request) (source netip.Addr, secure bool) {
	return p.source(r), r.TLS != nil || p.trustsPeer(r) && r.Header.Get("X-Forwarded-Proto") == "https"
}

// source is the caller's address: the peer's, or behind trusted proxies the
// last address of X-Forwarded-For that is not one of them. What a caller put
// before that is not believed.
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

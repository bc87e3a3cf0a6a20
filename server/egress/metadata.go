package egress

import "net/netip"

// metadata are the addresses at which clouds give their machines secrets. Some are public, so that no rule about
// private networks covers them, and none is ever a receiver: they are refused even if the operator allows the network
// around them.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),      // link-local: AWS, Google, Azure, DigitalOcean, Tencent and most others
	netip.MustParsePrefix("168.63.129.16/32"),    // Azure's wire server, a public address
	netip.MustParsePrefix("100.100.100.200/32"),  // Alibaba
	netip.MustParsePrefix("100.96.0.96/32"),      // Volcano Engine
	netip.MustParsePrefix("192.0.0.192/32"),      // Oracle
	netip.MustParsePrefix("fd00:ec2::/32"),       // AWS
	netip.MustParsePrefix("fd20:ce::254/128"),    // Google
	netip.MustParsePrefix("fd00:42::42/128"),     // Scaleway
	netip.MustParsePrefix("fe80::a9fe:a9fe/128"), // OpenStack
}

// isMetadata reports whether an address, or the IPv4 address that it embeds, is one of metadata.
func isMetadata(a netip.Addr) bool {
	for _, a := range []netip.Addr{a.WithZone("").Unmap(), within(a)} {
		for _, p := range metadata {
			if p.Contains(a) {
				return true
			}
		}
	}
	return false
}

// translated are the networks whose addresses embed an IPv4 address, with the bit at which it begins.
var translated = []struct {
	of netip.Prefix
	at int
}{
	{netip.MustParsePrefix("::/96"), 96},             // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 96},   // SIIT
	{netip.MustParsePrefix("64:ff9b::/96"), 96},      // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 96},    // NAT64 of a site
	{netip.MustParsePrefix("2002::/16"), 16},         // 6to4
	{netip.MustParsePrefix("::5efe:0:0/96"), 96},     // ISATAP
	{netip.MustParsePrefix("fe80::5efe:0:0/96"), 96}, // ISATAP on a link
	{netip.MustParsePrefix("fe80::200:5efe:0:0/96"), 96},
}

// within is the IPv4 address that an IPv6 one embeds; the zero value if there is none.
func within(a netip.Addr) netip.Addr {
	if !a.Is6() || a.Is4In6() {
		return netip.Addr{}
	}
	bytes := a.As16()
	for _, t := range translated {
		if t.of.Contains(a.WithZone("")) {
			return netip.AddrFrom4([4]byte(bytes[t.at/8:]))
		}
	}
	return netip.Addr{}
}

package webhook

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/quoin-cms/quoin/core/problem"
)

// maxURL is the longest address of an endpoint, in bytes.
const maxURL = 2048

// guard keeps calls away from addresses that only this machine or its network
// can reach: an endpoint is chosen by somebody who may not be able to.
type guard struct {
	allowed []netip.Prefix
	names   bool // names are not looked at before they are looked up
}

// closed are the networks that are not the public internet (IANA's registries
// of special-purpose addresses), and those that carry an IPv4 address inside
// IPv6 and so lead anywhere.
var closed = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32",
	"2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

var errClosed = errors.New("the address is not public; open it with webhook.allow_networks if it is meant")

// check tells whether an address may be called. An IPv4 address inside an IPv6
// one is taken for what it is.
func (g guard) check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	holds := func(p netip.Prefix) bool { return p.Contains(addr) }
	if slices.ContainsFunc(g.allowed, holds) || !slices.ContainsFunc(closed, holds) {
		return nil
	}
	return fmt.Errorf("%s: %w", addr, errClosed)
}

// control is the dialer's last word: it sees the address that is about to be
// connected to, whatever a name meant when it was looked at before.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address %q cannot be checked: %w", address, err)
	}
	return g.check(to.Addr())
}

// parseURL checks the address of an endpoint as far as it can be without
// looking up its name. own are addresses (host:port) of this server.
func (g guard) parseURL(s string, own []string) (*url.URL, error) {
	bad := func(format string, args ...any) (*url.URL, error) {
		return nil, problem.Field(problem.Invalid, "endpointUrl", format, args...)
	}
	if len(s) > maxURL {
		return bad("must have at most %d bytes", maxURL)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return bad("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("must begin with http:// or https://")
	case u.Hostname() == "":
		return bad("has no host")
	case u.User != nil:
		return bad("must not hold a user name or password; the receiver checks the signature")
	case u.Fragment != "":
		return bad("must not hold a fragment")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return bad("has no port between 1 and 65535")
	}
	if slices.Contains(own, net.JoinHostPort(u.Hostname(), port)) {
		return bad("is this server itself")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := g.check(addr); err != nil {
			return bad("%s", err)
		}
	} else if name := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."); !g.names && (name == "localhost" || strings.HasSuffix(name, ".localhost")) {
		if err := g.check(netip.AddrFrom4([4]byte{127, 0, 0, 1})); err != nil {
			return bad("%s", err)
		}
	}
	return u, nil
}

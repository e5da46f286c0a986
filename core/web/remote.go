package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// remoteIP is the address the request came from, without its port. Behind
// proxies that are trusted it is the last one in X-Forwarded-For that is not a
// trusted proxy's: everything further left may be invented by the client.
func (r *Router) remoteIP(req *http.Request) string {
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil {
		host = req.RemoteAddr
	}
	if len(r.opt.TrustedProxies) == 0 || !r.trusted(host) {
		return host
	}
	hops := strings.Split(strings.Join(req.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if host = addr.Unmap().WithZone("").String(); !r.trusted(host) {
			break
		}
	}
	return host
}

func (r *Router) trusted(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && slices.ContainsFunc(r.opt.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr.Unmap().WithZone("")) })
}

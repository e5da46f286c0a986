package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ProxyHeaders is the dialect in which trusted proxies tell whom they stand for.
// Only one is read: a proxy that writes one lets the other pass as the client
// made it up.
type ProxyHeaders string

// The dialects: X-Forwarded-For, -Proto and -Host, or Forwarded (RFC 7239).
const (
	XForwarded ProxyHeaders = "x-forwarded"
	Forwarded  ProxyHeaders = "forwarded"
)

// maxHops bounds how many addresses of a header are looked at.
const maxHops = 100

// remoteIP is the address the request came from, without its port. Behind
// proxies that are trusted it is the last one they tell that is not a trusted
// proxy's: everything before it may be invented by the client.
func (r *Router) remoteIP(req *http.Request) (address string, proxied bool) {
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil {
		host = req.RemoteAddr
	}
	if len(r.opt.TrustedProxies) == 0 || !r.trusted(host) {
		return host, false
	}
	var hops []string
	if r.opt.ProxyHeaders == Forwarded {
		hops = forwardedFor(req.Header.Values("Forwarded"))
	} else {
		hops = strings.Split(strings.Join(req.Header.Values("X-Forwarded-For"), ","), ",")
	}
	for _, hop := range slices.Backward(hops[max(0, len(hops)-maxHops):]) {
		addr, ok := hopAddress(hop)
		if !ok {
			break
		}
		if host = addr.String(); !r.trusted(host) {
			break
		}
	}
	return host, true
}

// hopAddress reads an address as proxies write it: with or without a port, and
// of IPv6 with or without brackets.
func hopAddress(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return addr.Unmap().WithZone(""), true
	}
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	return netip.Addr{}, false
}

func (r *Router) trusted(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && slices.ContainsFunc(r.opt.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr.Unmap().WithZone("")) })
}

// forwardedFor gives the values of "for" of the field Forwarded (RFC 7239, 4),
// in their order; empty for an element without one.
func forwardedFor(fields []string) []string {
	var all []string
	for _, element := range splitQuoted(strings.Join(fields, ","), ',') {
		all = append(all, parameter(element, "for"))
	}
	return all
}

// parameter gives the value of a parameter of an element of Forwarded.
func parameter(element, name string) string {
	for _, pair := range splitQuoted(element, ';') {
		key, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if ok && strings.EqualFold(key, name) {
			return unquote(value)
		}
	}
	return ""
}

// splitQuoted splits at a separator that is not in a quoted string (RFC 9110,
// 5.6.4).
func splitQuoted(text string, separator byte) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

func unquote(value string) string {
	inner, ok := strings.CutPrefix(value, `"`)
	if !ok {
		return value
	}
	inner, ok = strings.CutSuffix(inner, `"`)
	if !ok {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		b.WriteByte(inner[i])
	}
	return b.String()
}

// Reached is how the client reached the server: the scheme, and the host with
// its port. Of proxies only those that are trusted are believed; the last of
// them says it.
func Reached(r *http.Request) (scheme, host string) {
	scheme, host = "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	info := infoOf(r.Context())
	if info == nil || !info.proxied {
		return scheme, host
	}
	proto, name := last(r.Header.Values("X-Forwarded-Proto")), last(r.Header.Values("X-Forwarded-Host"))
	if info.dialect == Forwarded {
		elements := splitQuoted(strings.Join(r.Header.Values("Forwarded"), ","), ',')
		proto, name = parameter(elements[len(elements)-1], "proto"), parameter(elements[len(elements)-1], "host")
	}
	if proto = strings.ToLower(proto); proto == "http" || proto == "https" {
		scheme = proto
	}
	if harmlessHost(name) {
		host = name
	}
	return scheme, host
}

// last is the last element of a list in a header.
func last(values []string) string {
	all := strings.Join(values, ",")
	return strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
}

// harmlessHost reports whether a text can be a host with a port.
func harmlessHost(name string) bool {
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune(".-_:[]", c)
	})
}

// RemoteIP is the address the request of ctx came from, without its port;
// empty outside a request.
func RemoteIP(ctx context.Context) string {
	if info := infoOf(ctx); info != nil {
		return info.remote
	}
	return ""
}

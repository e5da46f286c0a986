package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// CORS says which websites may call the API from browsers.
type CORS struct {
	Origins     []string `yaml:"allowed_origins" doc:"Websites whose scripts may call the API, such as https://www.example.org, or https://*.example.org for all below; * for every one. Empty for none."`
	Credentials bool     `yaml:"allow_credentials" doc:"Lets browsers send what they know by themselves, such as certificates of clients. Tokens in headers do not need it. Not with *."`
}

// anyOrigin stands for every website.
const anyOrigin = "*"

// Validate tells origins that are none.
func (c CORS) Validate() error {
	var errs []error
	for i, o := range c.Origins {
		if o != anyOrigin && !isOrigin(strings.Replace(o, "://*.", "://", 1)) {
			errs = append(errs, fmt.Errorf("allowed_origins[%d]: %q is not an origin such as https://www.example.org or https://*.example.org", i, o))
		}
	}
	if c.Credentials && slices.Contains(c.Origins, anyOrigin) {
		errs = append(errs, errors.New("allow_credentials: cannot be true with *; name the websites"))
	}
	return errors.Join(errs...)
}

// isOrigin reports whether the text is an origin as browsers write it.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Hostname() != "" && !strings.Contains(text, "*") && text == strings.ToLower(u.Scheme+"://"+u.Host)
}

// allows reports whether scripts of an origin may read answers.
func (c *CORS) allows(origin string) bool {
	return slices.ContainsFunc(c.Origins, func(pattern string) bool {
		if pattern == anyOrigin || pattern == origin {
			return true
		}
		scheme, domain, below := strings.Cut(pattern, "*")
		sub, ok := strings.CutPrefix(origin, scheme)
		return below && ok && len(sub) > len(domain) && strings.HasSuffix(sub, domain) && isOrigin(origin)
	})
}

// What scripts may send and read besides the headers that every script may
// (Fetch standard, 3.2).
const (
	corsAllowed = "Accept, Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, Last-Event-ID, Range, Traceparent, Tracestate, " +
		"Upload-Offset, X-Auth-Token, X-Job-Claim, X-Job-Lease, X-Job-Offset, X-Request-Id"
	corsExposed = "Accept-Ranges, Content-Disposition, Content-Range, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, " +
		"Upload-Offset, WWW-Authenticate, X-Job-Claim, X-Job-Offset, X-Request-Id"
	corsMaxAge = "7200" // seconds, as long as browsers take
)

// cors lets scripts of allowed websites read the answer. It has answered when
// done is true: to the question of a browser before the request itself, which
// comes without a token. A path with an OPTIONS of its own, such as that of
// agents, has rules of its own.
func (r *Router) cors(rec *recorder, req *http.Request) (done bool) {
	c := &r.opt.CORS
	if len(c.Origins) == 0 {
		return false
	}
	h := rec.Header()
	h.Add("Vary", "Origin")
	origin := req.Header.Get("Origin")
	if origin == "" {
		return false
	}
	allowed := r.allowed(tidy(req.URL))
	if slices.Contains(allowed, http.MethodOptions) {
		return false
	}
	asks := req.Method == http.MethodOptions && req.Header.Get("Access-Control-Request-Method") != ""
	if c.allows(origin) {
		switch {
		case c.Credentials:
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Allow-Credentials", "true")
		case slices.Contains(c.Origins, anyOrigin):
			h.Set("Access-Control-Allow-Origin", anyOrigin)
		default:
			h.Set("Access-Control-Allow-Origin", origin)
		}
		if asks {
			h.Set("Access-Control-Allow-Methods", strings.Join(allowed, ", "))
			h.Set("Access-Control-Allow-Headers", corsAllowed)
			h.Set("Access-Control-Max-Age", corsMaxAge)
		} else {
			h.Set("Access-Control-Expose-Headers", corsExposed)
		}
	}
	if asks {
		rec.WriteHeader(http.StatusNoContent)
	}
	return asks
}

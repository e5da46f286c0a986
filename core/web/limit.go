package web

import (
	"container/list"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// Rate is how many requests somebody may make.
type Rate struct {
	PerSecond float64 `yaml:"per_second" doc:"Requests per second in the long run; 0 means no limit."`
	Burst     int     `yaml:"burst" doc:"Requests at once after a pause; 0 means ten seconds' worth."`
}

// Validate tells a rate that is none.
func (r Rate) Validate() error {
	const most = 1_000_000
	var errs []error
	if !(r.PerSecond >= 0 && r.PerSecond <= most) { // NaN is neither
		errs = append(errs, errors.New("per_second: must be between 0 and 1000000"))
	}
	if r.Burst < 0 || r.Burst > most {
		errs = append(errs, errors.New("burst: must be between 0 and 1000000"))
	}
	return errors.Join(errs...)
}

// Limits are how many requests are served, counted by this process alone.
type Limits struct {
	Tokens    Rate `yaml:"tokens" doc:"For each token."`
	Addresses Rate `yaml:"addresses" doc:"For each address, of requests without a valid token; the addresses of a network /64 of IPv6 count as one."`
}

// maxBuckets bounds how many tokens, and how many addresses, are counted at the
// same time: about 15 MB. Whoever was silent for longest is forgotten, and
// begins anew.
const maxBuckets = 1 << 16

// quota counts the requests of many, each by its own bucket of tokens.
type quota[K comparable] struct {
	name   string // of the policy
	rate   rate.Limit
	burst  int
	most   int
	policy []string // the value of RateLimit-Policy
	now    func() time.Time

	mu     sync.Mutex
	by     map[K]*list.Element
	recent *list.List // of *bucket, the latest first
}

type bucket[K comparable] struct {
	key   K
	limit *rate.Limiter
}

// newQuota makes a quota, nil for no limit.
func newQuota[K comparable](name string, r Rate, most int) *quota[K] {
	if r.PerSecond <= 0 {
		return nil
	}
	burst := r.Burst
	if burst == 0 {
		burst = int(max(1, math.Ceil(r.PerSecond*10)))
	}
	window := max(1, int(math.Ceil(float64(burst)/r.PerSecond)))
	return &quota[K]{
		name: name, rate: rate.Limit(r.PerSecond), burst: burst, most: most, now: time.Now,
		policy: []string{`"` + name + `";q=` + strconv.Itoa(burst) + `;w=` + strconv.Itoa(window)},
		by:     map[K]*list.Element{}, recent: list.New(),
	}
}

// take counts a request. left is how many may follow at once, whole when there
// will be as many as ever; wait is 0 when the request may go on.
func (q *quota[K]) take(key K) (left int, whole, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	limit := q.bucket(key)
	r := limit.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	tokens := max(0, limit.TokensAt(now))
	whole = time.Duration((float64(q.burst) - tokens) / float64(q.rate) * float64(time.Second))
	return int(tokens), whole, wait
}

func (q *quota[K]) bucket(key K) *rate.Limiter {
	if e := q.by[key]; e != nil {
		q.recent.MoveToFront(e)
		return e.Value.(*bucket[K]).limit
	}
	if q.recent.Len() >= q.most {
		oldest := q.recent.Back()
		delete(q.by, q.recent.Remove(oldest).(*bucket[K]).key)
	}
	b := &bucket[K]{key, rate.NewLimiter(q.rate, q.burst)}
	q.by[key] = q.recent.PushFront(b)
	return b.limit
}

// charge counts a request and says what is left in the fields of
// draft-ietf-httpapi-ratelimit-headers-11. The error is TooManyRequests.
func (q *quota[K]) charge(h http.Header, key K) error {
	left, whole, wait := q.take(key)
	h["Ratelimit-Policy"] = q.policy
	h["Ratelimit"] = []string{`"` + q.name + `";r=` + strconv.Itoa(left) + `;t=` + strconv.Itoa(seconds(whole))}
	if wait <= 0 {
		return nil
	}
	h.Set("Retry-After", strconv.Itoa(max(1, seconds(wait))))
	p := problem.New(problem.TooManyRequests, "too many requests: %d may follow each other at once, and %v per second in the long run", q.burst, float64(q.rate))
	p.RetryAfter, p.Code = wait, "rate_limited"
	return p
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// charge counts a request for its token, or for its address when it has none
// that is valid. What the server asks itself is not counted.
func (r *Router) charge(rec *recorder, id *auth.Identity) error {
	if auth.From(rec.ctx) != nil {
		return nil
	}
	switch {
	case id != nil && id.TokenID != 0:
		if r.tokens != nil {
			return r.tokens.charge(rec.Header(), id.TokenID)
		}
	case id == nil && r.addresses != nil:
		if addr, err := netip.ParseAddr(rec.info.remote); err == nil {
			return r.addresses.charge(rec.Header(), neighbourhood(addr))
		}
	}
	return nil
}

// neighbourhood is what one customer of a provider has: an address of IPv4, or
// a network of IPv6.
func neighbourhood(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits) // the address is valid and has as many bits
	return p
}

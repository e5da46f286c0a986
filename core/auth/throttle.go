package auth

import (
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
)

// Throttle slows down guessing: each key (an account, an address) may fail
// Burst times at once and then once every Every. Only failures count, so
// whoever knows the password is never slowed down by himself. It lives in
// memory and is safe for concurrent use.
type Throttle struct {
	opt ThrottleOptions

	mu      sync.Mutex
	buckets map[string]bucket
}

// ThrottleOptions shape a Throttle.
type ThrottleOptions struct {
	Burst int           // failures allowed at once; 0 switches the throttle off
	Every time.Duration // how long until one more is allowed
	// Keys bounds how many keys are remembered; beyond, the ones that failed
	// least are forgotten. 0 means 100,000.
	Keys int
	Now  func() time.Time // nil means time.Now
}

// bucket holds how many failures are left, as of a time.
type bucket struct {
	left float64
	at   time.Time
}

// NewThrottle makes a throttle that nobody has failed at yet.
func NewThrottle(o ThrottleOptions) *Throttle {
	if o.Keys <= 0 {
		o.Keys = 100_000
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Throttle{opt: o, buckets: map[string]bucket{}}
}

func (t *Throttle) off() bool { return t.opt.Burst <= 0 || t.opt.Every <= 0 }

// left is what a bucket holds now.
func (t *Throttle) left(b bucket, now time.Time) float64 {
	return min(float64(t.opt.Burst), b.left+max(0, float64(now.Sub(b.at)))/float64(t.opt.Every))
}

// Allow answers TooManyRequests, with how long to wait, when the key has no
// failure left.
func (t *Throttle) Allow(key string) error {
	if t.off() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b, known := t.buckets[key]
	if !known {
		return nil
	}
	left := t.left(b, t.opt.Now())
	if left >= 1 {
		return nil
	}
	p := problem.New(problem.TooManyRequests, "too many failed attempts; try again later")
	p.RetryAfter = time.Duration((1 - left) * float64(t.opt.Every))
	return p
}

// Failed takes one failure from the key.
func (t *Throttle) Failed(key string) {
	if t.off() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.opt.Now()
	b, known := t.buckets[key]
	if !known {
		t.makeRoom(now)
		b = bucket{left: float64(t.opt.Burst), at: now}
	}
	t.buckets[key] = bucket{left: max(0, t.left(b, now)-1), at: now}
}

// Succeeded forgets the failures of the key.
func (t *Throttle) Succeeded(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.buckets, key)
}

// makeRoom forgets one of a few keys that the map happens to give, the one
// that is nearest to being allowed everything again. Looking at all of them
// would let an attacker with many keys slow the server down.
func (t *Throttle) makeRoom(now time.Time) {
	if len(t.buckets) < t.opt.Keys {
		return
	}
	const sample = 16
	seen, most, victim := 0, -1.0, ""
	for key, b := range t.buckets {
		if left := t.left(b, now); left > most {
			most, victim = left, key
		}
		if seen++; seen == sample {
			break
		}
	}
	delete(t.buckets, victim)
}

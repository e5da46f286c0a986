package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/quoin-cms/quoin/core/problem"
)

// The bounds of a password, in characters and in bytes. The upper one only
// keeps somebody from making the server hash a novel.
const (
	MinPassword = 8
	MaxPassword = 1024
)

const (
	saltLen    = 16
	keyLen     = 32
	maxWaiting = 64 // requests that may wait for a slot before more are turned away
	// releaseAfter is when the memory of hashes is given back to the system. The
	// runtime would keep it for minutes: a few sign-ins tripled the size of an
	// idle server.
	releaseAfter = 5 * time.Second
)

// Passwords hashes and verifies passwords with argon2id (RFC 9106). Each hash
// needs Params.Memory for some milliseconds, so only a few run at a time and
// the others wait. It is safe for concurrent use.
type Passwords struct {
	params  Params
	slots   chan struct{}
	waiting atomic.Int64
	hashed  atomic.Uint64
	release atomic.Bool // a release of memory is due
}

// NewPasswords makes hashes with p, of which at most concurrent run at a time
// (at least one).
func NewPasswords(p Params, concurrent int) *Passwords {
	return &Passwords{params: p, slots: make(chan struct{}, max(1, concurrent))}
}

// Hashed counts the hashes computed so far, for tests.
func (p *Passwords) Hashed() uint64 { return p.hashed.Load() }

// Hash gives the hash of a password in the PHC string format, with a new salt
// and its parameters in it. It answers Unavailable when too many wait already.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	h := phc{Params: p.params, salt: make([]byte, saltLen)}
	_, _ = rand.Read(h.salt) // never fails (crypto/rand)
	err := p.slot(ctx, func() error {
		h.key = p.compute(h, password, keyLen)
		return nil
	})
	return h.String(), err
}

// Verify tells whether the password belongs to the hash, and whether the hash
// should be made anew because its parameters are not those of today. An empty
// hash stands for an account that does not exist or has no password: Verify
// does the same work for it and answers false, so that the time does not tell.
//
// before, if not nil, runs once it is this call's turn, just before the work:
// the place to look at a Throttle. Its error ends the attempt.
func (p *Passwords) Verify(ctx context.Context, hash, password string, before func() error) (ok, stale bool, err error) {
	h := phc{Params: p.params, salt: make([]byte, saltLen), key: make([]byte, keyLen)}
	if hash != "" {
		if h, err = parsePHC(hash); err != nil {
			return false, false, err
		}
	}
	if len(password) > MaxPassword {
		password = "" // belongs to nobody, and costs as much as any other
	}
	err = p.slot(ctx, func() error {
		if before != nil {
			if err := before(); err != nil {
				return err
			}
		}
		key := p.compute(h, password, uint32(len(h.key)))
		ok = subtle.ConstantTimeCompare(key, h.key) == 1 && hash != "" && password != ""
		return nil
	})
	return ok, ok && (h.Params != p.params || len(h.key) != keyLen), err
}

func (p *Passwords) compute(h phc, password string, n uint32) []byte {
	p.hashed.Add(1)
	key := argon2.IDKey([]byte(password), h.salt, h.Time, h.Memory, h.Threads, n)
	if h.Memory >= 1<<10 && p.release.CompareAndSwap(false, true) {
		time.AfterFunc(releaseAfter, func() {
			p.release.Store(false)
			debug.FreeOSMemory()
		})
	}
	return key
}

// slot runs fn when it is its turn.
func (p *Passwords) slot(ctx context.Context, fn func() error) error {
	if p.waiting.Add(1) > maxWaiting {
		p.waiting.Add(-1)
		busy := problem.New(problem.Unavailable, "too many people are signing in; try again in a moment")
		busy.RetryAfter = time.Second
		return busy
	}
	select {
	case p.slots <- struct{}{}:
		p.waiting.Add(-1)
	case <-ctx.Done():
		p.waiting.Add(-1)
		return ctx.Err()
	}
	defer func() { <-p.slots }()
	return fn()
}

// CheckPassword tells what is wrong with a password that somebody wants to
// set: problem.Invalid with the path "password".
func CheckPassword(password string) error {
	switch {
	case !utf8.ValidString(password) || strings.ContainsFunc(password, unicode.IsControl):
		return problem.Field(problem.Invalid, "password", "must not hold control characters")
	case utf8.RuneCountInString(password) < MinPassword:
		return problem.Field(problem.Invalid, "password", "must have at least %d characters", MinPassword)
	case len(password) > MaxPassword:
		return problem.Field(problem.Invalid, "password", "must have at most %d bytes", MaxPassword)
	}
	return nil
}

// NewPassword makes a random password of 20 letters and digits (119 bits).
func NewPassword() string { return randomText(20) }

package form

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

// maxTries is how often a code may be guessed.
const maxTries = 5

// maxValue is the longest value that a code can be for, in bytes.
const maxValue = 1024

var (
	oneCode = db.SQL(`SELECT code, hashed, tries FROM form_verification WHERE value = ? AND expires_at > ?`)
	putCode = db.SQL(`INSERT INTO form_verification (value, code, hashed, tries, expires_at, created_at) VALUES (?, ?, ?, 0, ?, ?)
		ON CONFLICT (value) DO UPDATE SET code = excluded.code, hashed = excluded.hashed, tries = 0, expires_at = excluded.expires_at, created_at = excluded.created_at`)
	// lockCode makes requests for one value wait for each other, also the first
	// ones: it leaves a row that has expired where there is none.
	lockCode = db.SQL(`INSERT INTO form_verification (value, code, hashed, tries, expires_at, created_at) VALUES (?, '', ?, 0, 0, 0)
		ON CONFLICT (value) DO UPDATE SET value = excluded.value`)
	extendCode = db.SQL(`UPDATE form_verification SET expires_at = ? WHERE value = ?`)
	// useTry takes one of the tries; of several that come together, each takes
	// one of its own.
	useTry       = db.SQL(`UPDATE form_verification SET tries = tries + 1 WHERE value = ? AND expires_at > ? AND tries < ? RETURNING code, hashed, tries`)
	dropCode     = db.SQL(`DELETE FROM form_verification WHERE value = ?`)
	expiredCodes = db.SQL(`DELETE FROM form_verification WHERE expires_at <= ?`)
)

// remote is the address that a request comes from; empty on the command line.
func remote(ctx context.Context) string { return web.RemoteIP(ctx) }

// hash is what is stored of a value or a code that need not be shown again.
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// newCode gives six digits, 000001 to 999999, each as likely as the other.
func newCode() string {
	n, err := rand.Int(rand.Reader, big.NewInt(999_999))
	if err != nil {
		panic(err) // the system has no randomness: nothing may go on
	}
	return fmt.Sprintf("%06d", n.Int64()+1)
}

func checkValue(value string) error {
	if value == "" || len(value) > maxValue {
		return problem.Field(problem.Invalid, "value", "is missing, or longer than %d bytes", maxValue)
	}
	return nil
}

// Verification gives the code of a value: the one that is valid, for another
// three hours, or a new one. TooManyRequests when codes are asked for too often
// for one value or from one address.
func (s *Service) Verification(ctx context.Context, value string) (code string, err error) {
	if _, err := auth.Require(ctx); err != nil {
		return "", err
	}
	if err := checkValue(value); err != nil {
		return "", err
	}
	key, address := hash(value), remote(ctx)
	for _, t := range []struct {
		*auth.Throttle
		key string
	}{{s.values, key}, {s.addresses, address}} {
		if err := t.Allow(t.key); err != nil {
			return "", err
		}
		t.Failed(t.key) // every request counts
	}
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		code = "" // a transaction may run again
		now := s.now()
		until := db.Micros(now.Add(s.cfg.CodeLifetime))
		if _, err := s.store.db.Exec(ctx, lockCode, key, false); err != nil {
			return err
		}
		var hashed bool
		var tries int
		_, err := db.Found(&code, s.store.db.Row(ctx, oneCode, key, db.Micros(now)).Scan(&code, &hashed, &tries))
		if err != nil {
			return err
		}
		if code != "" && !hashed && tries < maxTries && s.cfg.DiscloseCodes {
			_, err := s.store.db.Exec(ctx, extendCode, until, key)
			return err
		}
		code = newCode()
		stored := code
		if !s.cfg.DiscloseCodes {
			stored = hash(key, code)
		}
		_, err = s.store.db.Exec(ctx, putCode, key, stored, !s.cfg.DiscloseCodes, until, db.Micros(now))
		return err
	})
	return code, err
}

// Code gives the valid code of a value again, and extends it. Forbidden when
// codes are not disclosed (form.disclose_codes).
func (s *Service) Code(ctx context.Context, value string) (code string, err error) {
	if _, err := auth.Require(ctx); err != nil {
		return "", err
	}
	if err := checkValue(value); err != nil {
		return "", err
	}
	if !s.cfg.DiscloseCodes {
		return "", problem.New(problem.Forbidden, "codes are not disclosed here: check one with POST /api/forms/verifications/check")
	}
	key := hash(value)
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		code = ""
		var hashed bool
		var tries int
		_, err := db.Found(&code, s.store.db.Row(ctx, oneCode, key, db.Micros(s.now())).Scan(&code, &hashed, &tries))
		if err != nil {
			return err
		}
		if code == "" || hashed || tries >= maxTries {
			return noCode()
		}
		_, err = s.store.db.Exec(ctx, extendCode, db.Micros(s.now().Add(s.cfg.CodeLifetime)), key)
		return err
	})
	if err != nil {
		return "", err
	}
	return code, nil
}

func noCode() error { return problem.New(problem.NotFound, "Not found!").WithCode("code_unknown") }

// Check tells whether a code is the one of a value, five times at most; a code
// that was right is used up. Invalid for a wrong one, NotFound when there is no
// valid one, TooManyRequests after the last try.
func (s *Service) Check(ctx context.Context, value, code string) error {
	if _, err := auth.Require(ctx); err != nil {
		return err
	}
	if err := checkValue(value); err != nil {
		return err
	}
	key, now := hash(value), s.now()
	right, left := false, 0
	err := s.store.db.InTx(ctx, func(ctx context.Context) error {
		var stored string
		var hashed bool
		var tries int
		_, err := db.Found(&stored, s.store.db.Row(ctx, useTry, key, db.Micros(now), maxTries).Scan(&stored, &hashed, &tries))
		if err != nil {
			return err
		}
		if stored == "" {
			var known string
			if _, err := db.Found(&known, s.store.db.Row(ctx, oneCode, key, db.Micros(now)).Scan(&known, &hashed, &tries)); err != nil {
				return err
			}
			if known == "" {
				return noCode()
			}
			return problem.New(problem.TooManyRequests, "the code was guessed %d times: ask for another one", maxTries).WithCode("code_locked")
		}
		given := code
		if hashed {
			given = hash(key, code)
		}
		right, left = subtle.ConstantTimeCompare([]byte(given), []byte(stored)) == 1, maxTries-tries
		if !right {
			return nil // the try counts
		}
		_, err = s.store.db.Exec(ctx, dropCode, key)
		return err
	})
	if err != nil || right {
		return err
	}
	return problem.Field(problem.Invalid, "code", "is wrong; %d tries are left", left).WithCode("code_wrong")
}

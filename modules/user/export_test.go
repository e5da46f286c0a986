package user

import (
	"context"

	"github.com/quoin-cms/quoin/core/auth"
)

// TellRefusals does what the background does every minute.
func (s *Service) TellRefusals(ctx context.Context) error { return s.tellRefusals(ctx) }

// Authenticator gives what checks tokens; it knows of every change at once.
func (s *Service) Authenticator() *Authenticator { return s.authn }

// Passwords gives what hashes passwords.
func (s *Service) Passwords() *auth.Passwords { return s.passwords }

// EnsureAdmin creates the first user as a start does, and tells through say how
// to sign in.
func (s *Service) EnsureAdmin(ctx context.Context, say func(line string)) error {
	return s.ensureAdmin(ctx, func(username, generated string) { say(howToSignIn(username, generated)) })
}

// Loads counts the queries made so far.
func (a *Authenticator) Loads() uint64 { return a.loads.Load() }

// Cached is how many accepted and how many refused tokens are in memory.
func (a *Authenticator) Cached() (known, denied int) { return a.known.len(), a.denied.len() }

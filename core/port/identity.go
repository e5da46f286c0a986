package port

import (
	"context"

	"github.com/quoin-cms/quoin/core/auth"
)

// Identities finds who an account is now, for work that goes on after the
// request that asked for it: jobs, webhooks, sessions of agents.
type Identities interface {
	// Identity gives the identity of the account with the name, with the roles
	// it has at this moment: NotFound when there is none, Forbidden when it is
	// disabled or expired.
	Identity(ctx context.Context, username string) (*auth.Identity, error)
}

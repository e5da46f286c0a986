package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Users is about users and their tokens (spec 4.1).
type Users struct{ c *Client }

// SignIn gives a token for a user name or e-mail address and a password; see
// Client.WithToken. 401 with one and the same answer whatever is wrong, 429
// after too many failures. POST /auth-token.
func (u *Users) SignIn(ctx context.Context, username, password string) (token string, err error) {
	var a struct {
		Token string `json:"authToken"`
	}
	_, err = u.c.do(ctx, post("/auth-token").json(map[string]string{"username": username, "password": password}), &a)
	return a.Token, err
}

// Test is nil when the token is valid and its user may use the API. GET
// /api/test.
func (u *Users) Test(ctx context.Context) error {
	_, err := u.c.do(ctx, get("/api/test"), nil)
	return err
}

// Profile is a user (spec 2.1).
type Profile struct {
	ID              int64           `json:"id"`
	Username        string          `json:"username"`
	DisplayName     string          `json:"displayName"`
	Email           string          `json:"email"`
	Roles           []string        `json:"roles"`
	Circles         []string        `json:"circles"`
	LastLogin       time.Time       `json:"lastLogin"`      // zero: never
	ExpirationDate  time.Time       `json:"expirationDate"` // zero: never
	Language        string          `json:"language"`
	Locale          string          `json:"locale"`
	LocalePreferred string          `json:"localePreferred"` // may be empty
	UserOptions     json.RawMessage `json:"userOptions"`
}

// Profile gives the user of the token. 403 when the account is disabled. GET
// /api/user-profile (spec 4.1).
func (u *Users) Profile(ctx context.Context) (*Profile, error) {
	var p Profile
	if _, err := u.c.do(ctx, get("/api/user-profile"), &p); err != nil {
		return nil, err
	}
	return &p, nil
}

// Profiles lists the enabled users. Needs ROLE_USER_READ, ROLE_USER_MANAGEMENT
// or ROLE_ADMIN. GET /api/user-profiles (spec 4.1).
func (u *Users) Profiles(ctx context.Context) ([]Profile, error) {
	var all []Profile
	_, err := u.c.do(ctx, get("/api/user-profiles"), &all)
	return all, err
}

// ActAs gives a token that acts as another user, who is looked up by e-mail
// address and then by user name. Needs ROLE_USER_MANAGEMENT. POST
// /api/user/proxy-authenticate (spec 4.1).
func (u *Users) ActAs(ctx context.Context, username, email string) (token string, err error) {
	var a struct {
		Token string `json:"token"`
	}
	_, err = u.c.do(ctx, post("/api/user/proxy-authenticate").json(map[string]string{"username": username, "email": email}).judged(), &a)
	return a.Token, err
}

// Token is a token as a list shows it; Secret only that of CreateToken.
type Token struct {
	ID        string    `json:"id"`
	Username  string    `json:"username"`
	Name      string    `json:"name"`
	Hint      string    `json:"hint"` // the first 8 characters
	Secret    string    `json:"token"`
	CreatedAt time.Time `json:"created_at"`
	CreatedBy string    `json:"created_by"`
	ExpiresAt time.Time `json:"expires_at"`   // zero: never
	LastUsed  time.Time `json:"last_used_at"` // zero: never; up to a minute late
	Actor     string    `json:"actor"`        // who acts as Username with it; empty: nobody else
	Current   bool      `json:"current"`      // the one of this call
}

// Tokens lists the tokens of a user; an empty name is the caller's own. GET
// /api/user/tokens.
func (u *Users) Tokens(ctx context.Context, username string) ([]Token, error) {
	var all []Token
	_, err := u.c.do(ctx, get("/api/user/tokens").set("username", username), &all)
	return all, err
}

// CreateToken makes a token of the caller that lives for some time, in whole
// seconds; 0 is what the server is set to. Its Secret is shown this once. POST
// /api/user/tokens.
func (u *Users) CreateToken(ctx context.Context, name string, lifetime time.Duration) (*Token, error) {
	body := map[string]any{"name": name}
	if lifetime > 0 {
		body["expires_in"] = int64(lifetime / time.Second)
	}
	var t Token
	if _, err := u.c.do(ctx, post("/api/user/tokens").json(body), &t); err != nil {
		return nil, err
	}
	return &t, nil
}

// RevokeToken ends a token, at once. DELETE /api/user/tokens/{id}.
func (u *Users) RevokeToken(ctx context.Context, id string) error {
	_, err := u.c.do(ctx, newCall(http.MethodDelete, "/api/user/tokens/{}", id), nil)
	return err
}

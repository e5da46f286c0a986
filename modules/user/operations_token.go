package user

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

func tokenOperations(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(web.Operation{
			ID: "user-tokens", Method: http.MethodGet, Path: "/api/user/tokens", Tag: "User", Summary: "List tokens",
			Doc: "The caller's own tokens; with ?username= those of another user, which needs ROLE_USER_MANAGEMENT (403), 404 when there is no such user. " +
				"The tokens themselves are not stored and cannot be shown. Expired ones are listed for a week.",
			Errors: []int{404},
		}, s.opTokens),
		web.Op(web.Operation{
			ID: "user-token-create", Method: http.MethodPost, Path: "/api/user/tokens", Tag: "User", MaxBody: smallBody, Summary: "Create a named token",
			Doc:    "A token of the caller, shown this once. 403 with a token that acts for another user; one made with a named token that expires ends with that one, at the latest.",
			Errors: []int{400, 413},
		}, s.opCreateToken),
		web.Op(web.Operation{
			ID: "user-token-delete", Method: http.MethodDelete, Path: "/api/user/tokens/{id}", Tag: "User", Summary: "Revoke a token",
			Doc: "It stops working at once. Tokens of other users need ROLE_USER_MANAGEMENT; without it they are 404, as those that do not exist. " +
				"400 when the id is not a number.",
			Errors: []int{400, 404},
		}, s.opRevoke),
	}
}

// tokenView is a token as the API and the command line show it.
type tokenView struct {
	ID         string  `json:"id"`
	Username   string  `json:"username"`
	Name       string  `json:"name"`
	Hint       string  `json:"hint" doc:"the first 8 characters"`
	CreatedAt  *string `json:"created_at"`
	CreatedBy  string  `json:"created_by"`
	ExpiresAt  *string `json:"expires_at" doc:"null when it does not expire"`
	LastUsedAt *string `json:"last_used_at" doc:"up to a minute late"`
	Actor      string  `json:"actor,omitempty" doc:"who acts as username with it"`
	Current    bool    `json:"current" doc:"true for the token of this request"`
}

func viewToken(t *Token, current int64) tokenView {
	return tokenView{
		ID: strconv.FormatInt(t.ID, 10), Username: t.Username, Name: t.Name, Hint: t.Hint, CreatedAt: atom(t.CreatedAt), CreatedBy: t.CreatedBy,
		ExpiresAt: atom(t.ExpiresAt), LastUsedAt: atom(t.LastUsedAt), Actor: t.Actor, Current: t.ID == current && current != 0,
	}
}

type tokensOfUser struct {
	Username string `query:"username" maxLength:"254" doc:"whose; the caller's when empty"`
}

func (s *Service) opTokens(ctx context.Context, in *tokensOfUser) (*web.Reply[[]tokenView], error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	if in.Username == "" {
		in.Username = id.Username
	}
	tokens, err := s.Tokens(ctx, in.Username)
	if err != nil {
		return nil, err
	}
	views := []tokenView{}
	for _, t := range tokens {
		views = append(views, viewToken(t, id.TokenID))
	}
	return web.Answer(views)
}

type newToken struct {
	Body struct {
		Name      string   `json:"name" doc:"what it is for"`
		ExpiresIn *int64   `json:"expires_in,omitempty" minimum:"1" maximum:"315360000" doc:"seconds; the configured lifetime when absent"`
		_         struct{} `additionalProperties:"true"`
	}
}

type createdToken struct {
	Done
	ID        string  `json:"id"`
	Token     string  `json:"token" doc:"shown this once"`
	Name      string  `json:"name"`
	ExpiresAt *string `json:"expires_at"`
}

func (s *Service) opCreateToken(ctx context.Context, in *newToken) (*web.Reply[createdToken], error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	lifetime := DefaultLifetime
	if in.Body.ExpiresIn != nil {
		lifetime = time.Duration(*in.Body.ExpiresIn) * time.Second // bounded by its schema
	}
	secret, t, err := s.CreateToken(ctx, id.Username, in.Body.Name, lifetime)
	if err != nil {
		return nil, err
	}
	return web.Answer(createdToken{ok(), strconv.FormatInt(t.ID, 10), secret, t.Name, atom(t.ExpiresAt)})
}

type oneToken struct {
	ID string `path:"id" doc:"id of the token"`
}

type deletedToken struct {
	Done
	ID string `json:"id"`
}

func (s *Service) opRevoke(ctx context.Context, in *oneToken) (*web.Reply[deletedToken], error) {
	id, err := strconv.ParseInt(in.ID, 10, 64)
	if err != nil || id < 1 {
		return nil, problem.Field(problem.Invalid, "id", "must be the number of a token")
	}
	if _, err := s.Revoke(ctx, id); err != nil {
		return nil, err
	}
	return web.Answer(deletedToken{ok(), in.ID})
}

package user

import (
	"context"
	"net/http"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

// smallBody bounds the bodies of this module, which hold a few names.
const smallBody = 16 << 10

// Done is the answer of what has nothing else to say.
type Done struct {
	Acknowledged bool `json:"acknowledged"`
	Success      bool `json:"success"`
}

func ok() Done { return Done{Acknowledged: true, Success: true} }

// Operations are the endpoints of users and sign-in (spec 4.1, contract-notes
// 0.1 and 1.1); those of tokens are in operations_token.go.
func Operations(s *Service) []web.Operation {
	return append([]web.Operation{
		web.Op(web.Operation{
			ID: "auth-token", Method: http.MethodPost, Path: "/auth-token", Tag: "User", Public: true, MaxBody: smallBody,
			Summary: "Sign in",
			Doc: "Gives a token for a user name (or e-mail address) and a password. 401 with one and the same answer for an unknown, disabled or expired " +
				"account, a wrong password and missing fields. After too many failures for one account or from one address: 429 with Retry-After, " +
				"also for the right password. 503 with Retry-After while too many people sign in at once.",
			Errors: []int{400, 401, 413, 429, 503},
		}, s.opSignIn),
		web.Op(web.Operation{
			ID: "test", Method: http.MethodGet, Path: "/api/test", Tag: "User", Summary: "Test a token",
			Doc: "200 when the token is valid and its user has ROLE_API.",
		}, func(context.Context, *web.None) (*web.Reply[Done], error) { return web.Answer(ok()) }),
		web.Op(web.Operation{
			ID: "user-profile", Method: http.MethodGet, Path: "/api/user-profile", Tag: "User", Roles: []string{},
			Summary: "The signed-in user",
			Doc:     "Any signed-in user. A disabled user gets 403 here and everywhere else, an expired one 401, at once and with every token.",
		}, s.opProfile),
		web.Op(web.Operation{
			ID: "user-profiles", Method: http.MethodGet, Path: "/api/user-profiles", Tag: "User", Roles: []string{},
			OneOf:   []string{auth.RoleUserRead, auth.RoleUserManagement, auth.RoleAdmin},
			Summary: "All enabled users",
			Doc:     "An array, by user name. Needs ROLE_USER_READ, ROLE_USER_MANAGEMENT or ROLE_ADMIN.",
		}, s.opProfiles),
		web.Op(web.Operation{
			ID: "proxy-authenticate", Method: http.MethodPost, Path: "/api/user/proxy-authenticate", Tag: "User", MaxBody: smallBody,
			Roles:   []string{auth.RoleAPI, auth.RoleUserManagement},
			Summary: "Act as another user",
			Doc: "Gives a token that acts as another user, found by e-mail address, then by user name. It expires (12 hours unless configured), records who " +
				"obtained it, and ends with the account of either. An empty email is an unknown one. 400 when username or email is missing, or both are empty, 404 when there is no such user, 403 when " +
				"that user is disabled or expired, or holds ROLE_ADMIN or ROLE_SUPER_ADMIN and the caller does not.",
			Errors: []int{400, 404, 413},
		}, s.opProxy),
	}, tokenOperations(s)...)
}

type signIn struct {
	Body struct {
		Username string   `json:"username" required:"false" doc:"user name or e-mail address"`
		Password string   `json:"password" required:"false"`
		_        struct{} `additionalProperties:"true"`
	}
}

type signedIn struct {
	Done
	AuthToken string `json:"authToken"`
}

func (s *Service) opSignIn(ctx context.Context, in *signIn) (*web.Reply[signedIn], error) {
	token, err := s.SignIn(ctx, in.Body.Username, in.Body.Password, web.RemoteIP(ctx))
	if err != nil {
		return nil, err
	}
	return web.Answer(signedIn{ok(), token})
}

func (s *Service) opProfile(ctx context.Context, _ *web.None) (*web.Reply[Profile], error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	u, err := s.store.byID(ctx, id.UserID)
	if err != nil {
		return nil, err
	}
	if u == nil { // deleted since the token was checked
		return nil, problem.New(problem.Unauthenticated, "Authentication failed")
	}
	return web.Answer(u.profile())
}

func (s *Service) opProfiles(ctx context.Context, _ *web.None) (*web.Reply[[]Profile], error) {
	users, err := s.store.list(ctx)
	if err != nil {
		return nil, err
	}
	profiles := []Profile{}
	for _, u := range users {
		if u.Enabled {
			profiles = append(profiles, u.profile())
		}
	}
	return web.Answer(profiles)
}

type proxy struct {
	Body struct {
		Username string   `json:"username" doc:"looked up second"`
		Email    string   `json:"email" doc:"looked up first"`
		_        struct{} `additionalProperties:"true"`
	}
}

type proxied struct {
	Success bool   `json:"success"`
	Token   string `json:"token"`
}

func (s *Service) opProxy(ctx context.Context, in *proxy) (*web.Reply[proxied], error) {
	token, err := s.ProxyAuthenticate(ctx, in.Body.Username, in.Body.Email)
	if err != nil {
		return nil, err
	}
	return web.Answer(proxied{true, token})
}

package user

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/quoin-cms/quoin/core/event"
)

// eventTypes is what the module emits: for auditors, without any secret.
func eventTypes() []event.Type {
	sample := func(s string) json.RawMessage { return json.RawMessage(s) }
	return []event.Type{
		{
			Name: "admin.user.created", Doc: "An account was created.",
			Sample: sample(`{"user":"ada","roles":["ROLE_API"],"enabled":true,"from":"203.0.113.7"}`),
			Schema: event.Object("user string", "roles [string]", "enabled boolean", "from string"),
		}, {
			Name: "admin.user.changed", Doc: "An account was changed; changed names what, roles and enabled are those from now on.",
			Sample: sample(`{"user":"ada","changed":["roles"],"roles":["ROLE_API","ROLE_ADMIN"],"enabled":true,"from":"203.0.113.7"}`),
			Schema: event.Object("user string", "changed [string]", "roles [string]", "enabled boolean", "from string"),
		}, {
			Name: "admin.user.deleted", Doc: "An account was deleted, with its tokens.",
			Sample: sample(`{"user":"ada","from":"203.0.113.7"}`), Schema: event.Object("user string", "from string"),
		}, {
			Name: "admin.user.login", Doc: "Somebody signed in with a password.",
			Sample: sample(`{"user":"ada","token":"7","from":"203.0.113.7"}`), Schema: event.Object("user string", "token string", "from string"),
		}, {
			Name: "admin.user.login_failed",
			Doc: "Sign-ins were refused: count of them within a minute, for the same account, from the same address, by the same door (password, token) and for the same reason: " +
				"reason is unknown (there is no such account or token, and what was typed is not kept: user is empty), password, disabled, expired, " +
				"or several for those beyond the forty kinds that a server tells apart in a minute. Attempts that were turned away as too many are not among them.",
			Sample: sample(`{"user":"ada","door":"password","reason":"password","count":3,"since":"2026-01-31T10:00:00Z","until":"2026-01-31T10:00:41Z","from":"203.0.113.7"}`),
			Schema: event.Object("user string", "door string", "reason string", "count integer", "since string", "until string", "from string"),
		}, {
			Name: "admin.token.created", Doc: "A token was made, or one with which its maker acts as the user: as tells which (own, other, acting).",
			Sample: sample(`{"user":"ada","token":"8","name":"website","as":"own","from":"203.0.113.7"}`),
			Schema: event.Object("user string", "token string", "name string", "as string", "from string"),
		}, {
			Name: "admin.token.revoked", Doc: "A token was revoked; token is * for all of the user.",
			Sample: sample(`{"user":"ada","token":"8","name":"website","from":"203.0.113.7"}`),
			Schema: event.Object("user string", "token string", "name string", "from string"),
		},
	}
}

// tell emits an event about a user in the transaction of ctx.
func (s *Service) tell(ctx context.Context, what, username string, data map[string]any) error {
	if s.bus == nil {
		return nil
	}
	data["user"] = username
	return s.bus.EmitAdmin(ctx, what, "user:"+username, data)
}

// tellToken emits an event about a token.
func (s *Service) tellToken(ctx context.Context, what string, t *Token, data map[string]any) error {
	data["token"], data["name"] = strconv.FormatInt(t.ID, 10), t.Name
	return s.tell(ctx, what, t.Username, data)
}

// standing is what auditors want to know of an account.
func standing(u *User) map[string]any {
	return map[string]any{"roles": append([]string{}, u.Roles...), "enabled": u.Enabled}
}

// changes names what differs between two states of an account.
func changes(a, b *User) []string {
	names := []string{}
	for name, same := range map[string]bool{
		"username": a.Username == b.Username, "email": a.Email == b.Email, "display_name": a.DisplayName == b.DisplayName,
		"password": a.PasswordHash == b.PasswordHash, "roles": slices.Equal(a.Roles, b.Roles), "circles": slices.Equal(a.Circles, b.Circles),
		"enabled": a.Enabled == b.Enabled, "expires": a.ExpiresAt.Equal(b.ExpiresAt), "locale": a.Locale == b.Locale && a.LocalePreferred == b.LocalePreferred,
		"options": bytes.Equal(a.Options, b.Options) && bytes.Equal(a.Extra, b.Extra),
	} {
		if !same {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

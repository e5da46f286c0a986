package user

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
)

// Token is what is known of a token; the token itself is not.
type Token struct {
	ID         int64
	UserID     int64
	Username   string // whom it acts as
	Name       string
	Hint       string // its first 8 characters
	CreatedAt  time.Time
	CreatedBy  string
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // zero: never; up to a minute late
	// Actor is who obtained the token to act as Username, empty when it is the
	// user's own. ActorID is 0 then.
	Actor   string
	ActorID int64
}

// grant is a token with all that decides about it.
type grant struct {
	identity     *auth.Identity
	actorID      int64
	enabled      bool  // the user and the actor
	expiresAt    int64 // microseconds: the first of token, user and actor; 0 never
	lastUsedAt   int64 // microseconds
	actorRefused bool  // the actor is disabled, or may not become the user any more
}

var (
	tokenGrant = db.SQL(`SELECT t.id, t.expires_at, t.last_used_at, t.actor, COALESCE(t.actor_id, 0),
		a.id, a.username, a.email, a.display_name, a.roles, a.circles, a.enabled, a.expires_at,
		COALESCE(x.enabled, TRUE), COALESCE(x.expires_at, 0), COALESCE(x.roles, '[]')
		FROM user_token t JOIN user_account a ON a.id = t.user_id LEFT JOIN user_account x ON x.id = t.actor_id
		WHERE t.hash = ?`)
	insertToken = db.SQL(`INSERT INTO user_token (user_id, hash, hint, name, created_at, created_by, expires_at, actor, actor_id)
		VALUES (?,?,?,?,?,?,?,?,NULLIF(?, 0)) RETURNING id`)
	listTokens = db.SQL(`SELECT ` + tokenColumns + ` FROM user_token t JOIN user_account a ON a.id = t.user_id
		ORDER BY a.username_canonical, t.id`)
	tokensOf = db.SQL(`SELECT ` + tokenColumns + ` FROM user_token t JOIN user_account a ON a.id = t.user_id
		WHERE t.user_id = ? ORDER BY t.id`)
	tokenByID     = db.SQL(`SELECT ` + tokenColumns + ` FROM user_token t JOIN user_account a ON a.id = t.user_id WHERE t.id = ?`)
	deleteToken   = db.SQL(`DELETE FROM user_token WHERE id = ?`)
	deleteTokens  = db.SQL(`DELETE FROM user_token WHERE user_id = ? OR actor_id = ?`)
	deleteExpired = db.SQL(`DELETE FROM user_token WHERE expires_at > 0 AND expires_at < ?`)
	touchToken    = db.SQL(`UPDATE user_token SET last_used_at = ? WHERE id = ? AND last_used_at < ?`)
)

const tokenColumns = `t.id, t.user_id, a.username, t.name, t.hint, t.created_at, t.created_by, t.expires_at, t.last_used_at,
	t.actor, COALESCE(t.actor_id, 0)`

func scanToken(row db.Row) (*Token, error) {
	var t Token
	var created, expires, used int64
	err := row.Scan(&t.ID, &t.UserID, &t.Username, &t.Name, &t.Hint, &created, &t.CreatedBy, &expires, &used, &t.Actor, &t.ActorID)
	t.CreatedAt, t.ExpiresAt, t.LastUsedAt = db.Time(created), db.Time(expires), db.Time(used)
	return &t, err
}

// grant finds the token with this hash; nil when there is none.
func (s *store) grant(ctx context.Context, hash [32]byte) (*grant, error) {
	var g grant
	var id auth.Identity
	var roles, circles, actorRoles string
	var enabled, actorEnabled bool
	var tokenExpires, userExpires, actorExpires int64
	err := s.db.Row(ctx, tokenGrant, hex.EncodeToString(hash[:])).Scan(
		&id.TokenID, &tokenExpires, &g.lastUsedAt, &id.Actor, &g.actorID,
		&id.UserID, &id.Username, &id.Email, &id.DisplayName, &roles, &circles, &enabled, &userExpires,
		&actorEnabled, &actorExpires, &actorRoles)
	if err != nil {
		return db.Found[grant](nil, err)
	}
	var actor auth.Identity
	err = errors.Join(json.Unmarshal([]byte(roles), &id.Granted), json.Unmarshal([]byte(circles), &id.Circles), json.Unmarshal([]byte(actorRoles), &actor.Granted))
	if err != nil {
		return nil, fmt.Errorf("account %d: %w", id.UserID, err)
	}
	for _, at := range []int64{tokenExpires, userExpires, actorExpires} {
		if at != 0 && (g.expiresAt == 0 || at < g.expiresAt) {
			g.expiresAt = at
		}
	}
	g.identity, g.enabled, g.actorRefused = auth.New(id), enabled, !actorEnabled
	if g.actorID != 0 && mayRuleAs(auth.New(actor), id.Granted) != nil { // one of them has got other roles since
		g.actorRefused = true
	}
	return &g, nil
}

// insertToken stores the hash of a token and sets t.ID.
func (s *store) insertToken(ctx context.Context, t *Token, hash [32]byte) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		return s.db.Row(ctx, insertToken, t.UserID, hex.EncodeToString(hash[:]), t.Hint, t.Name, db.Micros(t.CreatedAt),
			t.CreatedBy, db.Micros(t.ExpiresAt), t.Actor, t.ActorID).Scan(&t.ID)
	})
}

// tokens lists the tokens of a user, or all of them for user 0.
func (s *store) tokens(ctx context.Context, userID int64) ([]*Token, error) {
	statement, args := listTokens, []any(nil)
	if userID != 0 {
		statement, args = tokensOf, []any{userID}
	}
	rows, err := s.db.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []*Token{}
	for rows.Next() {
		t, err := scanToken(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

// token finds a token by its id; nil when there is none.
func (s *store) token(ctx context.Context, id int64) (*Token, error) {
	return db.Found(scanToken(s.db.Row(ctx, tokenByID, id)))
}

func (s *store) deleteToken(ctx context.Context, id int64) error {
	_, err := s.db.Exec(ctx, deleteToken, id)
	return err
}

// deleteTokens removes every token of a user, also those with which the user acts
// for others.
func (s *store) deleteTokens(ctx context.Context, userID int64) error {
	_, err := s.db.Exec(ctx, deleteTokens, userID, userID)
	return err
}

// deleteExpired removes the tokens that expired before then.
func (s *store) deleteExpired(ctx context.Context, then time.Time) (int64, error) {
	return s.db.Exec(ctx, deleteExpired, db.Micros(then))
}

// touchTokens notes when tokens were last used: id → microseconds. They go in
// the order of their ids, so that two processes never wait for each other.
func (s *store) touchTokens(ctx context.Context, used map[int64]int64) error {
	ids := make([]int64, 0, len(used))
	for id := range used {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return s.db.InTx(ctx, func(ctx context.Context) error {
		for _, id := range ids {
			if err := s.db.Queue(ctx, touchToken, used[id], id, used[id]); err != nil {
				return err
			}
		}
		return nil
	})
}

package user

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
)

// store reads and writes accounts (here) and tokens (store_token.go).
type store struct{ db *db.DB }

const accountColumns = `a.id, a.username, a.email, a.display_name, a.password_hash, a.roles, a.circles, a.enabled,
	a.expires_at, a.last_login, a.locale, a.locale_preferred, a.options, a.extra, a.created_at, a.modified_at`

var (
	countAccounts   = db.SQL(`SELECT count(*) FROM user_account`)
	listAccounts    = db.SQL(`SELECT ` + accountColumns + ` FROM user_account a ORDER BY a.username_canonical`)
	accountByID     = db.SQL(`SELECT ` + accountColumns + ` FROM user_account a WHERE a.id = ?`)
	accountByName   = db.SQL(`SELECT ` + accountColumns + ` FROM user_account a WHERE a.username_canonical = ?`)
	accountByEmail  = db.SQL(`SELECT ` + accountColumns + ` FROM user_account a WHERE a.email_canonical = ? AND a.email_canonical <> ''`)
	accountForLogin = db.SQL(`SELECT ` + accountColumns + ` FROM user_account a
		WHERE a.username_canonical = ? OR (a.email_canonical = ? AND a.email_canonical <> '')
		ORDER BY CASE WHEN a.username_canonical = ? THEN 0 ELSE 1 END LIMIT 1`)
	insertAccount = db.SQL(`INSERT INTO user_account (username, username_canonical, email, email_canonical, display_name,
		password_hash, roles, circles, enabled, expires_at, last_login, locale, locale_preferred, options, extra, created_at, modified_at)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING id`)
	updateAccount = db.SQL(`UPDATE user_account SET username = ?, username_canonical = ?, email = ?, email_canonical = ?,
		display_name = ?, password_hash = ?, roles = ?, circles = ?, enabled = ?, expires_at = ?, last_login = ?, locale = ?,
		locale_preferred = ?, options = ?, extra = ?, created_at = ?, modified_at = ? WHERE id = ?`)
	// lockAccount changes nothing: it makes transactions that want to read and
	// then change one account wait for each other, on both engines.
	lockAccount   = db.SQL(`UPDATE user_account SET id = id WHERE id = ?`)
	deleteAccount = db.SQL(`DELETE FROM user_account WHERE id = ?`)
	touchSignIn   = db.SQL(`UPDATE user_account SET last_login = ? WHERE id = ? AND password_hash = ?`)
	touchLogin    = db.SQL(`UPDATE user_account SET last_login = ? WHERE id = ?`)
	replaceHash   = db.SQL(`UPDATE user_account SET password_hash = ? WHERE id = ? AND password_hash = ?`)
)

func scanAccount(row db.Row) (*User, error) {
	var u User
	var roles, circles, options, extra string
	var expires, login, created, modified int64
	err := row.Scan(&u.ID, &u.Username, &u.Email, &u.DisplayName, &u.PasswordHash, &roles, &circles, &u.Enabled,
		&expires, &login, &u.Locale, &u.LocalePreferred, &options, &extra, &created, &modified)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(json.Unmarshal([]byte(roles), &u.Roles), json.Unmarshal([]byte(circles), &u.Circles)); err != nil {
		return nil, fmt.Errorf("account %d: %w", u.ID, err)
	}
	u.Options, u.Extra = []byte(options), []byte(extra)
	u.ExpiresAt, u.LastLogin = db.Time(expires), db.Time(login)
	u.CreatedAt, u.ModifiedAt = db.Time(created), db.Time(modified)
	return &u, nil
}

// values are the columns of an account in the order of insert and update.
func (u *User) values() []any {
	return []any{
		u.Username, canonical(u.Username), u.Email, canonical(u.Email), u.DisplayName, u.PasswordHash,
		db.List(u.Roles), db.List(u.Circles), u.Enabled, db.Micros(u.ExpiresAt), db.Micros(u.LastLogin),
		u.Locale, u.LocalePreferred, jsonObject(u.Options), jsonObject(u.Extra), db.Micros(u.CreatedAt), db.Micros(u.ModifiedAt),
	}
}

func jsonObject(raw []byte) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(raw)
}

func (s *store) count(ctx context.Context) (n int64, err error) {
	err = s.db.Row(ctx, countAccounts).Scan(&n)
	return n, err
}

// list gives every account, by name.
func (s *store) list(ctx context.Context) ([]*User, error) {
	return db.All(ctx, s.db, scanAccount, listAccounts)
}

// The finders give nil without an error when there is no such account.

func (s *store) byID(ctx context.Context, id int64) (*User, error) {
	return db.Found(scanAccount(s.db.Row(ctx, accountByID, id)))
}

func (s *store) byName(ctx context.Context, name string) (*User, error) {
	return db.Found(scanAccount(s.db.Row(ctx, accountByName, canonical(name))))
}

func (s *store) byEmail(ctx context.Context, email string) (*User, error) {
	return db.Found(scanAccount(s.db.Row(ctx, accountByEmail, canonical(email))))
}

// forLogin finds an account by its name or else by its address, in one query
// so that the time does not tell which it was.
func (s *store) forLogin(ctx context.Context, name string) (*User, error) {
	c := canonical(name)
	return db.Found(scanAccount(s.db.Row(ctx, accountForLogin, c, c, c)))
}

// insert stores a new account and sets its id; Conflict when its name or
// address is taken.
func (s *store) insert(ctx context.Context, u *User) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		return taken(u, s.db.Row(ctx, insertAccount, u.values()...).Scan(&u.ID))
	})
}

// change reads an account, lets fn change it and stores all of it, while no
// other change of the same account runs. fn gives an error to leave it alone.
// NotFound when it is gone, Conflict as insert.
func (s *store) change(ctx context.Context, id int64, fn func(ctx context.Context, u *User) error) (u *User, err error) {
	return u, s.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.db.Exec(ctx, lockAccount, id); err != nil {
			return err
		}
		if u, err = s.byID(ctx, id); err != nil {
			return err
		}
		if u == nil {
			return problem.New(problem.NotFound, "the user has been deleted")
		}
		if err := fn(ctx, u); err != nil {
			return err
		}
		_, err := s.db.Exec(ctx, updateAccount, append(u.values(), u.ID)...)
		return taken(u, err)
	})
}

func taken(u *User, err error) error {
	if db.IsUnique(err) {
		return problem.Wrap(err, problem.Conflict, "there is another user with the name %q or the address %q", u.Username, u.Email).WithCode("user_exists")
	}
	return err
}

func (s *store) delete(ctx context.Context, id int64) error {
	_, err := s.db.Exec(ctx, deleteAccount, id)
	return err
}

func (s *store) touchLogin(ctx context.Context, id int64, now time.Time) error {
	_, err := s.db.Exec(ctx, touchLogin, db.Micros(now), id)
	return err
}

// touchSignIn is touchLogin for somebody whose password was checked; it gives
// errPasswordChanged when that is not the password any more. Who changes it at
// this moment goes before or after all of the transaction.
func (s *store) touchSignIn(ctx context.Context, u *User, now time.Time) error {
	n, err := s.db.Exec(ctx, touchSignIn, db.Micros(now), u.ID, u.PasswordHash)
	if err == nil && n == 0 {
		err = errPasswordChanged
	}
	return err
}

// replaceHash stores a hash of the same password with other costs, in u as well,
// unless the password has been changed meanwhile.
func (s *store) replaceHash(ctx context.Context, u *User, fresh string) error {
	n, err := s.db.Exec(ctx, replaceHash, fresh, u.ID, u.PasswordHash)
	if n > 0 {
		u.PasswordHash = fresh
	}
	return err
}

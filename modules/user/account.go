package user

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/web"
)

// User is an account.
type User struct {
	ID          int64
	Username    string // as written; unique without regard to case
	Email       string // may be empty; unique without regard to case otherwise
	DisplayName string // may be empty: see Name
	// PasswordHash is a PHC string; empty for an account that cannot sign in
	// with a password.
	PasswordHash string
	Roles        []string // granted, in canonical spelling
	Circles      []string
	Enabled      bool
	ExpiresAt    time.Time // zero: never
	LastLogin    time.Time // zero: never
	Locale       string
	// LocalePreferred may be empty.
	LocalePreferred string
	Options         []byte // JSON object: userOptions
	Extra           []byte // JSON object: members of an export that mean nothing here
	CreatedAt       time.Time
	ModifiedAt      time.Time
}

// Name is what to call the user.
func (u *User) Name() string {
	if u.DisplayName != "" {
		return u.DisplayName
	}
	return u.Username
}

// Expired reports whether the account has expired.
func (u *User) Expired(now time.Time) bool {
	return !u.ExpiresAt.IsZero() && !now.Before(u.ExpiresAt)
}

// Language is the language part of the preferred locale, else the locale
// (contract-notes 1.1): "fr_BE" gives "fr".
func (u *User) Language() string {
	if u.LocalePreferred == "" {
		return u.Locale
	}
	if i := strings.IndexAny(u.LocalePreferred, "_-"); i > 0 {
		return u.LocalePreferred[:i]
	}
	return u.LocalePreferred
}

// allRoles are the granted roles and ROLE_USER, which everybody has.
func (u *User) allRoles() []string {
	if slices.Contains(u.Roles, auth.RoleUser) {
		return u.Roles
	}
	return append(slices.Clone(u.Roles), auth.RoleUser)
}

// status says in a word whether the user can work.
func (u *User) status(now time.Time) string {
	switch {
	case !u.Enabled:
		return "disabled"
	case u.Expired(now):
		return "expired"
	}
	return "enabled"
}

// Profile is a user as the API shows it (spec 2.1).
type Profile struct {
	ID              int64       `json:"id"`
	Username        string      `json:"username"`
	DisplayName     string      `json:"displayName"`
	Roles           []string    `json:"roles" nullable:"false" doc:"granted roles and ROLE_USER; without those they imply"`
	Email           string      `json:"email"`
	Circles         []string    `json:"circles" nullable:"false"`
	LastLogin       *string     `json:"lastLogin" doc:"2006-01-02T15:04:05+00:00, null before the first sign-in"`
	ExpirationDate  *string     `json:"expirationDate" doc:"null when the account does not expire"`
	Language        string      `json:"language" doc:"language part of localePreferred, else locale"`
	Locale          string      `json:"locale"`
	LocalePreferred *string     `json:"localePreferred"`
	UserOptions     UserOptions `json:"userOptions"`
}

// UserOptions are the settings of the back office. CustomOptions has no fixed
// shape.
type UserOptions struct {
	SimplifiedUI            bool            `json:"simplified_ui"`
	AllowedConfigureWysiwyg bool            `json:"allowed_configure_wysiwyg"`
	CustomOptions           json.RawMessage `json:"custom_options" doc:"an array unless a client stored something else"`
}

// profile makes the profile of a user.
func (u *User) profile() Profile {
	p := Profile{
		ID: u.ID, Username: u.Username, DisplayName: u.Name(), Roles: u.allRoles(), Email: u.Email,
		Circles: append([]string{}, u.Circles...), LastLogin: atom(u.LastLogin), ExpirationDate: atom(u.ExpiresAt),
		Language: u.Language(), Locale: u.Locale, UserOptions: UserOptions{CustomOptions: json.RawMessage("[]")},
	}
	if u.LocalePreferred != "" {
		p.LocalePreferred = &u.LocalePreferred
	}
	var known struct {
		SimplifiedUI            any             `json:"simplified_ui"`
		AllowedConfigureWysiwyg any             `json:"allowed_configure_wysiwyg"`
		CustomOptions           json.RawMessage `json:"custom_options"`
	}
	if json.Unmarshal(u.Options, &known) == nil { // anything else was refused when it was stored
		p.UserOptions.SimplifiedUI = known.SimplifiedUI == true
		p.UserOptions.AllowedConfigureWysiwyg = known.AllowedConfigureWysiwyg == true
		if len(known.CustomOptions) > 0 && string(known.CustomOptions) != "null" {
			p.UserOptions.CustomOptions = known.CustomOptions
		}
	}
	return p
}

// atom writes a date, nil for the zero time.
func atom(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(web.Atom)
	return &s
}

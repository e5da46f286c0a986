package user

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

// The longest values, in characters.
const (
	maxUsername = 180
	maxEmail    = 254 // RFC 5321
	maxName     = 255
	maxList     = 200 // roles or circles of one user
)

var (
	localeForm = regexp.MustCompile(`^[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8}){0,4}$`)
	roleForm   = regexp.MustCompile(`^ROLE_[A-Z0-9_]{1,95}$`)
)

// canonical is the form in which names and addresses are compared: lower case,
// and whatever no database could hold replaced.
func canonical(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "\x00", "\uFFFD")
}

// checkText refuses what is too long, not UTF-8 or cannot be seen: control
// characters, line breaks, invisible and direction-changing characters.
func checkText(path, s string, longest int) error {
	switch {
	case !utf8.ValidString(s):
		return problem.Field(problem.Invalid, path, "must be valid UTF-8")
	case utf8.RuneCountInString(s) > longest:
		return problem.Field(problem.Invalid, path, "must have at most %d characters", longest)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return problem.Field(problem.Invalid, path, "must not hold control or invisible characters")
	}
	return nil
}

func checkUsername(path, s string) error {
	if s == "" {
		return problem.Field(problem.Invalid, path, "must not be empty")
	}
	if s != strings.TrimSpace(s) {
		return problem.Field(problem.Invalid, path, "must not begin or end with a space")
	}
	return checkText(path, s, maxUsername)
}

// checkEmail accepts the empty address and anything that has one @ between
// two parts without spaces; only sending a mail could tell more.
func checkEmail(path, s string) error {
	if s == "" {
		return nil
	}
	local, domain, _ := strings.Cut(s, "@")
	if local == "" || domain == "" || strings.ContainsAny(domain, "@ ") || strings.ContainsAny(local, ` ,;<>`) {
		return problem.Field(problem.Invalid, path, "must be an e-mail address such as jane@example.org")
	}
	return checkText(path, s, maxEmail)
}

func checkLocale(path, s string) error {
	if !localeForm.MatchString(s) {
		return problem.Field(problem.Invalid, path, "must be a locale such as en or fr_BE")
	}
	return nil
}

// cleanRoles puts roles into their canonical spelling, once each. Roles of the
// site's own are allowed.
func cleanRoles(path string, roles []string) ([]string, error) {
	clean := []string{}
	for _, r := range roles {
		role := auth.CanonicalRole(r)
		if !roleForm.MatchString(role) {
			return nil, problem.Field(problem.Invalid, path, "a role has the form ROLE_NAME; the built-in ones are %s", strings.Join(auth.AllRoles(), ", "))
		}
		if !slices.Contains(clean, role) {
			clean = append(clean, role)
		}
	}
	if len(clean) > maxList {
		return nil, problem.Field(problem.Invalid, path, "at most %d roles", maxList)
	}
	return clean, nil
}

// check tells the first thing that is wrong with an account. prefix is where
// its fields stand in the input, with a dot at its end.
func (u *User) check(prefix string) (err error) {
	if u.Roles, err = cleanRoles(prefix+"roles", u.Roles); err != nil {
		return err
	}
	checks := []error{
		checkUsername(prefix+"username", u.Username), checkEmail(prefix+"email", u.Email),
		checkText(prefix+"displayName", u.DisplayName, maxName), checkLocale(prefix+"locale", u.Locale),
	}
	if u.LocalePreferred != "" {
		checks = append(checks, checkLocale(prefix+"localePreferred", u.LocalePreferred))
	}
	for _, c := range u.Circles {
		checks = append(checks, checkText(prefix+"circles", c, maxName))
	}
	if len(u.Circles) > maxList {
		checks = append(checks, problem.Field(problem.Invalid, prefix+"circles", "at most %d circles", maxList))
	}
	if y := u.ExpiresAt.Year(); !u.ExpiresAt.IsZero() && (y < 1970 || y > 9999) {
		checks = append(checks, problem.Field(problem.Invalid, prefix+"expirationDate", "must be a date between 1970 and 9999"))
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

// parseDate reads a date of the API: ISO 8601 with a zone.
func parseDate(path, s string) (time.Time, error) {
	for _, layout := range []string{web.Atom, time.RFC3339Nano, "2006-01-02T15:04:05-0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, problem.Field(problem.Invalid, path, "must be a date such as 2030-12-31T00:00:00+00:00")
}

// detail is what an error says to people.
func detail(err error) string {
	var p *problem.Problem
	if errors.As(err, &p) {
		return p.Detail
	}
	return err.Error()
}

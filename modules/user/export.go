package user

import (
	"encoding/json"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// exportClass is how clients call a user in the export form.
const exportClass = `EMS\CoreBundle\Entity\User`

// exportUser writes a user in the export form: what means something here
// first, then the members that were kept. It holds no secret.
func exportUser(u *User) []byte {
	var preferred *string
	if u.LocalePreferred != "" {
		preferred = &u.LocalePreferred
	}
	b := append([]byte(nil), `{"class":`...)
	b = rawjson.AppendString(b, exportClass)
	b = append(b, `,"arguments":[],"properties":{`...)
	for i, m := range []struct {
		key   string
		value any
	}{
		{"username", u.Username}, {"email", u.Email}, {"displayName", u.DisplayName},
		{"roles", append([]string{}, u.Roles...)}, {"circles", append([]string{}, u.Circles...)}, {"enabled", u.Enabled},
		{"lastLogin", atom(u.LastLogin)}, {"expirationDate", atom(u.ExpiresAt)},
		{"locale", u.Locale}, {"localePreferred", preferred}, {"userOptions", json.RawMessage(jsonObject(u.Options))},
	} {
		if i > 0 {
			b = append(b, ',')
		}
		value, _ := json.Marshal(m.value) // strings, lists and checked JSON always marshal
		b = append(append(rawjson.AppendString(b, m.key), ':'), value...)
	}
	for it := rawjson.Iterate(u.Extra); it.Next(); {
		b = append(append(append(append(b, ','), it.RawKey()...), ':'), it.Value()...)
	}
	return append(b, `},"replaced":[]}`...)
}

// maxExtra bounds the options and the unknown members of a user, bytes each.
const maxExtra = 64 << 10

// imported is what an export says about a user.
type imported struct {
	username string
	password string // plainPassword
	set      []func(u *User)
	extra    []byte // JSON object
}

// apply puts what the export says into the user.
func (in *imported) apply(u *User, hash string) {
	u.Username = in.username
	for _, set := range in.set {
		set(u)
	}
	u.Extra = in.extra
	if hash != "" {
		u.PasswordHash = hash
	}
}

// parseExport reads the export form.
func parseExport(raw []byte) (*imported, error) {
	if err := rawjson.CheckObject(raw, rawjson.Limits{}); err != nil {
		return nil, err
	}
	if class, given := rawjson.Get(raw, "class"); given {
		if s, _ := rawjson.String(class); s != exportClass {
			return nil, problem.Field(problem.Invalid, "class", "must be %s", exportClass)
		}
	}
	properties, given := rawjson.Get(raw, "properties")
	if !given || rawjson.KindOf(rawjson.Object(properties)) != rawjson.Map {
		return nil, problem.Field(problem.Invalid, "properties", "must be an object")
	}
	in := &imported{}
	extra := []byte{'{'}
	for it := rawjson.Iterate(rawjson.Object(properties)); it.Next(); {
		key := string(it.Key())
		known, err := in.member(key, it.Value())
		if err != nil {
			return nil, err
		}
		if known {
			continue
		}
		if len(extra) > 1 {
			extra = append(extra, ',')
		}
		extra = rawjson.Compact(append(append(extra, it.RawKey()...), ':'), it.Value())
	}
	if in.extra = append(extra, '}'); len(in.extra) > maxExtra {
		return nil, problem.Field(problem.TooLarge, "properties", "what is kept without a meaning must not exceed %d bytes", maxExtra)
	}
	return in, nil
}

// member reads one property; known is false for one that means nothing here.
func (in *imported) member(key string, value []byte) (known bool, err error) {
	path := "properties." + key
	text := func(set func(u *User, s string)) error {
		s, err := decode[string](path, value, "a string")
		in.set = append(in.set, func(u *User) { set(u, s) })
		return err
	}
	list := func(set func(u *User, l []string)) error {
		l, err := decode[[]string](path, value, "a list of strings")
		in.set = append(in.set, func(u *User) { set(u, l) })
		return err
	}
	switch key {
	case "username":
		in.username, err = decode[string](path, value, "a string")
	case "plainPassword":
		in.password, err = decode[string](path, value, "a string")
	case "email":
		err = text(func(u *User, s string) { u.Email = s })
	case "displayName":
		err = text(func(u *User, s string) { u.DisplayName = s })
	case "locale":
		err = text(func(u *User, s string) {
			if s != "" {
				u.Locale = s
			}
		})
	case "localePreferred":
		err = text(func(u *User, s string) { u.LocalePreferred = s })
	case "roles":
		err = list(func(u *User, l []string) { u.Roles = l })
	case "circles":
		err = list(func(u *User, l []string) { u.Circles = l })
	case "enabled":
		var on bool
		on, err = decode[bool](path, value, "true or false")
		in.set = append(in.set, func(u *User) { u.Enabled = on })
	case "expirationDate":
		var at time.Time
		s, wrong := decode[string](path, value, "a date or null")
		if err = wrong; err == nil && s != "" {
			at, err = parseDate(path, s)
		}
		in.set = append(in.set, func(u *User) { u.ExpiresAt = at })
	case "userOptions":
		err = in.options(path, value)
	case "id", "usernameCanonical", "emailCanonical", "lastLogin", "authTokens", "password", "passwordHash", "salt",
		"confirmationToken", "passwordRequestedAt":
		// ours to set, or secrets of another system
	default:
		return false, nil
	}
	return true, err
}

func (in *imported) options(path string, value []byte) error {
	options := []byte("{}")
	if rawjson.KindOf(value) != rawjson.Null {
		if options = rawjson.Compact(nil, rawjson.Object(value)); rawjson.KindOf(options) != rawjson.Map {
			return problem.Field(problem.Invalid, path, "must be an object")
		}
	}
	if len(options) > maxExtra {
		return problem.Field(problem.TooLarge, path, "must not exceed %d bytes", maxExtra)
	}
	in.set = append(in.set, func(u *User) { u.Options = options })
	return nil
}

// decode reads a value of one type; null is its zero value.
func decode[T any](path string, value []byte, want string) (v T, err error) {
	if json.Unmarshal(value, &v) != nil {
		return v, problem.Field(problem.Invalid, path, "must be %s, not %s", want, rawjson.KindOf(value))
	}
	return v, nil
}

package content

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// A content type can ask for more than its rights: a field may have a minimum
// role, and a field may hold circles of users who alone may write the document
// (contract-notes 0.2).

// fenced reports whether a write of the caller depends on what is stored.
func (ct *contentType) fenced(id *auth.Identity) bool {
	if ct.circles != "" && !id.Has(auth.RoleAdmin) {
		return true
	}
	if slices.ContainsFunc(ct.menuRoles, func(role string) bool { return !id.Has(role) }) {
		return true
	}
	return slices.ContainsFunc(ct.restricted, func(f schema.FieldInfo) bool { return lacks(id, f) != "" })
}

// lacks gives the role that the caller lacks for writing the field, or "".
func lacks(id *auth.Identity, f schema.FieldInfo) string {
	for _, role := range f.Roles {
		if !id.Has(role) {
			return role
		}
	}
	return ""
}

// permit checks a write of data over what is stored (nil for a new document).
// Restricted fields that data leaves out are put back; one that data changes
// is Forbidden, and so is a document of other circles.
func (ct *contentType) permit(ctx context.Context, stored, data []byte) ([]byte, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range ct.restricted {
		role := lacks(id, f)
		if role == "" {
			continue
		}
		keys := strings.Split(f.Path, ".")
		before, after := valuesAt(nil, stored, "", keys), valuesAt(nil, data, "", keys)
		if len(after) == 0 && len(before) == 1 && before[0].path == f.Path {
			if kept, ok := putBack(data, keys, before[0].raw); ok {
				data = kept
				continue
			}
		}
		if path := firstChange(before, after); path != "" {
			return nil, lacksRole(path, role)
		}
	}
	if err := ct.permitMenus(id, stored, data); err != nil {
		return nil, err
	}
	if err := ct.inCircle(ctx, stored); err != nil {
		return nil, err
	}
	return data, ct.inCircle(ctx, data)
}

// permitMenus is Forbidden when data changes what a role protects inside a
// menu. Nodes may be moved about: they are known by their ids.
func (ct *contentType) permitMenus(id *auth.Identity, stored, data []byte) error {
	if !slices.ContainsFunc(ct.menuRoles, func(role string) bool { return !id.Has(role) }) {
		return nil
	}
	same := func(g schema.Guarded) string { return g.Place + "\x00" + string(rawjson.Normalize(nil, g.Raw)) }
	before, left := ct.compiled.Guarded(rawjson.Object(stored), id.Has), map[string]int{}
	for _, g := range before {
		left[same(g)]++
	}
	for _, g := range ct.compiled.Guarded(rawjson.Object(data), id.Has) {
		if left[same(g)]--; left[same(g)] < 0 {
			return lacksRole(g.Path, g.Role)
		}
	}
	for _, g := range before {
		if left[same(g)] > 0 {
			return lacksRole(g.Path, g.Role)
		}
	}
	return nil
}

func lacksRole(path, role string) error {
	return problem.Field(problem.Forbidden, path, "writing this field needs %s", role).WithCode("minimum_role")
}

// inCircle is Forbidden when the document belongs to circles and the caller to
// none of them. Administrators belong to all.
func (ct *contentType) inCircle(ctx context.Context, raw []byte) error {
	id := auth.From(ctx)
	if ct.circles == "" || id.Has(auth.RoleAdmin) {
		return nil
	}
	wanted := ct.circlesOf(raw)
	if len(wanted) == 0 || slices.ContainsFunc(wanted, func(c string) bool { return slices.Contains(id.Circles, c) }) {
		return nil
	}
	return problem.New(problem.Forbidden, "the document belongs to circles that you are not in: %s", strings.Join(wanted, ", ")).WithCode("circles")
}

// circlesOf gives the circles that a document belongs to.
func (ct *contentType) circlesOf(raw []byte) []string {
	circles := []string{}
	if ct.circles == "" {
		return circles
	}
	for _, v := range valuesAt(nil, raw, "", strings.Split(ct.circles, ".")) {
		circles = append(circles, stringsOf(v.raw)...)
	}
	return circles
}

// stringsOf reads a string, or an array of them.
func stringsOf(v []byte) []string {
	if s, ok := rawjson.String(v); ok && s != "" {
		return []string{s}
	}
	var list []string
	if rawjson.KindOf(v) == rawjson.Array {
		for it := rawjson.Iterate(v); it.Next(); {
			if s, ok := rawjson.String(it.Value()); ok && s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// located is a value with its path, such as "items[2].price".
type located struct {
	path string
	raw  []byte
}

// valuesAt collects the values under a path of keys, through arrays. null
// counts as absent.
func valuesAt(list []located, raw []byte, at string, keys []string) []located {
	switch kind := rawjson.KindOf(raw); {
	case kind == rawjson.None || kind == rawjson.Null:
		return list
	case len(keys) == 0:
		return append(list, located{at, raw})
	case kind == rawjson.Array:
		it := rawjson.Iterate(raw)
		for i := 0; it.Next(); i++ {
			list = valuesAt(list, it.Value(), rawjson.Index(at, i), keys)
		}
	case kind == rawjson.Map:
		if v, ok := rawjson.Get(raw, keys[0]); ok {
			return valuesAt(list, v, rawjson.Join(at, keys[0]), keys[1:])
		}
	}
	return list
}

// firstChange gives the path of the first value that differs, or "". The order
// of keys is no difference: it is not what a role protects.
func firstChange(before, after []located) string {
	for i, b := range before {
		if i == len(after) || after[i].path != b.path || !bytes.Equal(rawjson.Normalize(nil, b.raw), rawjson.Normalize(nil, after[i].raw)) {
			return b.path
		}
	}
	if len(after) > len(before) {
		return after[len(before)].path
	}
	return ""
}

// putBack sets the value at a path of keys, making objects on the way. It
// fails where something else than an object is in the way.
func putBack(raw []byte, keys []string, value []byte) ([]byte, bool) {
	raw = rawjson.Object(raw)
	if rawjson.KindOf(raw) == rawjson.Null {
		raw = []byte("{}")
	}
	if rawjson.KindOf(raw) != rawjson.Map {
		return nil, false
	}
	if len(keys) > 1 {
		inner, ok := rawjson.Get(raw, keys[0])
		if !ok {
			inner = []byte("{}")
		}
		if value, ok = putBack(inner, keys[1:], value); !ok {
			return nil, false
		}
	}
	return rawjson.Set(nil, raw, keys[0], value), true
}

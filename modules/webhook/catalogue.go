package webhook

import (
	"regexp"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// catalogue knows the types of events that can be subscribed to.
type catalogue struct{ types []event.Type }

// placeholder is the variable part of the name of a type.
var placeholder = regexp.MustCompile(`<[^>]*>`)

func newCatalogue(types []event.Type) *catalogue { return &catalogue{types} }

// controls are the types of calls that everybody gets; subscribing to them is
// harmless.
func controls() []string { return []string{controlValidate, controlTest, controlPing} }

// open tells whether somebody may hear of a type of events at all.
func open(t *event.Type, id *auth.Identity) bool {
	return id.Has(auth.RoleAdmin) || !event.Internal(t.Name) && id.HasAny(t.Roles...)
}

// of gives the type of an event, nil for one that nobody declared.
func (c *catalogue) of(name string) *event.Type {
	for i := range c.types {
		if fits(c.types[i].Name, name) {
			return &c.types[i]
		}
	}
	return nil
}

// check refuses an event that cannot happen. A * at the end stands for any rest.
func (c *catalogue) check(i int, name string, id *auth.Identity) error {
	path := rawjson.Index("events", i)
	if name == "" || len(name) > maxName {
		return problem.Field(problem.Invalid, path, "must be the name of an event")
	}
	wanted := canonicalEvent(name)
	if slices.Contains(controls(), wanted) {
		return nil
	}
	for i := range c.types {
		if t := &c.types[i]; fits(t.Name, wanted) && open(t, id) {
			return nil
		}
	}
	if near := c.near(wanted); near != "" {
		return problem.Field(problem.Invalid, path, "there is no event %q; did you mean %q?", name, near)
	}
	return problem.Field(problem.Invalid, path, "there is no event %q; GET /api/webhook-events lists them", name)
}

// fits tells whether a wanted name or prefix can be an event of the type.
func fits(typeName, wanted string) bool {
	fixed, variable := typeName, false
	if at := placeholder.FindStringIndex(typeName); at != nil {
		fixed, variable = typeName[:at[0]], true
	}
	if prefix, open := strings.CutSuffix(wanted, "*"); open {
		return strings.HasPrefix(fixed, prefix) || variable && strings.HasPrefix(prefix, fixed)
	}
	return wanted == typeName || variable && strings.HasPrefix(wanted, fixed) && len(wanted) > len(fixed)
}

// near gives the type that was probably meant, or "": the one whose name looks
// most like what was written, else the first that begins with it.
func (c *catalogue) near(wanted string) string {
	names := make([]string, len(c.types))
	for i, t := range c.types {
		names[i] = placeholder.ReplaceAllString(t.Name, "")
	}
	meant := conf.Nearest(wanted, names)
	for i, name := range names {
		if name == meant || meant == "" && strings.HasPrefix(name, wanted) {
			return c.types[i].Name
		}
	}
	return ""
}

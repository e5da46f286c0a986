package webhook

import (
	"regexp"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
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
	return id.Has(auth.RoleAdmin) || !internal(t.Name) && id.HasAny(t.Roles...)
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

// internal are prefixes of types that only administrators may hear of.
func internal(name string) bool { return event.Internal(name) }

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

// near gives the type whose name differs least from what was written, or "".
func (c *catalogue) near(wanted string) string {
	best, least := "", 1+len(wanted)/3
	for _, t := range c.types {
		if d := distance(placeholder.ReplaceAllString(t.Name, ""), wanted); d < least {
			best, least = t.Name, d
		}
		if fixed := placeholder.ReplaceAllString(t.Name, ""); strings.HasPrefix(fixed, wanted) && best == "" {
			best = t.Name
		}
	}
	return best
}

// distance is how many bytes must be changed, added or removed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost = 1 + min(diagonal, row[j], row[j-1])
			}
			diagonal, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}

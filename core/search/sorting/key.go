package sorting

import (
	"iter"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Named gives the fields of a path, wherever documents have them.
type Named func(path string) iter.Seq[*mapping.Field]

// Check refuses keys by which no document can be sorted.
func Check(key *search.SortKey, named Named) error {
	if key.Geo != nil {
		return nil
	}
	text, other, keyword := false, false, false
	for f := range named(key.Field) {
		if f.Family == mapping.Geo {
			return problem.Field(problem.Invalid, key.Path, "the field %q has points, which have no order; use _geo_distance", key.Field)
		}
		text = text || !f.Listable()
		other = other || f.Listable()
		keyword = keyword || f.Listable() && !f.Family.Numeric()
	}
	if text && !other {
		return problem.Field(problem.Invalid, key.Path,
			"the field %q is text, which has no order; use a keyword, such as %q", key.Field, key.Field+".keyword")
	}
	if keyword && (key.Mode == search.SortSum || key.Mode == search.SortAvg) {
		return problem.Field(problem.Invalid, key.Path, "the mode %q needs numbers, and %q has strings", key.Mode, key.Field)
	}
	return nil
}

// Whole tells whether the values of a key are integers.
func Whole(key *search.SortKey, named Named) bool {
	if key.Geo != nil || key.Field == "_score" || key.Mode == search.SortAvg {
		return false
	}
	for f := range named(key.Field) {
		if f.Family == mapping.Double {
			return false
		}
	}
	return true
}

// Low tells whether the least of several values of a document counts, else the
// greatest.
func Low(key *search.SortKey) bool {
	return key.Mode == search.SortMin || key.Mode == search.SortDefault && !key.Desc
}

// Collapsible tells whether hits can be collapsed by the values of a field.
func Collapsible(f *mapping.Field) bool { return f.Listable() && f.Family != mapping.Geo }

// CheckCollapse refuses fields that have no values to collapse by; c may be nil.
func CheckCollapse(c *search.Collapse, named Named) error {
	if c == nil {
		return nil
	}
	found, collapsible := false, false
	for f := range named(c.Field) {
		found = true
		collapsible = collapsible || Collapsible(f)
	}
	if found && !collapsible {
		return problem.Field(problem.Invalid, c.Path, "collapse needs a keyword or a number, and %q is neither", c.Field)
	}
	return nil
}

package search

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
)

// Resolve gives the concrete indices behind what a request names: indices,
// aliases, or patterns of both with *; sorted and without doubles. indices and
// aliases are those that the caller may use. A name that is neither is
// NotFound; a pattern may match nothing.
//
// regex, when not empty, filters the concrete names, unanchored; if nothing is
// left the filter is not applied (contract-notes 3.1).
func Resolve(indices []string, aliases map[string][]string, names []string, regex string) ([]string, error) {
	found := map[string]bool{}
	for _, name := range names {
		for part := range strings.SplitSeq(name, ",") {
			if !resolveName(found, indices, aliases, strings.TrimSpace(part)) {
				return nil, problem.Field(problem.NotFound, "indices", "no such index or alias: %s", part)
			}
		}
	}
	all := slices.Sorted(maps.Keys(found))
	if regex == "" {
		return all, nil
	}
	re, err := regexp.Compile(regex)
	if err != nil {
		return nil, problem.Field(problem.Invalid, "regex", "not a regular expression: %s", regex)
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !re.MatchString(name) })
	if len(kept) == 0 {
		return all, nil
	}
	return kept, nil
}

func resolveName(found map[string]bool, indices []string, aliases map[string][]string, name string) bool {
	pattern := strings.Contains(name, "*")
	if name == "_all" {
		name, pattern = "*", true
	}
	known := pattern
	for _, index := range indices {
		if index == name || pattern && MatchPattern(name, index) {
			found[index], known = true, true
		}
	}
	for alias, members := range aliases {
		if alias == name || pattern && MatchPattern(name, alias) {
			known = true
			for _, index := range members {
				found[index] = true
			}
		}
	}
	return known
}

package dsl

import "strings"

// meant names what a wrong name is most like, if anything.
func meant(name string, known ...string) string {
	best, least := "", max(len(name)/3, 1)+1
	for _, k := range known {
		if d := edits(strings.ToLower(name), k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// edits counts the insertions, deletions and replacements from a to b, or more
// than their lengths allow.
func edits(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		row[0] = i + 1
		for j := range len(b) {
			up := row[j+1]
			cost := left
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, up+1, row[j]+1)
			left = up
		}
	}
	return row[len(b)]
}

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

// edits counts the insertions, deletions and replacements from a to b, and
// neighbours that changed places; more than their lengths allow when a is long.
func edits(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

package dsl

import "fmt"

// hint gives ", did you mean …?" when one of the names is so near that it is
// likely, else nothing.
func hint(name string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if d := apart(name, n); d < least && 2*d < len(n) {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// apart counts the letters to insert, delete or replace, or 3 if these are
// more.
func apart(a, b string) int {
	const far = 3
	if len(a)-len(b) >= far || len(b)-len(a) >= far {
		return far
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, last+1)
		}
	}
	return min(row[len(b)], far)
}

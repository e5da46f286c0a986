package conf

import (
	"fmt"
	"strings"
)

// Nearest gives the candidate that looks most like the name, or "" when none
// is close enough to be a slip of the finger.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", max(1, len(name)/3)+1
	if len(name) > 200 {
		return ""
	}
	for _, c := range candidates {
		if d := distance(squash(name), squash(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// squash drops what people confuse most: case, hyphens, underscores.
func squash(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// advice ends a message about an unknown name.
func advice(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(candidates) == 0 || len(candidates) > 20 {
		return ""
	}
	return "; known are " + strings.Join(candidates, ", ")
}

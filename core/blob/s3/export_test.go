package s3

import "time"

// Told is told.
var Told = told

// OpenImpatient is Open for servers that may not be silent for long.
func OpenImpatient(c Config, within time.Duration) (*Store, error) {
	return open(c, patience{answer: within, store: within, more: within})
}

// Groups tells how many pieces, each of the size, stand in each part of an object
// of so many.
func Groups(pieces int, size int64) (parts []int) {
	all := make([]piece, pieces)
	for i := range all {
		all[i] = piece{at: int64(i) * size, size: size}
	}
	for _, g := range groups(all) {
		parts = append(parts, len(g))
	}
	return parts
}

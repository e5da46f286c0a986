//go:build !race

package search_test

// slower: see race_on_test.go.
const slower = 1

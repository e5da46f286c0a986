//go:build race

package search_test

// slower is by how much the race detector makes the tests slower, about; what
// only takes long is made smaller by as much.
const slower = 4

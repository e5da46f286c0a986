package cli

import (
	"runtime"
	"strings"
)

// ballast counts as live for the garbage collector and takes no memory, since
// nobody touches it. A small heap then grows by twice that much before it is
// collected, which saves a fifth of the processor time of a read, and a large
// one is collected as usual.
const ballast = 64 << 20 // bytes

// holdBallast gives a function that must be called at the end. Nothing is held
// when the operator tunes the collector with GOGC.
func holdBallast(vars []string) (release func()) {
	for _, v := range vars {
		if strings.HasPrefix(v, "GOGC=") {
			return func() {}
		}
	}
	b := make([]byte, ballast)
	return func() { runtime.KeepAlive(b) }
}

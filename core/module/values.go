package module

import (
	"io/fs"
	"sync"
)

// Instance is the installation as search clients see it.
type Instance struct {
	ID      string // prefix of aliases, with its separator
	Version string // of the program
}

// Samples are the embedded sample content types; FS is nil unless they were
// asked for.
type Samples struct{ FS fs.FS }

// Limits are limits of the server that modules apply to bodies they stream.
type Limits struct {
	MaxBody int64 // bytes of one document or JSON body
}

// Welcome collects what a person should read when a server starts for the
// first time.
type Welcome struct {
	mu    sync.Mutex
	lines []string
}

// Say adds a line.
func (w *Welcome) Say(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

// Lines gives what was said.
func (w *Welcome) Lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}

// Sub is a folder of an embedded file system. The folder is named in the
// program, so one that is missing is a mistake of the program.
func Sub(files fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		panic(err)
	}
	return sub
}

package module

import (
	"io/fs"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/quoin-cms/quoin/core/event"
)

// Instance is the installation as search clients see it.
type Instance struct {
	ID      string // prefix of aliases, with its separator
	Version string // of the program
	// Addresses are those that the server listens on, host:port.
	Addresses []string
}

// EventTypes are the event types that the enabled modules emit, sorted by name.
type EventTypes []event.Type

// Samples are the embedded sample content types; FS is nil unless they were
// asked for.
type Samples struct{ FS fs.FS }

// Data is where modules keep what is stored on this machine.
type Data struct{ Folder string }

// Stopping is closed when the server begins to stop: what waits on behalf of a
// client, such as a long poll, should answer now.
type Stopping <-chan struct{}

// Welcome collects what a person should read when a server starts for the
// first time. It is safe for concurrent use.
type Welcome struct {
	mu                 sync.Mutex
	lines              []string
	username, password string
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

// Created notes the account that was created for the person. password is empty
// when the person chose it: then nobody repeats it.
func (w *Welcome) Created(username, password string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.username, w.password = username, password
}

// Account gives what Created noted; empty when nobody was created.
func (w *Welcome) Account() (username, password string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.username, w.password
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

// API is the server's own API, for calls that the server makes on somebody's
// behalf: a request whose context bears an identity needs no token and has the
// rights of that identity. It is there once the server is assembled; before,
// and in commands, it answers 503.
type API struct{ handler atomic.Pointer[http.Handler] }

// Set opens the API.
func (a *API) Set(h http.Handler) { a.handler.Store(&h) }

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := a.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	http.Error(w, "the server does not run in this process", http.StatusServiceUnavailable)
}
